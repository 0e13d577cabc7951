// The input of a diagnosis, which depends on nothing else.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "programs/cpuid/cpuid.hpp"
#include "programs/linux/probes.hpp"
#include "programs/linux/survey.hpp"
#include "tally/linux/process/frequency_watch.hpp"

namespace tally::doctor {

/// The result of running a small program under the engine.
struct Trial {
  std::optional<std::int64_t> instructions;  ///< its exact count; missing if the run failed
  std::string problem;                       ///< why it failed
  bool operator==(const Trial&) const = default;
};

/// Facts about a machine.
struct Facts {
  linux::Survey survey;
  linux::Probes probes;
  std::optional<pmu::Processor> processor;  ///< x86 only: from CPUID
  std::string event_names;                  ///< libpfm4's table for this processor; empty if it has none
  std::optional<linux::MeasuredFrequency>
      frequency;  ///< of the current CPU, for 50 ms; empty: not on this architecture
  Trial trial;
  std::string kept_translations;  ///< their directory, or a problem; empty without an engine
  bool operator==(const Facts&) const = default;
};

/// Reads the facts about this machine and probes its counters. Runs a small program under the engine. Reports a problem
/// with kept translations once. Cost: some 100 ms.
Facts examine();

}  // namespace tally::doctor
