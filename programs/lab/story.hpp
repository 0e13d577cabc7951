// Prints a run as text.
#pragma once

#include <string>

#include "programs/lab/computer.hpp"
#include "programs/register/pmu/codec.hpp"

namespace tally::lab {

struct Telling {
  bool explains = false;  ///< notes as well as cautions
  bool quiet = false;     ///< only the program's output
};

/// Returns the text of one entry; empty if it is not printed.
std::string entry_text(const Entry& entry, const Computer& machine, const Telling& telling);

/// Describes a value: the register's own sentence, or the fields that are set.
std::string meaning_of(const pmu::Value& value);
/// Draws a register bit by bit, with its name before it and its meaning after it.
std::string drawn(const pmu::Value& value);
/// Returns a short name of a counter.
std::string short_name(const std::string& name);

/// Returns remarks, one per line; notes only if requested.
std::string remarks_text(const std::vector<pmu::Remark>& remarks, bool with_notes, std::string_view indent);

/// Describes the end of the run and the values of the counters.
std::string ending(const End& end, const Computer& machine, const Telling& telling);

/// Returns the general registers, four per line.
std::string registers_text(const Computer& machine);

}  // namespace tally::lab
