// Published grades of the counters of processors.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tally/hardware/event/generic_events.hpp"
#include "tally/output/result/verify_result.hpp"

namespace tally::verify {

/// A processor and the published grades of its events. Empty: not studied, or not comparable.
struct Published {
  std::string_view name;  ///< "Haswell"
  std::string_view pmus;  ///< libpfm4's names of its PMUs, separated and enclosed by spaces
  std::optional<result::EventGrade> instructions, branches, conditional, loads, stores;
  std::string_view source;
};

std::span<const Published> published();

/// The published grades for a PMU by libpfm4's name; null if it was not studied.
const Published* published_of(std::string_view pmu);

/// Sets GradedEvent::published of the events that were studied. Only for counts of a processor.
void compare(std::vector<result::GradedEvent>& events, const Published& published);

}  // namespace tally::verify
