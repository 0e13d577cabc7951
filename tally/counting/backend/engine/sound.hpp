// Detects records that the engine cannot have written: it lives in the measured program, which may overwrite them.
//
// The checks cost the program nothing. They find impossible and inconsistent values; a malicious program that uses the
// layout can still write consistent ones.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tally/core/base/units.hpp"
#include "tally/counting/backend/engine/run.hpp"

namespace tally::backend::engine {

/// Return the number of records of processes, threads and code logs, at most as many as there are written ones: a
/// number in the header may be wrong.
std::uint32_t claimed_processes(const Channel& shared);
std::uint32_t claimed_threads(const Channel& shared);
std::uint32_t claimed_code_logs(const Channel& shared);

/// Returns the settings in the header byte by byte, to check later that they are unchanged.
std::string_view settings_in(const Channel& shared);

/// Returns in words what is wrong with the records of a run; empty if nothing is. `settings`: settings_in() before the
/// first program started. Records that a kill left incomplete may look the same: call it only without such a reason.
std::string contradiction_in(const Channel& shared, std::string_view settings);

/// Return what is wrong with the record of a thread, or of the process with this index; empty if nothing is.
std::string contradiction_of(const channel::Thread& thread);
std::string contradiction_of(const channel::Process& process, std::uint32_t number);

/// Return the message about a thread whose counters another thread also claims, and the message about data beyond the
/// limits in effort.hpp.
std::string shared_area();
std::string too_much();

/// Returns why these totals are impossible within this processor time; empty if they are possible. `whole`: the totals
/// cover a complete process or thread. For a part of one, fewer checks apply.
std::string why_impossible(const channel::Totals& totals, Nanoseconds time, bool whole);

/// Whether models can have these values for a thread with these totals.
bool is_possible(const channel::ModelValues& values, const channel::Totals& totals);

/// Returns the time of all CPUs of the machine together in that time.
Nanoseconds time_of_all_processors(Nanoseconds time);

/// Returns all messages of these functions.
std::vector<std::string> all_contradictions();

}  // namespace tally::backend::engine
