// Everything that a diagnosis is made of. The diagnosis is a function of this and of nothing else.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "tally/hardware/pmu/cpuid.hpp"
#include "tally/linux/perf/probes.hpp"
#include "tally/linux/perf/survey.hpp"

namespace tally::doctor {

/// A program that ran under the engine, to see whether that works.
struct Trial {
  std::optional<std::int64_t> instructions;  ///< how many it counted, exactly; nothing where it did not get so far
  std::string problem;                       ///< why not
  bool operator==(const Trial&) const = default;
};

/// What is known about a machine.
struct Facts {
  linux::Survey survey;
  linux::Probes probes;
  std::optional<pmu::Processor> processor;  ///< x86 only: what CPUID says
  std::string event_names;                  ///< libpfm4's table for this processor; empty where it has none
  Trial trial;
  std::string kept_translations;  ///< what is wrong with them, or was since the last doctor; empty where nothing is
  bool operator==(const Facts&) const = default;
};

/// Looks at this machine, and tries what can be tried. Runs a small program under the engine. A remark about
/// kept translations is returned once. Cost: some tens of milliseconds.
Facts examine();

}  // namespace tally::doctor
