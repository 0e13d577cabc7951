// Maps of the code that a process makes while it runs: /tmp/perf-PID.map, as compilers write them for perf.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "tally/core/base/units.hpp"

namespace tally::linux {

/// What is known of the process whose map is wanted.
struct MapOf {
  std::int64_t pid = 0;       ///< in its own PID namespace
  bool other_pids = false;    ///< which is another one than ours
  Nanoseconds not_before{0};  ///< since 1970: it has not started before
};

/// A map. Everybody can write one into /tmp: it is believed where it is a regular file of this user's, of root's or of
/// the user as whom the living process runs, that nobody else can write, and that was written after the process
/// started.
struct PerfMap {
  std::string text;     ///< empty: there is none
  std::string refused;  ///< why one that is there is not believed, with its path and owner; else empty
};

PerfMap read_perf_map(const MapOf& of);

/// Now, since 1970.
Nanoseconds time_since_1970();

/// When a process started, since 1970; nothing where it is gone.
std::optional<Nanoseconds> process_started(std::int64_t pid);

}  // namespace tally::linux
