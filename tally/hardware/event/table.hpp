// The generic events: what may be asked for by the same name on every machine.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "tally/core/base/units.hpp"

namespace tally::channel {
struct Totals;
struct ModelValues;
}  // namespace tally::channel

namespace tally::event {

/// What is counted. The order is that of the table, and of the default table of `tally stat`.
enum class Id {
  instructions,
  branches,
  conditional_branches,
  conditional_taken,
  conditional_not_taken,
  branches_taken,
  near_branches_taken,
  direct_jumps,
  indirect_jumps,
  calls,
  direct_calls,
  indirect_calls,
  returns,
  far_branches,
  loads,
  stores,
  prefetches,
  cycles,
  ref_cycles,
  branch_misses,
  conditional_branch_misses,
  indirect_branch_misses,
  return_misses,
  cache_references,
  cache_misses,
  l1d_load_misses,
  l1d_store_misses,
  l1i_load_misses,
  l2_references,
  l2_misses,
  llc_loads,
  llc_load_misses,
  llc_stores,
  llc_store_misses,
  dtlb_load_misses,
  dtlb_store_misses,
  itlb_load_misses,
  l1_load_hits,
  l2_load_hits,
  l2_load_misses,
  llc_load_hits,
  l1i_loads,
  retired_loads,
  retired_stores,
  page_faults,
  user_page_faults,
  minor_faults,
  major_faults,
  context_switches,
  voluntary_switches,
  involuntary_switches,
  cpu_migrations,
  cgroup_switches,
  alignment_faults,
  emulation_faults,
  bpf_output,
  dummy,
  peak_memory,
  task_clock,
  cpu_clock,
  user_time,
  system_time,
  duration_time,
  tsc,
  code,  ///< an event of a PMU that has no name here: its encoding says what it is. Always the last.
};

/// Who counts an event.
enum class Kind {
  hardware,            ///< the processor, or what stands in for it; follows from the program and the architecture
  microarchitectural,  ///< the processor; depends on how it is made: only a PMU knows it, or a model of a machine
  software,            ///< the kernel's own bookkeeping, and the clocks
};

/// Whether events of this kind have a user and a kernel side.
constexpr bool has_modes(Kind kind) { return kind != Kind::software; }

/// What an event is compared with.
struct Per {
  Id id;
  bool share;  ///< true: its counts are some of the other's; false: so many for each of the other
};

/// The part of a simulated machine that counts an event.
enum class Part { none, predictor, l1i, l1d, l2, last_level, data_tlb, instruction_tlb, core };

/// What an event is in the engine's numbers: the program's, and the models'. Without signs: what a
/// program has written over may be too much for a sum.
using Value = std::uint64_t (*)(const channel::Totals&, const channel::ModelValues&);

/// One event: a line of the table.
struct Definition {
  Id id;
  std::string_view name;
  Kind kind;
  Unit unit;
  bool in_default_set;
  std::optional<Per> per;  ///< what it is compared with in the table's `per` column
  std::string_view what;   ///< what one count of it means
  Value value = nullptr;   ///< by the engine; nothing: it does not count it, or needs more than numbers
  Part part = Part::none;  ///< of the simulated machine; none: follows from the program, or is not modelled
  std::optional<std::uint32_t> kernel_number =
      {};  ///< of the kernel's own events: PERF_COUNT_SW_… (linux/perf_event.h)
};

/// All events that have a name, in the order of Id: every one but Id::code.
std::span<const Definition> all();

/// The line of one event.
const Definition& definition(Id id);

/// The event of this name, upper and lower case alike: nothing where the table has none.
std::optional<Id> find(std::string_view name);

/// Another name for an event of the table.
struct Alias {
  std::string_view name;
  Id id;
  std::string_view of;  ///< whose word it is: "perf", "PAPI", "libpfm4"
};

/// The names that other tools have for events of the table. Only true synonyms: what counts something slightly
/// different elsewhere is not in here.
std::span<const Alias> aliases();

}  // namespace tally::event
