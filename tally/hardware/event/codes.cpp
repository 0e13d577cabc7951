#include "tally/hardware/event/codes.hpp"

#include <algorithm>
#include <iterator>

#include "tally/hardware/pmu/intel/intel_events.hpp"

namespace tally::event {
namespace {

constexpr std::uint32_t of(Family family) { return 1U << static_cast<unsigned>(family); }

constexpr std::uint32_t old = of(Family::intel_old);
constexpr std::uint32_t core = of(Family::intel_core);
constexpr std::uint32_t recent = of(Family::intel_recent);
constexpr std::uint32_t atom = of(Family::intel_atom);
constexpr std::uint32_t intel = old | core | recent | atom;
constexpr std::uint32_t big = core | recent;
constexpr std::uint32_t zen = of(Family::amd_zen);
constexpr std::uint32_t amd = of(Family::amd) | zen;
constexpr auto unnamed = std::nullopt;

// Sources: Intel SDM vol. 3B, "Pre-defined Architectural Performance Events"; Intel's event tables (intel/perfmon) of
// Haswell, Skylake, Ice Lake and Goldmont; AMD's PPR for family 17h and 19h; libpfm4's tables, which agree.
// Event code 00 selects nothing on a programmable counter: Intel's tables use it for events of fixed counters
// (fixed_counters.hpp).
constexpr KnownCode code_table[] = {
    {intel, 0xC0, 0x00, "INST_RETIRED.ANY_P", Id::instructions, ""},
    {core, 0xC0, 0x01, "INST_RETIRED.PREC_DIST", Id::instructions, "on Nehalem and Westmere INST_RETIRED.ANY_P"},
    {big | atom, 0x00, 0x01, "INST_RETIRED.ANY", Id::instructions, ""},
    {intel, 0x3C, 0x00, "CPU_CLK_UNHALTED.THREAD_P", Id::cycles, ""},
    {big | atom, 0x00, 0x02, "CPU_CLK_UNHALTED.THREAD", Id::cycles, ""},
    {intel, 0x3C, 0x01, "CPU_CLK_UNHALTED.REF_XCLK", Id::ref_cycles,
     "its rate differs between processors: that of the bus, of a crystal, or of the time stamp counter"},
    {big | atom, 0x00, 0x03, "CPU_CLK_UNHALTED.REF_TSC", Id::ref_cycles, ""},
    {big, 0x00, 0x04, "TOPDOWN.SLOTS", unnamed, "Ice Lake and later"},
    {intel, 0xC4, 0x00, "BR_INST_RETIRED.ALL_BRANCHES", Id::branches, ""},
    {intel, 0xC5, 0x00, "BR_MISP_RETIRED.ALL_BRANCHES", Id::branch_misses, ""},
    {intel, 0x2E, 0x4F, "LONGEST_LAT_CACHE.REFERENCE", Id::cache_references, ""},
    {intel, 0x2E, 0x41, "LONGEST_LAT_CACHE.MISS", Id::cache_misses, ""},

    {core, 0xC5, 0x04, "BR_MISP_RETIRED.ALL_BRANCHES_PEBS", Id::branch_misses, ""},
    {core, 0xC4, 0x04, "BR_INST_RETIRED.ALL_BRANCHES_PEBS", Id::branches, ""},
    {core, 0xC4, 0x01, "BR_INST_RETIRED.CONDITIONAL", Id::conditional_branches,
     "on Ice Lake and later the same code counts the taken ones only"},
    {core, 0xC4, 0x10, "BR_INST_RETIRED.NOT_TAKEN", Id::conditional_not_taken, ""},
    {recent, 0xC4, 0x11, "BR_INST_RETIRED.COND", Id::conditional_branches, ""},
    {recent, 0xC4, 0x01, "BR_INST_RETIRED.COND_TAKEN", Id::conditional_taken,
     "before Ice Lake the same code also counts the ones that are not taken"},
    {recent, 0xC4, 0x10, "BR_INST_RETIRED.COND_NTAKEN", Id::conditional_not_taken, ""},
    {recent, 0xC4, 0x80, "BR_INST_RETIRED.INDIRECT", unnamed, "the sum of indirect-jumps and indirect-calls"},
    {big, 0xC4, 0x02, "BR_INST_RETIRED.NEAR_CALL", Id::calls, ""},
    {big, 0xC4, 0x08, "BR_INST_RETIRED.NEAR_RETURN", Id::returns, ""},
    {big, 0xC4, 0x20, "BR_INST_RETIRED.NEAR_TAKEN", Id::near_branches_taken, ""},
    {big, 0xC4, 0x40, "BR_INST_RETIRED.FAR_BRANCH", Id::far_branches, ""},
    {atom, 0xC4, 0x7E, "BR_INST_RETIRED.JCC", Id::conditional_branches, ""},
    {atom, 0xC4, 0xFE, "BR_INST_RETIRED.TAKEN_JCC", Id::conditional_taken, ""},
    {atom, 0xC4, 0xF9, "BR_INST_RETIRED.CALL", Id::calls, ""},
    {atom, 0xC4, 0xFD, "BR_INST_RETIRED.REL_CALL", Id::direct_calls, ""},
    {atom, 0xC4, 0xFB, "BR_INST_RETIRED.IND_CALL", Id::indirect_calls, ""},
    {atom, 0xC4, 0xF7, "BR_INST_RETIRED.RETURN", Id::returns, ""},
    {atom, 0xC4, 0xEB, "BR_INST_RETIRED.NON_RETURN_IND", unnamed, "the sum of indirect-jumps and indirect-calls"},
    {atom, 0xC4, 0xBF, "BR_INST_RETIRED.FAR_BRANCH", Id::far_branches, ""},

    {core, 0xD0, 0x81, "MEM_UOPS_RETIRED.ALL_LOADS", Id::retired_loads,
     "micro-operations up to Broadwell, instructions since Skylake"},
    {core, 0xD0, 0x82, "MEM_UOPS_RETIRED.ALL_STORES", Id::retired_stores,
     "micro-operations up to Broadwell, instructions since Skylake"},
    {recent, 0xD0, 0x81, "MEM_INST_RETIRED.ALL_LOADS", Id::retired_loads, ""},
    {recent, 0xD0, 0x82, "MEM_INST_RETIRED.ALL_STORES", Id::retired_stores, ""},
    {core, 0xD1, 0x01, "MEM_LOAD_UOPS_RETIRED.L1_HIT", Id::l1_load_hits, "since Sandy Bridge"},
    {core, 0xD1, 0x02, "MEM_LOAD_UOPS_RETIRED.L2_HIT", Id::l2_load_hits, "since Sandy Bridge"},
    {core, 0xD1, 0x04, "MEM_LOAD_UOPS_RETIRED.L3_HIT", Id::llc_load_hits, "since Sandy Bridge"},
    {core, 0xD1, 0x08, "MEM_LOAD_UOPS_RETIRED.L1_MISS", Id::l1d_load_misses, "since Sandy Bridge"},
    {core, 0xD1, 0x10, "MEM_LOAD_UOPS_RETIRED.L2_MISS", Id::l2_load_misses, "since Sandy Bridge"},
    {core, 0xD1, 0x20, "MEM_LOAD_UOPS_RETIRED.L3_MISS", Id::llc_load_misses,
     "often published as an L3 hit, which is umask 04H"},
    {recent, 0xD1, 0x01, "MEM_LOAD_RETIRED.L1_HIT", Id::l1_load_hits, ""},
    {recent, 0xD1, 0x02, "MEM_LOAD_RETIRED.L2_HIT", Id::l2_load_hits, ""},
    {recent, 0xD1, 0x04, "MEM_LOAD_RETIRED.L3_HIT", Id::llc_load_hits, ""},
    {recent, 0xD1, 0x08, "MEM_LOAD_RETIRED.L1_MISS", Id::l1d_load_misses, ""},
    {recent, 0xD1, 0x10, "MEM_LOAD_RETIRED.L2_MISS", Id::l2_load_misses, ""},
    {recent, 0xD1, 0x20, "MEM_LOAD_RETIRED.L3_MISS", Id::llc_load_misses,
     "often published as an L3 hit, which is umask 04H"},
    {big, 0x24, 0xC1, "L2_RQSTS.DEMAND_DATA_RD_HIT", Id::l2_load_hits,
     "requests, including those of loads that did not retire"},
    {core, 0x24, 0x41, "L2_RQSTS.DEMAND_DATA_RD_HIT", Id::l2_load_hits,
     "from older lists of Haswell and Broadwell; Intel's later lists and all processors since Skylake encode this "
     "event with umask C1H"},
    {core, 0x24, 0x01, "L2_RQSTS.DEMAND_DATA_RD_HIT", Id::l2_load_hits, "Sandy Bridge and Ivy Bridge"},
    {big, 0x24, 0x21, "L2_RQSTS.DEMAND_DATA_RD_MISS", Id::l2_load_misses,
     "requests, including those of loads that did not retire"},

    {recent, 0xC7, 0x01, "FP_ARITH_INST_RETIRED.SCALAR_DOUBLE", Id::fp_operations_double_scalar, ""},
    {recent, 0xC7, 0x02, "FP_ARITH_INST_RETIRED.SCALAR_SINGLE", Id::fp_operations_single_scalar, ""},
    {core, 0xC7, 0x01, "FP_ARITH_INST_RETIRED.SCALAR_DOUBLE", unnamed,
     "since Broadwell; fp-operations-double-scalar counts the same"},
    {core, 0xC7, 0x02, "FP_ARITH_INST_RETIRED.SCALAR_SINGLE", unnamed,
     "since Broadwell; fp-operations-single-scalar counts the same"},
    {big, 0xC7, 0x04, "FP_ARITH_INST_RETIRED.128B_PACKED_DOUBLE", unnamed,
     "fp-operations-double-128 is 2 for each, without masked lanes"},
    {big, 0xC7, 0x08, "FP_ARITH_INST_RETIRED.128B_PACKED_SINGLE", unnamed,
     "fp-operations-single-128 is 4 for each, without masked lanes"},
    {big, 0xC7, 0x10, "FP_ARITH_INST_RETIRED.256B_PACKED_DOUBLE", unnamed,
     "fp-operations-double-256 is 4 for each, without masked lanes"},
    {big, 0xC7, 0x20, "FP_ARITH_INST_RETIRED.256B_PACKED_SINGLE", unnamed,
     "fp-operations-single-256 is 8 for each, without masked lanes"},
    {big, 0xC7, 0x40, "FP_ARITH_INST_RETIRED.512B_PACKED_DOUBLE", unnamed,
     "fp-operations-double-512 is 8 for each, without masked lanes"},
    {big, 0xC7, 0x80, "FP_ARITH_INST_RETIRED.512B_PACKED_SINGLE", unnamed,
     "fp-operations-single-512 is 16 for each, without masked lanes"},
    {core, 0xC2, 0x02, "UOPS_RETIRED.RETIRE_SLOTS", unnamed, ""},
    {core, 0xCB, 0x01, "HW_INTERRUPTS.RECEIVED", unnamed, "each of them adds one to instructions and to branches"},

    {amd, 0xC0, 0x00, "RETIRED_INSTRUCTIONS", Id::instructions, ""},
    {amd, 0xC2, 0x00, "RETIRED_BRANCH_INSTRUCTIONS", Id::branches, ""},
    {amd, 0xC3, 0x00, "RETIRED_BRANCH_INSTRUCTIONS_MISPREDICTED", Id::branch_misses, ""},
    {amd, 0xC4, 0x00, "RETIRED_TAKEN_BRANCH_INSTRUCTIONS", Id::branches_taken, ""},
    {amd, 0xC6, 0x00, "RETIRED_FAR_CONTROL_TRANSFERS", Id::far_branches, ""},
    {amd, 0xC8, 0x00, "RETIRED_NEAR_RETURNS", Id::returns, ""},
    {zen, 0x2C, 0x00, "INTERRUPTS_TAKEN", unnamed, "each of them adds one to instructions and to branches"},
    {zen, 0x03, 0xFF, "RETIRED_SSE_AVX_FLOPS", unnamed, "fp-operations counts those of active lanes"},
    {zen, 0x03, 0x0F, "RETIRED_SSE_AVX_FLOPS", unnamed, "fp-operations counts those of active lanes"},
    {zen, 0x03, 0x1F, "RETIRED_SSE_AVX_FLOPS", unnamed, "fp-operations counts those of active lanes"},
    {zen, 0xD1, 0x00, "RETIRED_CONDITIONAL_BRANCH_INSTRUCTIONS", Id::conditional_branches, ""},
    {amd, 0x76, 0x00, "CYCLES_NOT_IN_HALT", Id::cycles, ""},
};

}  // namespace

std::span<const KnownCode> known_codes() { return code_table; }

std::optional<KnownCode> known_code(const Encoding& encoding) {
  if (!is_x86(encoding.family) || event_code(encoding) > 0xFF) return std::nullopt;
  const auto line = std::find_if(std::begin(code_table), std::end(code_table), [&](const KnownCode& code) {
    return (code.families & of(encoding.family)) && code.event == event_code(encoding) &&
           code.umask == unit_mask(encoding);
  });
  if (line != std::end(code_table)) return *line;
  if (encoding.family != Family::intel_core) return std::nullopt;
  const auto event = static_cast<std::uint8_t>(event_code(encoding));
  const auto umask = static_cast<std::uint8_t>(unit_mask(encoding));
  const pmu::intel::EventCode* other = pmu::intel::find_event(event, umask);
  if (!other) return std::nullopt;
  return KnownCode{core, event, umask, other->name, unnamed, other->pitfall};
}

std::optional<Id> counterpart(const Encoding& encoding) {
  if (is_conditional(encoding)) return std::nullopt;
  const auto line = known_code(encoding);
  return line ? line->id : std::nullopt;
}

}  // namespace tally::event
