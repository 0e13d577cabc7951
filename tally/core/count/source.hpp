// The sources of counts, and their names in results.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "tally/core/base/api.hpp"

namespace tally {

/// The kinds of sources of a count.
enum class Source {
  none,     ///< none, or unknown
  engine,   ///< tally's engine (binary translation): "engine"
  stepper,  ///< the single-stepper that `tally verify` compares the engine with: "single-stepper"
  kernel,   ///< a perf_event_open(2) counter of a software event: "perf_event"
  wait4,    ///< the kernel's accounting of a process: "wait4"
  clock,    ///< the monotonic clock: "clock"
  tsc,      ///< the x86 time-stamp counter: "tsc"
  pmu,      ///< one or more PMUs, by name: "cpu", "cpu_atom, cpu_core"
  several,  ///< a sum over sources of several kinds: "engine, wait4"
};

/// The source of a count, with the names of PMUs.
struct CountSource {
  Source kind = Source::none;
  std::string name = {};  ///< the names, separated by ", ", of Source::pmu and Source::several; else empty

  CountSource() = default;
  CountSource(Source source) : kind(source) {}  // NOLINT(google-explicit-constructor)
  CountSource(Source source, std::string names) : kind(source), name(std::move(names)) {}
  /// A PMU by its kernel name: "cpu".
  static CountSource pmu(std::string name) { return {Source::pmu, std::move(name)}; }

  /// Its name in JSON, CSV and tables; empty for Source::none.
  TALLY_API std::string text() const;
  bool is_known() const { return kind != Source::none; }
  bool operator==(const CountSource&) const = default;
  bool operator==(Source other) const { return kind == other; }
};

/// Parses the result of text(); an unknown name is a PMU's.
TALLY_API CountSource parse_source(std::string_view text);

/// The source of a sum or a difference.
TALLY_API CountSource combined(const CountSource& a, const CountSource& b);

}  // namespace tally
