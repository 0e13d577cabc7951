// What has been published of how the counters of processors repeat.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tally/hardware/event/table.hpp"
#include "tally/output/result/verify.hpp"

namespace tally::verify {

/// A processor, and the grades that its events had when they were studied. Nothing: not studied, or not comparable.
struct Published {
  std::string_view name;  ///< "Haswell"
  std::string_view pmus;  ///< libpfm4's names of its PMUs, with spaces between and around
  std::optional<result::EventGrade> instructions, branches, conditional, loads, stores;
  std::string_view source;
};

std::span<const Published> published();

/// What is published of the processor whose PMU libpfm4 calls so; nothing where it was not studied.
const Published* published_of(std::string_view pmu);

/// Fills in GradedEvent::published of the events that were studied. Counts of a processor only.
void compare(std::vector<result::GradedEvent>& events, const Published& published);

}  // namespace tally::verify
