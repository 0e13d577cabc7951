// A run as people read it.
#pragma once

#include <string>

#include "tally/lab/journal.hpp"
#include "tally/lab/machine.hpp"
#include "tally/lab/statements.hpp"

namespace tally::lab {

struct Telling {
  bool explains = false;  ///< notes as well as cautions
  bool quiet = false;     ///< only what the program prints
};

/// The processor and the declared model, in a line.
std::string headline(const pmu::emulated::Profile& profile);

/// One entry of a file's run; empty where it is nothing to tell.
std::string told(const Entry& entry, const Machine& machine, const Telling& telling);

/// What a value written to a register means: "counts instructions retired, in user and kernel mode".
std::string meaning_of(std::uint32_t index, std::uint64_t value, int version);
/// The same for an entry: a counter means what it holds, not what was written.
std::string meaning_of(const Entry& entry, int version);
/// "IA32_PERF_GLOBAL_CTRL", or "MSR 999H".
std::string register_name(std::uint32_t index, int version);
/// "IA32_PMC0" for ECX of RDPMC.
std::string rdpmc_name(std::uint32_t ecx);

/// Remarks, one a line; notes only where they are asked for.
std::string remarks_text(const std::vector<pmu::Remark>& remarks, bool with_notes, std::string_view indent);

/// How it ended, and what the counters hold.
std::string ending(const End& end, const Machine& machine, const Telling& telling);

/// All registers of the PMU, drawn bit by bit.
std::string drawings(const Machine& machine);

/// General registers, four in a line.
std::string registers_text(const Machine& machine);

}  // namespace tally::lab
