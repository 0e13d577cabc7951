/// With Settings::mix: what segments and single instructions add to the fields from channel::first_mix_field on.
#pragma once
#include "tally/engine/translate/code_reading.hpp"
#include "tally/engine/translate/instruction_mix.hpp"

namespace tally::engine::translate {

inline bool counts_mix() { return own_records.rows != nullptr; }

/// Returns what an instruction does at run time; null if that is known in advance, or without Settings::mix. The caller
/// must hold cache_lock.
const Mix* run_time_mix(const Instruction& in);
/// The same for any caller, which decodes it again.
Mix mix_of(const Instruction& in);
Mix mix_at(u64 pc);

/// Adds one execution to a row; the caller must hold cache_lock. Adds `n` executions to totals.
void add_mix(channel::MixRow& row, const Instruction& in);
void add_mix(channel::Totals& totals, const Mix& mix, s64 n = 1);
/// The same for the instruction at `pc`. Counts are partial if it cannot be read any more.
void add_mix_at(channel::Totals& totals, u64 pc, s64 n = 1);

/// The forms that translating code adds to a code log at most.
inline constexpr u32 form_limit = 1u << 13;
/// Returns the number of the CodeForm of the instruction at `pc` in the code log, which has it from then on; 0: there
/// was no room. Another log begins.
u32 logged_form(Code& code, u64 pc);
void forget_forms();
/// Code that is logged from now on uses no form that is in the log already.
void log_forms_again();
/// Claims the numbers of `n` forms, from before + 1 on. Returns false if the log has no room for that many.
bool claim_forms(u32 n, u32& before);

/// Fills the rows of a trace's segments, which are zero, from the program's code. The caller must hold cache_lock.
void fill_mix_rows(const Trace& t);

}  // namespace tally::engine::translate
