#include "tally/hardware/event/generic_events.hpp"

#include <iterator>

#include "tally/core/base/text.hpp"
#include "tally/engine/channel/channel.hpp"

namespace tally::event {
namespace {

constexpr auto hw = Kind::hardware;
constexpr auto uarch = Kind::microarchitectural;
constexpr auto sw = Kind::software;
constexpr auto n = Unit::events;
constexpr auto ns = Unit::nanoseconds;
constexpr auto none = std::nullopt;
constexpr Per share(Id of) { return {of, true}; }
constexpr Per each(Id of) { return {of, false}; }
constexpr bool yes = true;
constexpr bool no = false;

// Functions that compute events from the engine's counts.
using channel::Totals;
using M = channel::ModelValues;
using Level = channel::ModelLevelCounts;

std::uint64_t of(const Totals& totals, channel::Field field) { return static_cast<std::uint64_t>(totals.field[field]); }

template <channel::Field field>
std::uint64_t counted(const Totals& totals, const M&) {
  return of(totals, field);
}
template <std::uint32_t first, std::uint32_t number, std::uint32_t step = 1>
std::uint64_t summed(const Totals& totals, const M&) {
  std::uint64_t sum = 0;
  for (std::uint32_t i = 0; i < number; ++i) sum += of(totals, static_cast<channel::Field>(first + i * step));
  return sum;
}
std::uint64_t calls(const Totals& t, const M&) { return of(t, channel::direct_calls) + of(t, channel::indirect_calls); }
std::uint64_t near_taken(const Totals& t, const M& m) {
  return of(t, channel::taken) + of(t, channel::direct_jumps) + of(t, channel::indirect_jumps) + calls(t, m) +
         of(t, channel::returns);
}
std::uint64_t branches_taken(const Totals& t, const M& m) { return near_taken(t, m) + of(t, channel::far); }
std::uint64_t not_taken(const Totals& t, const M&) { return of(t, channel::conditional) - of(t, channel::taken); }
std::uint64_t branches(const Totals& t, const M& m) { return branches_taken(t, m) + not_taken(t, m); }

template <std::uint64_t M::*number>
std::uint64_t modelled(const Totals&, const M& models) {
  return models.*number;
}
template <Level M::*level, std::uint64_t Level::*number>
std::uint64_t modelled(const Totals&, const M& models) {
  return models.*level.*number;
}
template <Level M::*level>
std::uint64_t references(const Totals&, const M& models) {
  const Level& counts = models.*level;
  return counts.fetches + counts.loads + counts.stores;
}
template <Level M::*level>
std::uint64_t misses(const Totals&, const M& models) {
  const Level& counts = models.*level;
  return counts.fetch_misses + counts.load_misses + counts.store_misses;
}
template <Level M::*level>
std::uint64_t load_hits(const Totals&, const M& models) {
  return (models.*level).loads - (models.*level).load_misses;
}
std::uint64_t branch_misses(const Totals&, const M& m) {
  return m.conditional_misses + m.indirect_misses + m.return_misses;
}
// An access across two lines that misses both is one miss.
std::uint64_t l1d_load_misses(const Totals&, const M& m) { return m.l1d.load_misses - m.l1d_across.load_misses; }
std::uint64_t l1d_store_misses(const Totals&, const M& m) { return m.l1d.store_misses - m.l1d_across.store_misses; }
std::uint64_t l1_load_hits(const Totals& t, const M& m) { return of(t, channel::loads) - l1d_load_misses(t, m); }

// An event that the kernel counts, by its number.
constexpr Definition cause(Id id, std::string_view name, std::string_view what) {
  return {id, name, uarch, n, no, share(Id::cycles), what, nullptr, Part::core};
}

// An event of what instructions did (engine/translate/instruction_mix.hpp).
constexpr Definition mix(Id id, std::string_view name, Per per, std::string_view what, Value value) {
  return {id, name, hw, n, no, per, what, value};
}

constexpr Definition kernels(std::uint32_t number, Definition event) {
  event.kernel_number = number;
  return event;
}

// To add an event, add a line here and a name in Id. Instruction fetches are counted as in cachegrind: one per
// instruction; the later instructions of a cache line hit.
constexpr Definition table[] = {
    {Id::instructions, "instructions", hw, n, yes, none, "retired instructions; a REP string instruction is one",
     counted<channel::instructions>},
    {Id::branches, "branches", hw, n, yes, share(Id::instructions), "retired branches of every kind", branches},
    {Id::conditional_branches, "conditional-branches", hw, n, yes, share(Id::branches),
     "retired conditional jumps, taken or not, with loop and jrcxz", counted<channel::conditional>},
    {Id::conditional_taken, "conditional-taken", hw, n, yes, share(Id::conditional_branches),
     "conditional jumps that were taken", counted<channel::taken>},
    {Id::conditional_not_taken, "conditional-not-taken", hw, n, yes, share(Id::conditional_branches),
     "conditional jumps that were not taken", not_taken},
    {Id::branches_taken, "branches-taken", hw, n, no, share(Id::branches),
     "taken branches of every kind: all but conditional-not-taken", branches_taken},
    {Id::near_branches_taken, "near-branches-taken", hw, n, no, share(Id::branches),
     "branches-taken without far-branches", near_taken},
    {Id::direct_jumps, "direct-jumps", hw, n, yes, share(Id::branches), "unconditional jumps to a fixed target",
     counted<channel::direct_jumps>},
    {Id::indirect_jumps, "indirect-jumps", hw, n, yes, share(Id::branches),
     "jumps to a target in a register or in memory", counted<channel::indirect_jumps>},
    {Id::calls, "calls", hw, n, no, share(Id::branches), "near calls: direct-calls and indirect-calls", calls},
    {Id::direct_calls, "direct-calls", hw, n, yes, share(Id::branches), "near calls to a fixed target",
     counted<channel::direct_calls>},
    {Id::indirect_calls, "indirect-calls", hw, n, yes, share(Id::branches), "near calls through a register or memory",
     counted<channel::indirect_calls>},
    {Id::returns, "returns", hw, n, yes, share(Id::branches), "near returns", counted<channel::returns>},
    {Id::far_branches, "far-branches", hw, n, yes, share(Id::branches), "far transfers: system calls, INT3, IRET",
     counted<channel::far>},
    {Id::loads, "loads", hw, n, yes, each(Id::instructions),

     "accesses that read memory: one for a vector or the frame of iret, one for each element of a gather or rep; "
     "without "
     "software prefetches",
     counted<channel::loads>},
    {Id::stores, "stores", hw, n, yes, each(Id::instructions),
     "accesses that write memory: one for a vector, one for each element of a scatter or rep",
     counted<channel::stores>},
    {Id::prefetches, "prefetches", hw, n, no, each(Id::instructions),
     "software prefetches: PREFETCHT0, T1, T2, NTA, PREFETCHW; not loads, though some PMUs count them as loads",
     counted<channel::prefetches>},
    mix(Id::fp_operations, "fp-operations", each(Id::instructions),
        "floating-point operations: each active lane counts, a fused multiply-add twice",
        summed<channel::fp_operations, 14>),
    mix(Id::fp_operations_half, "fp-operations-half", share(Id::fp_operations), "fp-operations in half precision",
        summed<channel::fp_operations, 4>),
    mix(Id::fp_operations_single, "fp-operations-single", share(Id::fp_operations), "fp-operations in single precision",
        summed<channel::fp_operations + 4, 4>),
    mix(Id::fp_operations_double, "fp-operations-double", share(Id::fp_operations), "fp-operations in double precision",
        summed<channel::fp_operations + 8, 4>),
    mix(Id::fp_operations_bf16, "fp-operations-bf16", share(Id::fp_operations),
        "fp-operations of products of BF16 numbers: four for each lane of a sum", counted<channel::fp_operations_bf16>),
    mix(Id::fp_operations_x87, "fp-operations-x87", share(Id::fp_operations),
        "fp-operations of x87 registers, without transcendental functions and remainders",
        counted<channel::fp_operations_x87>),
    mix(Id::fp_operations_scalar, "fp-operations-scalar", share(Id::fp_operations),
        "fp-operations of scalar SSE and AVX instructions", summed<channel::fp_operations, 3, 4>),
    mix(Id::fp_operations_128, "fp-operations-128", share(Id::fp_operations),
        "fp-operations in half, single and double precision of packed instructions of 128 bits",
        summed<channel::fp_operations + 1, 3, 4>),
    mix(Id::fp_operations_256, "fp-operations-256", share(Id::fp_operations),
        "fp-operations in half, single and double precision of packed instructions of 256 bits",
        summed<channel::fp_operations + 2, 3, 4>),
    mix(Id::fp_operations_512, "fp-operations-512", share(Id::fp_operations),
        "fp-operations in half, single and double precision of packed instructions of 512 bits",
        summed<channel::fp_operations + 3, 3, 4>),
    mix(Id::fp_operations_single_scalar, "fp-operations-single-scalar", share(Id::fp_operations),
        "single precision, scalar", summed<channel::fp_operations + 4, 1>),
    mix(Id::fp_operations_single_128, "fp-operations-single-128", share(Id::fp_operations),
        "single precision, packed, 128 bits", summed<channel::fp_operations + 5, 1>),
    mix(Id::fp_operations_single_256, "fp-operations-single-256", share(Id::fp_operations),
        "single precision, packed, 256 bits", summed<channel::fp_operations + 6, 1>),
    mix(Id::fp_operations_single_512, "fp-operations-single-512", share(Id::fp_operations),
        "single precision, packed, 512 bits", summed<channel::fp_operations + 7, 1>),
    mix(Id::fp_operations_double_scalar, "fp-operations-double-scalar", share(Id::fp_operations),
        "double precision, scalar", summed<channel::fp_operations + 8, 1>),
    mix(Id::fp_operations_double_128, "fp-operations-double-128", share(Id::fp_operations),
        "double precision, packed, 128 bits", summed<channel::fp_operations + 9, 1>),
    mix(Id::fp_operations_double_256, "fp-operations-double-256", share(Id::fp_operations),
        "double precision, packed, 256 bits", summed<channel::fp_operations + 10, 1>),
    mix(Id::fp_operations_double_512, "fp-operations-double-512", share(Id::fp_operations),
        "double precision, packed, 512 bits", summed<channel::fp_operations + 11, 1>),
    mix(Id::fp_instructions, "fp-instructions", share(Id::instructions), "instructions that compute fp-operations",
        summed<channel::fp_instructions, 14>),
    mix(Id::fp_instructions_half, "fp-instructions-half", share(Id::fp_instructions),
        "fp-instructions in half precision", summed<channel::fp_instructions, 4>),
    mix(Id::fp_instructions_single, "fp-instructions-single", share(Id::fp_instructions),
        "fp-instructions in single precision", summed<channel::fp_instructions + 4, 4>),
    mix(Id::fp_instructions_double, "fp-instructions-double", share(Id::fp_instructions),
        "fp-instructions in double precision", summed<channel::fp_instructions + 8, 4>),
    mix(Id::fp_instructions_bf16, "fp-instructions-bf16", share(Id::fp_instructions),
        "fp-instructions that multiply BF16 numbers", counted<channel::fp_instructions_bf16>),
    mix(Id::fp_instructions_x87, "fp-instructions-x87", share(Id::fp_instructions), "fp-instructions of x87 registers",
        counted<channel::fp_instructions_x87>),
    mix(Id::fp_instructions_scalar, "fp-instructions-scalar", share(Id::fp_instructions),
        "scalar SSE and AVX instructions", summed<channel::fp_instructions, 3, 4>),
    mix(Id::fp_instructions_128, "fp-instructions-128", share(Id::fp_instructions),
        "packed instructions of 128 bits in half, single and double precision",
        summed<channel::fp_instructions + 1, 3, 4>),
    mix(Id::fp_instructions_256, "fp-instructions-256", share(Id::fp_instructions),
        "packed instructions of 256 bits in half, single and double precision",
        summed<channel::fp_instructions + 2, 3, 4>),
    mix(Id::fp_instructions_512, "fp-instructions-512", share(Id::fp_instructions),
        "packed instructions of 512 bits in half, single and double precision",
        summed<channel::fp_instructions + 3, 3, 4>),
    mix(Id::fp_instructions_single_packed, "fp-instructions-single-packed", share(Id::fp_instructions),
        "packed instructions in single precision", summed<channel::fp_instructions + 5, 3>),
    mix(Id::fp_instructions_double_packed, "fp-instructions-double-packed", share(Id::fp_instructions),
        "packed instructions in double precision", summed<channel::fp_instructions + 9, 3>),
    mix(Id::fp_lanes, "fp-lanes", each(Id::fp_instructions),
        "operations that packed instructions compute if no mask disables a lane", counted<channel::fp_lanes>),
    mix(Id::fma_instructions, "fma-instructions", share(Id::fp_instructions), "fused multiply-adds, scalar and packed",
        counted<channel::fma_instructions>),
    mix(Id::fp_divisions, "fp-divisions", share(Id::fp_instructions),
        "floating-point divisions and square roots, also of x87 registers", counted<channel::fp_divisions>),
    mix(Id::fp_comparisons, "fp-comparisons", share(Id::instructions),
        "floating-point comparisons, also of x87 registers: no fp-operations", counted<channel::fp_comparisons>),
    mix(Id::fp_conversions, "fp-conversions", share(Id::instructions),
        "conversions of vector registers to or from a floating-point format: no fp-operations",
        counted<channel::fp_conversions>),
    mix(Id::integer_divisions, "integer-divisions", share(Id::instructions), "DIV and IDIV",
        counted<channel::integer_divisions>),
    mix(Id::vector_instructions, "vector-instructions", share(Id::instructions),
        "instructions with packed vector registers, of any kind", summed<channel::vector_128, 3>),
    mix(Id::vector_128, "vector-instructions-128", share(Id::vector_instructions),
        "vector-instructions whose largest register has 128 bits", counted<channel::vector_128>),
    mix(Id::vector_256, "vector-instructions-256", share(Id::vector_instructions),
        "vector-instructions whose largest register has 256 bits", counted<channel::vector_256>),
    mix(Id::vector_512, "vector-instructions-512", share(Id::vector_instructions),
        "vector-instructions whose largest register has 512 bits", counted<channel::vector_512>),
    mix(Id::integer_vector, "integer-vector-instructions", share(Id::instructions),
        "integer arithmetic, comparisons, logic and shifts of packed registers", summed<channel::integer_vector_64, 4>),
    mix(Id::integer_vector_64, "integer-vector-instructions-64", share(Id::integer_vector),
        "integer-vector-instructions with registers of 64 bits: MMX", counted<channel::integer_vector_64>),
    mix(Id::integer_vector_128, "integer-vector-instructions-128", share(Id::integer_vector),
        "integer-vector-instructions with registers of 128 bits at most", counted<channel::integer_vector_128>),
    mix(Id::integer_vector_256, "integer-vector-instructions-256", share(Id::integer_vector),
        "integer-vector-instructions with registers of 256 bits at most", counted<channel::integer_vector_256>),
    mix(Id::integer_vector_512, "integer-vector-instructions-512", share(Id::integer_vector),
        "integer-vector-instructions with registers of 512 bits at most", counted<channel::integer_vector_512>),
    mix(Id::load_bytes, "load-bytes", each(Id::instructions), "bytes that loads read, without those of state-saves",
        counted<channel::bytes_loaded>),
    mix(Id::store_bytes, "store-bytes", each(Id::instructions), "bytes that stores write, without those of state-saves",
        counted<channel::bytes_stored>),
    mix(Id::non_temporal_stores, "non-temporal-stores", share(Id::stores), "stores past the caches: MOVNT",
        counted<channel::non_temporal_stores>),
    mix(Id::gathered_elements, "gathered-elements", share(Id::loads), "elements that gathers load",
        counted<channel::gathered_elements>),
    mix(Id::scattered_elements, "scattered-elements", share(Id::stores), "elements that scatters store",
        counted<channel::scattered_elements>),
    mix(Id::string_elements, "string-elements", each(Id::instructions),
        "elements of string instructions: MOVS, STOS, LODS, SCAS, CMPS, with and without REP",
        counted<channel::string_elements>),
    mix(Id::locked_instructions, "locked-instructions", share(Id::instructions),
        "instructions with LOCK, and XCHG with memory", counted<channel::locked_instructions>),
    mix(Id::state_saves, "state-saves", share(Id::instructions),
        "XSAVE, XRSTOR, FXSAVE and similar, whose size depends on the processor", counted<channel::state_saves>),
    mix(Id::aes_instructions, "aes-instructions", share(Id::instructions), "rounds and keys of AES",
        counted<channel::aes_instructions>),
    mix(Id::sha_instructions, "sha-instructions", share(Id::instructions), "SHA-1, SHA-256 and SHA-512",
        counted<channel::sha_instructions>),
    mix(Id::crc32_instructions, "crc32-instructions", share(Id::instructions), "CRC32",
        counted<channel::crc32_instructions>),
    mix(Id::carryless_multiplications, "carryless-multiplications", share(Id::instructions), "PCLMULQDQ and VPCLMULQDQ",
        counted<channel::carryless_multiplications>),
    mix(Id::fences, "fences", share(Id::instructions), "MFENCE, LFENCE, SFENCE", counted<channel::fences>),
    mix(Id::nops, "nops", share(Id::instructions), "instructions that do nothing: NOP in any length",
        counted<channel::nops>),
    mix(Id::register_moves, "register-moves", share(Id::instructions),
        "copies of a general or a vector register, as large as their operand", counted<channel::register_moves>),
    mix(Id::system_calls, "system-calls", share(Id::instructions), "SYSCALL and SYSENTER",
        counted<channel::system_calls>),
    mix(Id::tile_products, "tile-products", share(Id::instructions), "AMX products of tiles",
        counted<channel::tile_products>),
    {Id::cycles, "cycles", uarch, n, no, none, "core clock cycles while not halted", nullptr, Part::core},
    {Id::ref_cycles, "ref-cycles", uarch, n, no, none,
     "clock cycles while not halted, at a constant rate whatever the core's frequency", nullptr, Part::core},
    cause(Id::cycles_retiring, "cycles-retiring", "cycles in which instructions retire: their slots over the width"),
    {Id::cycles_heavy, "cycles-heavy", uarch, n, no, share(Id::cycles_retiring),
     "the part of cycles-retiring of instructions that take several slots", nullptr, Part::core},
    cause(Id::cycles_front_end, "cycles-front-end",
          "cycles that wait for instructions: fetching, misses of L1I and of its TLB"),
    cause(Id::cycles_mispredicts, "cycles-mispredicts", "cycles lost by mispredicted branches"),
    cause(Id::cycles_core, "cycles-core", "cycles that wait for results, ports or dividers"),
    cause(Id::cycles_l1, "cycles-L1", "cycles that wait for values from the first-level data cache"),
    cause(Id::cycles_l2, "cycles-L2", "cycles that wait for values from the second level"),
    cause(Id::cycles_l3, "cycles-L3", "cycles that wait for values from the last level"),
    cause(Id::cycles_dram, "cycles-DRAM", "cycles that wait for values from memory"),
    cause(Id::cycles_tlb, "cycles-TLB", "cycles that wait for translations of loads and stores that miss L1D"),
    cause(Id::cycles_forwarding, "cycles-forwarding", "cycles that wait for values that were stored just before"),
    cause(Id::cycles_locks, "cycles-locks", "cycles of locked instructions and of full fences"),
    {Id::pipeline_slots, "pipeline-slots", uarch, n, no, each(Id::cycles),
     "slots in which instructions could start: cycles times the width of the core", nullptr, Part::core},
    {Id::branch_misses, "branch-misses", uarch, n, no, share(Id::branches), "branches that were predicted wrongly",
     branch_misses, Part::predictor},
    {Id::conditional_branch_misses, "conditional-branch-misses", uarch, n, no, share(Id::conditional_branches),
     "conditional jumps whose direction was predicted wrongly", modelled<&M::conditional_misses>, Part::predictor},
    {Id::indirect_branch_misses, "indirect-branch-misses", uarch, n, no, none,
     "indirect jumps and calls whose target was predicted wrongly", modelled<&M::indirect_misses>, Part::predictor},
    {Id::return_misses, "return-misses", uarch, n, no, share(Id::returns), "returns that were predicted wrongly",
     modelled<&M::return_misses>, Part::predictor},
    {Id::cache_references, "cache-references", uarch, n, no, none, "accesses that reached the last-level cache",
     references<&M::llc>, Part::last_level},
    {Id::cache_misses, "cache-misses", uarch, n, no, share(Id::cache_references),
     "accesses that missed the last-level cache", misses<&M::llc>, Part::last_level},
    {Id::l1d_load_misses, "L1-dcache-load-misses", uarch, n, no, share(Id::loads),
     "loads that missed the first-level data cache", l1d_load_misses, Part::l1d},
    {Id::l1d_store_misses, "L1-dcache-store-misses", uarch, n, no, share(Id::stores),
     "stores that missed the first-level data cache", l1d_store_misses, Part::l1d},
    {Id::l1i_load_misses, "L1-icache-load-misses", uarch, n, no, none,
     "lines of code that missed the first-level instruction cache", modelled<&M::l1i, &Level::fetch_misses>, Part::l1i},
    {Id::l2_references, "L2-references", uarch, n, no, none,
     "lines that the first-level caches requested from the second level", references<&M::l2>, Part::l2},
    {Id::l2_misses, "L2-misses", uarch, n, no, share(Id::l2_references),
     "lines that the first-level caches requested and the second level missed", misses<&M::l2>, Part::l2},
    {Id::llc_loads, "LLC-loads", uarch, n, no, none, "loads that reached the last-level cache",
     modelled<&M::llc, &Level::loads>, Part::last_level},
    {Id::llc_load_misses, "LLC-load-misses", uarch, n, no, share(Id::llc_loads),
     "loads that missed the last-level cache", modelled<&M::llc, &Level::load_misses>, Part::last_level},
    {Id::llc_stores, "LLC-stores", uarch, n, no, none, "stores that reached the last-level cache",
     modelled<&M::llc, &Level::stores>, Part::last_level},
    {Id::llc_store_misses, "LLC-store-misses", uarch, n, no, share(Id::llc_stores),
     "stores that missed the last-level cache", modelled<&M::llc, &Level::store_misses>, Part::last_level},
    {Id::dtlb_load_misses, "dTLB-load-misses", uarch, n, no, share(Id::loads), "loads that missed the data TLB",
     modelled<&M::dtlb, &Level::load_misses>, Part::data_tlb},
    {Id::dtlb_store_misses, "dTLB-store-misses", uarch, n, no, share(Id::stores), "stores that missed the data TLB",
     modelled<&M::dtlb, &Level::store_misses>, Part::data_tlb},
    {Id::itlb_load_misses, "iTLB-load-misses", uarch, n, no, none,
     "instruction fetches that missed the instruction TLB", modelled<&M::itlb, &Level::fetch_misses>,
     Part::instruction_tlb},
    {Id::l1_load_hits, "L1-load-hits", uarch, n, no, share(Id::loads), "loads that hit the first-level data cache",
     l1_load_hits, Part::l1d},
    {Id::l2_load_hits, "L2-load-hits", uarch, n, no, share(Id::loads),
     "lines for loads that missed the first level and hit the second", load_hits<&M::l2>, Part::l2},
    {Id::l2_load_misses, "L2-load-misses", uarch, n, no, share(Id::loads),
     "lines for loads that missed the first and the second level", modelled<&M::l2, &Level::load_misses>, Part::l2},
    {Id::llc_load_hits, "LLC-load-hits", uarch, n, no, share(Id::llc_loads),
     "lines for loads that hit the last level and missed those before it", load_hits<&M::llc>, Part::last_level},
    {Id::l1i_loads, "L1-icache-loads", uarch, n, no, none, "fetches of instructions from the first-level cache",
     counted<channel::instructions>, Part::l1i},
    {Id::retired_loads, "retired-loads", uarch, n, no, each(Id::instructions),
     "loads as the processor counts them: micro-operations of some, instructions of others", counted<channel::loads>},
    {Id::retired_stores, "retired-stores", uarch, n, no, each(Id::instructions),
     "stores as the processor counts them: micro-operations of some, instructions of others", counted<channel::stores>},
    kernels(2, {Id::page_faults, "page-faults", sw, n, yes, none, "page faults, minor and major"}),
    kernels(2, {Id::user_page_faults, "page-faults:u", sw, n, no, share(Id::page_faults),
                "page faults by the program's own accesses, without those inside system calls"}),
    kernels(5, {Id::minor_faults, "minor-faults", sw, n, no, share(Id::page_faults),
                "page faults served without input or output"}),
    kernels(6, {Id::major_faults, "major-faults", sw, n, no, share(Id::page_faults),
                "page faults that waited for input or output"}),
    kernels(
        3, {Id::context_switches, "context-switches", sw, n, no, none, "switches to another thread, voluntary or not"}),
    {Id::voluntary_switches, "voluntary-switches", sw, n, no, share(Id::context_switches),
     "switches because the thread waited for something"},
    {Id::involuntary_switches, "involuntary-switches", sw, n, no, share(Id::context_switches),
     "switches because the kernel wanted the processor"},
    kernels(4, {Id::cpu_migrations, "cpu-migrations", sw, n, no, none, "moves of a thread to another processor"}),
    kernels(11, {Id::cgroup_switches, "cgroup-switches", sw, n, no, share(Id::context_switches),
                 "switches to a thread of another control group"}),
    kernels(7, {Id::alignment_faults, "alignment-faults", sw, n, no, none,
                "unaligned accesses that the kernel emulated; x86 processors handle them"}),
    kernels(8, {Id::emulation_faults, "emulation-faults", sw, n, no, none,
                "instructions that the kernel emulated because the processor does not execute them"}),
    kernels(10, {Id::bpf_output, "bpf-output", sw, n, no, none, "nothing: it transports the output of BPF programs"}),
    kernels(9, {Id::dummy, "dummy", sw, n, no, none, "nothing: it transports the records of other events"}),
    {Id::peak_memory, "peak-memory", sw, Unit::bytes, yes, none, "largest resident set of any of the processes"},
    kernels(1, {Id::task_clock, "task-clock", sw, ns, no, share(Id::duration_time),
                "time on a processor, of all threads together; 200 % of duration_time are two processors"}),
    kernels(0, {Id::cpu_clock, "cpu-clock", sw, ns, no, share(Id::duration_time),
                "the same, by the processor's clock instead of the scheduler's account"}),
    {Id::user_time, "user_time", sw, ns, yes, none, "processor time in user mode"},
    {Id::system_time, "system_time", sw, ns, yes, none, "processor time in the kernel"},
    {Id::duration_time, "duration_time", sw, ns, yes, none, "time from the program's start to its end"},
    {Id::tsc, "tsc", sw, n, no, each(Id::duration_time),
     "ticks of the time-stamp counter in duration_time, whatever ran; x86"},
    {Id::core_cycles_estimate, "core-cycles-estimate", sw, n, no, none,
     "cycles of a native run, by processor time and measured frequency: with --native"},
    {Id::code, "code", uarch, n, no, none, "an event of a PMU, by that PMU's own name or code"},
};

constexpr bool in_order() {
  for (std::size_t i = 0; i < std::size(table); ++i) {
    if (table[i].id != static_cast<Id>(i)) return false;
  }
  return std::size(table) == static_cast<std::size_t>(Id::code) + 1;
}
static_assert(in_order(), "the table must follow Id");

}  // namespace

std::span<const Definition> all() { return std::span(table).first(std::size(table) - 1); }

const Definition& definition(Id id) { return table[static_cast<std::size_t>(id)]; }

std::optional<Id> find(std::string_view name) {
  for (const Definition& line : all()) {
    if (same_word(line.name, name)) return line.id;
  }
  for (const Alias& alias : aliases()) {
    if (same_word(alias.name, name)) return alias.id;
  }
  return std::nullopt;
}

}  // namespace tally::event
