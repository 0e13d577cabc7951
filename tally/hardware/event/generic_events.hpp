// The generic events: the event names that are the same on every machine.
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

/// The generic events, in the order of the table and of `tally stat`'s default output.
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
  fp_operations,
  fp_operations_half,
  fp_operations_single,
  fp_operations_double,
  fp_operations_bf16,
  fp_operations_x87,
  fp_operations_scalar,
  fp_operations_128,
  fp_operations_256,
  fp_operations_512,
  fp_operations_single_scalar,
  fp_operations_single_128,
  fp_operations_single_256,
  fp_operations_single_512,
  fp_operations_double_scalar,
  fp_operations_double_128,
  fp_operations_double_256,
  fp_operations_double_512,
  fp_instructions,
  fp_instructions_half,
  fp_instructions_single,
  fp_instructions_double,
  fp_instructions_bf16,
  fp_instructions_x87,
  fp_instructions_scalar,
  fp_instructions_128,
  fp_instructions_256,
  fp_instructions_512,
  fp_instructions_single_packed,
  fp_instructions_double_packed,
  fp_lanes,
  fma_instructions,
  fp_divisions,
  fp_comparisons,
  fp_conversions,
  integer_divisions,
  vector_instructions,
  vector_128,
  vector_256,
  vector_512,
  integer_vector,
  integer_vector_64,
  integer_vector_128,
  integer_vector_256,
  integer_vector_512,
  load_bytes,
  store_bytes,
  non_temporal_stores,
  gathered_elements,
  scattered_elements,
  string_elements,
  locked_instructions,
  state_saves,
  aes_instructions,
  sha_instructions,
  crc32_instructions,
  carryless_multiplications,
  fences,
  nops,
  register_moves,
  system_calls,
  tile_products,
  cycles,
  ref_cycles,
  cycles_retiring,
  cycles_heavy,
  cycles_front_end,
  cycles_mispredicts,
  cycles_core,
  cycles_l1,
  cycles_l2,
  cycles_l3,
  cycles_dram,
  cycles_tlb,
  cycles_forwarding,
  cycles_locks,
  pipeline_slots,
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
  core_cycles_estimate,
  code,  ///< an event of a PMU without a generic name, identified by its encoding. Always the last.
};

/// What determines an event's count.
enum class Kind {
  hardware,            ///< the program and the architecture; counted by the processor or the engine
  microarchitectural,  ///< the processor's design: only a PMU or a machine model can count it
  software,            ///< the kernel's accounting and the clocks
};

/// Whether events of this kind are counted by mode.
constexpr bool has_modes(Kind kind) { return kind != Kind::software; }

/// The event that an event is compared with.
struct Per {
  Id id;
  bool share;  ///< true: the event is a subset of the other; false: a rate per other event
};

/// The part of a machine model that counts an event.
enum class Part { none, predictor, l1i, l1d, l2, last_level, data_tlb, instruction_tlb, core };

/// Computes an event from the engine's and the models' counts. Unsigned: counts that a program has overwritten may
/// overflow a sum.
using Value = std::uint64_t (*)(const channel::Totals&, const channel::ModelValues&);

/// A row of the table.
struct Definition {
  Id id;
  std::string_view name;
  Kind kind;
  Unit unit;
  bool in_default_set;
  std::optional<Per> per;  ///< what the table's `per` column compares it with
  std::string_view what;   ///< what it counts
  Value value = nullptr;   ///< computed by the engine; null: not counted, or not from counts alone
  Part part = Part::none;  ///< of the machine model; none: architectural, or not modelled
  std::optional<std::uint32_t> kernel_number =
      {};  ///< of the kernel's own events: PERF_COUNT_SW_… (linux/perf_event.h)
};

/// All generic events in the order of Id, without Id::code.
std::span<const Definition> all();

/// The row of an event.
const Definition& definition(Id id);

/// Finds a generic event by name, ignoring case.
std::optional<Id> find(std::string_view name);

/// An alias of a generic event.
struct Alias {
  std::string_view name;
  Id id;
  std::string_view of;  ///< where the name is from: "perf", "PAPI", "libpfm4"
};

/// The aliases of other tools. Only true synonyms: names that count something slightly different elsewhere are
/// excluded.
std::span<const Alias> aliases();

}  // namespace tally::event
