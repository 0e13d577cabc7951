// Who counted: the kinds of sources, and the names that results have for them.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "tally/core/base/api.hpp"

namespace tally {

/// The kinds of sources of a count.
enum class Source {
  none,     ///< nobody, or not known
  engine,   ///< tally's engine (binary translation): "engine"
  stepper,  ///< the single-stepper that `tally verify` compares with: "single-stepper"
  kernel,   ///< a perf_event_open(2) counter of the kernel's own events: "perf_event"
  wait4,    ///< the kernel's accounting of a process: "wait4"
  clock,    ///< the monotonic clock: "clock"
  tsc,      ///< the time-stamp counter of x86: "tsc"
  pmu,      ///< one or more PMUs; their names say which: "cpu", "cpu_atom, cpu_core"
  several,  ///< sources of several kinds, in a sum: "engine, wait4"
};

/// Who counted, with the names of the PMUs.
struct CountSource {
  Source kind = Source::none;
  std::string name = {};  ///< of Source::pmu and Source::several: the names, with ", " between them; else empty

  CountSource() = default;
  CountSource(Source source) : kind(source) {}  // NOLINT(google-explicit-constructor)
  CountSource(Source source, std::string names) : kind(source), name(std::move(names)) {}
  /// A PMU by the kernel's name for it: "cpu".
  static CountSource pmu(std::string name) { return {Source::pmu, std::move(name)}; }

  /// The name that JSON, CSV and tables have for it; empty for Source::none.
  TALLY_API std::string text() const;
  bool is_known() const { return kind != Source::none; }
  bool operator==(const CountSource&) const = default;
  bool operator==(Source other) const { return kind == other; }
};

/// The source of that text(): a name that is not one of tally's own is a PMU's.
TALLY_API CountSource parse_source(std::string_view text);

/// The source of a sum or a difference.
TALLY_API CountSource combined(const CountSource& a, const CountSource& b);

}  // namespace tally
