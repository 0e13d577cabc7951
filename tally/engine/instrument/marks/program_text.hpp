/// Names that marks give to parts.
#pragma once
#include "tally/engine/records.hpp"
#include "tally/engine/translate/entry.hpp"

namespace tally::engine::instrument {

/// A string of the program, cut at the length of a name.
struct ProgramText {
  char text[sizeof channel::PartCounts::name] = {};
  explicit ProgramText(u64 from) { safe_copy(text, reinterpret_cast<const void*>(from), sizeof text - 1); }
};

}  // namespace tally::engine::instrument
