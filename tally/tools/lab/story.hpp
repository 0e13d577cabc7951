// A run as people read it.
#pragma once

#include <string>

#include "tally/hardware/pmu/codec.hpp"
#include "tally/tools/lab/computer.hpp"

namespace tally::lab {

struct Telling {
  bool explains = false;  ///< notes as well as cautions
  bool quiet = false;     ///< only what the program prints
};

/// One entry of a file's run; empty where it is nothing to tell.
std::string told(const Entry& entry, const Computer& machine, const Telling& telling);

/// What a value means: the register's own sentence, or the fields that are set.
std::string meaning_of(const pmu::Value& value);
/// A register drawn bit by bit, with its name in front and its meaning behind.
std::string drawn(const pmu::Value& value);
/// A counter's name where space is short.
std::string short_name(const std::string& name);

/// Remarks, one a line; notes only where they are asked for.
std::string remarks_text(const std::vector<pmu::Remark>& remarks, bool with_notes, std::string_view indent);

/// How it ended, and what the counters hold.
std::string ending(const End& end, const Computer& machine, const Telling& telling);

/// General registers, four in a line.
std::string registers_text(const Computer& machine);

}  // namespace tally::lab
