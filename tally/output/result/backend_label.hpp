// The words for what counted a result. A result stores only the name of its backend.
#pragma once

#include <algorithm>
#include <iterator>
#include <string_view>

namespace tally::result {

struct BackendLabel {
  std::string_view backend;                  ///< its name; "hpctool": the result was read from a file of HPCTool
  std::string_view method;                   ///< what counted, next to another method
  std::string_view subject = {};             ///< what was verified; empty: unknown
  std::string_view counters = "the kernel";  ///< what counted all events together
  std::string_view footer = {};              ///< a short form; empty: the program ran natively
  std::string_view file = {};                ///< of another tool: what the file is
  bool has_pmu = false;                      ///< `subject` and `footer` are for the events that a PMU counted
};

/// Returns the words for a backend; for an unknown one its name.
constexpr BackendLabel label_of(std::string_view backend) {
  constexpr BackendLabel all[] = {
      {"engine", "the engine", "the engine", "the engine", "engine"},
      {"perf", "the PMU", "this PMU", "the PMU and the kernel", "PMU", "", true},
      {"none", "none", "the kernel, without a PMU,"},
      {"stepper", "the single-stepper", "", "the single-stepper", "single-stepper"},
      {"hpctool", "hpctool", "", "HPCTool", "", "an HPCTool file; each row is one run"},
  };
  const auto* const label =
      std::find_if(std::begin(all), std::end(all), [&](const BackendLabel& one) { return one.backend == backend; });
  return label != std::end(all) ? *label : BackendLabel{backend, backend};
}

}  // namespace tally::result
