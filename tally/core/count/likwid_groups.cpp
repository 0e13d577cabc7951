#include "tally/core/count/likwid_groups.hpp"

#include <algorithm>
#include <iterator>

#include "tally/core/base/text.hpp"

namespace tally {
namespace {

struct LikwidGroup {
  std::string_view name, hint;
};
constexpr std::string_view flops_and_bytes =
    "`tally stat --group FLOPS_DP,MEM` (or FLOPS_SP) counts the operations and the bytes that a program requests; "
    "`tally watch` shows the memory's bandwidth for the whole machine if it has a PMU";
constexpr std::string_view stalls = "`tally stat --by cause --model host` divides the cycles among what they wait for";
constexpr std::string_view of_uops =
    "the engine does not count micro-operations: count instructions, or slots with `tally stat --topdown --model host`";
constexpr std::string_view traffic =
    "bytes of the memories of the whole machine: `tally stat --group PMU_MEM` if the kernel has their PMU; --group MEM "
    "counts the bytes that a program requests";
constexpr std::string_view links =
    "bytes between the packages: no event is near; `tally stat --group PMU_MEM` counts those of each package's memory";
constexpr LikwidGroup likwid_groups[] = {
    {"BRANCH", "a group of events and metrics: `tally stat --group BRANCH`"},
    {"CACHE", "a group of events and metrics: `tally stat --group CACHE`"},
    {"DATA", "a group of events and metrics: `tally stat --group DATA`"},
    {"FLOPS_DP", "a group of events and metrics: `tally stat --group FLOPS_DP`"},
    {"FLOPS_SP", "a group of events and metrics: `tally stat --group FLOPS_SP`"},
    {"MEM", "`tally stat --group MEM` counts the bytes that a program requests; `tally watch` shows the whole machine"},
    {"TLB", "a group of events and metrics: `tally stat --group TLB`"},
    {"FLOPS_AVX", "count fp-operations-256 and fp-operations-512, or `tally stat --group FLOPS_DP` (or FLOPS_SP)"},
    {"FLOPS_HP", "count fp-operations-half"},
    {"MEM_DP", flops_and_bytes},
    {"MEM_SP", flops_and_bytes},
    {"CLOCK", "use frequency, CPI"},
    {"CPI", "use CPI"},
    {"DIVIDE", "count fp-divisions and integer-divisions"},
    {"ICACHE", "count L1-icache-loads and L1-icache-load-misses"},
    {"L2", "`tally stat --group CACHE` counts the accesses and misses of L2, a line each"},
    {"L2CACHE", "`tally stat --group CACHE` counts the accesses and misses of L2"},
    {"L3", "`tally stat --group CACHE` counts the accesses and misses of the last level, a line each"},
    {"L3CACHE", "use cache-miss-rate, cache-MPKI"},
    {"TLB_DATA", "use dTLB-miss-rate, dTLB-MPKI"},
    {"TLB_INSTR", "use iTLB-MPKI"},
    {"CYCLE_ACTIVITY", stalls},
    {"CYCLE_STALLS", stalls},
    {"TMA", "`tally stat --topdown --model host` prints Intel's top-down classes"},
    {"UOPS", of_uops},
    {"UOPS_EXEC", of_uops},
    {"UOPS_ISSUE", of_uops},
    {"UOPS_RETIRE", of_uops},
    {"PORT_USAGE", of_uops},
    {"FALSE_SHARE", "models have the caches of one processor: `perf c2c` finds shared lines on a machine with a PMU"},
    {"HBM", traffic},
    {"HBM_CACHE", traffic},
    {"HBM_OFFCORE", traffic},
    {"DDR", traffic},
    {"PMM", traffic},
    {"NUMA", links},
    {"QPI", links},
    {"UPI", links},
    {"CACHES", "`tally stat --group CACHE` counts the accesses and misses of each level"},
    {"ENERGY", "a group of events and metrics: `tally stat --group ENERGY`"},
};

}  // namespace

std::string_view hint_of_likwid_group(std::string_view name) {
  const auto* const row = std::find_if(std::begin(likwid_groups), std::end(likwid_groups),
                                       [&](const LikwidGroup& group) { return same_word(group.name, name); });
  return row == std::end(likwid_groups) ? std::string_view() : row->hint;
}

}  // namespace tally
