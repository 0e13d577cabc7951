// The columns of `tally watch`, in order.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <string_view>

#include "programs/watch/output/watch_result.hpp"

namespace tally::watch {

/// A column. columns.cpp has a row for each.
enum class Id {
  util,
  user,
  kernel,
  iowait,
  ipc,
  cfreq,
  l3_misses,
  l2_misses,
  l3_hits,
  l2_hits,
  l3_per_instruction,
  l2_per_instruction,
  l3_occupancy,
  temperature,
  margin,
  instructions,
  cycles,
  faults,
  major_faults,
  switches,
  waiting,
  runnable,
  steal,
  throttled,
  memory,
  threads,
  cpu_pressure,
  memory_pressure,
  io_pressure,
  read,
  write,
  local,
  processor_energy,
  memory_energy,
  miss_latency,
  uncore_frequency,
};
inline constexpr std::size_t column_count = 36;

/// The definition of a column, for all machines.
struct Definition {
  Id id;
  std::string_view name;  ///< "L3MISS"
  std::string_view unit;
  std::string_view what;
  result::WatchStyle style;
  int digits;
  std::string_view kinds;  ///< letters of its row kinds: core, Socket, sYstem, Process, Group as c s y p g
};

/// Returns all definitions in order: definitions()[i].id is i.
std::span<const Definition, column_count> definitions();

/// Returns the column with this name, ignoring case; nothing if there is none.
std::optional<Id> column_named(std::string_view name);

/// Whether rows of a kind can have a column at all.
bool applies(const Definition& definition, result::WatchKind kind);

}  // namespace tally::watch
