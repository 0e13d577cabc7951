// Reads what JIT compilers write for perf about the code that they generate: /tmp/perf-PID.map, or jit-PID.dump.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "tally/core/base/units.hpp"

namespace tally::linux {

/// The process whose map to read.
struct MapOf {
  std::int64_t pid = 0;       ///< in its own PID namespace
  bool other_pids = false;    ///< that namespace is not this process's
  Nanoseconds not_before{0};  ///< since 1970: it did not start earlier
};

/// A map. Anybody can write one to /tmp, so tally only reads a regular file that belongs to this user, to root or to
/// the user of the running process, that nobody else can write, and that was written after the process started.
struct PerfMap {
  std::string text;      ///< empty: no map
  std::int64_t pid = 0;  ///< of a jitdump: the process's number in its own PID namespace, which the file repeats
  std::string refused;   ///< why an existing map is not read, with its path and owner; else empty
};

PerfMap read_perf_map(const MapOf& of);

/// Returns the content of the process's jit-PID.dump, under the same conditions. A compiler writes it to the directory
/// in which the process runs, to /tmp, or to a directory below ~/.debug/jit ($JITDUMPDIR instead of ~, if it is set).
/// The process's directory is known while it runs; afterwards, that of this process is searched.
PerfMap read_jit_dump(const MapOf& of);

/// Returns when a process started, since 1970; nothing if it has ended.
std::optional<Nanoseconds> process_started(std::int64_t pid);

}  // namespace tally::linux
