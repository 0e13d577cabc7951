#include "tally/output/result/discovery_result.hpp"

#include <algorithm>

namespace tally::result {
namespace {

constexpr std::string_view class_names[] = {"dead",       "counts",      "clock-like", "interrupts only",
                                            "background", "unexplained", "rejected",   "same for these payloads"};

}  // namespace

std::optional<std::size_t> coordinate_of(std::string_view name) {
  const auto* found = std::find(coordinate_names.begin(), coordinate_names.end(), name);
  if (found == coordinate_names.end()) return std::nullopt;
  return static_cast<std::size_t>(found - coordinate_names.begin());
}

std::string_view name(EventClass kind) { return class_names[static_cast<std::size_t>(kind)]; }

std::string_view name(Match match) {
  switch (match) {
    case Match::matches: return "matches";
    case Match::excluded: return "excluded";
    case Match::undecided: break;
  }
  return "undecided";
}

}  // namespace tally::result
