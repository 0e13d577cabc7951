#include "tally/hardware/event/shipped_groups.hpp"

#include <fmt/format.h>

#include "tally/core/base/text.hpp"

namespace tally::event {
namespace {

// The names are LIKWID's for the same questions; events and formulas follow from the definitions of tally's events.
constexpr ShippedGroup table[] = {
    {"FLOPS_DP",
     "# Double-precision operations: how many, how wide, how fast\n"
     "event instructions,fp-operations-double,fp-operations-double-scalar,fp-operations-double-128\n"
     "event fp-operations-double-256,fp-operations-double-512,fma-instructions,duration_time\n"
     "metric SIMD-share-double,GFLOPS-double\n"},
    {"FLOPS_SP",
     "# Single-precision operations: how many, how wide, how fast\n"
     "event instructions,fp-operations-single,fp-operations-single-scalar,fp-operations-single-128\n"
     "event fp-operations-single-256,fp-operations-single-512,fma-instructions,duration_time\n"
     "metric SIMD-share-single,GFLOPS-single\n"},
    {"MEM",
     "# Bytes that instructions request, and operations for each of them\n"
     "event load-bytes,store-bytes,non-temporal-stores,fp-operations,instructions\n"
     "metric FLOP-per-byte,bytes-per-instruction\n"},
    {"DATA",
     "# Loads and stores\n"
     "event loads,stores,load-bytes,store-bytes,instructions\n"
     "metric loads-per-store,loads-per-instruction,stores-per-instruction\n"},
    {"BRANCH",
     "# Branches, and how many are mispredicted\n"
     "event instructions,branches,conditional-branches,conditional-taken,branch-misses\n"
     "metric branch-rate,taken-rate,branch-miss-rate,branch-MPKI\n"},
    {"CACHE",
     "# Misses of the caches\n"
     "event instructions,loads,stores,L1-dcache-load-misses,L2-references,L2-misses,cache-references,cache-misses\n"
     "metric L1D-miss-rate,L1D-MPKI,cache-miss-rate,cache-MPKI\n"},
    {"TLB",
     "# Misses of the TLBs\n"
     "event instructions,loads,dTLB-load-misses,dTLB-store-misses,iTLB-load-misses\n"
     "metric dTLB-miss-rate,dTLB-MPKI,iTLB-MPKI\n"},
    {"PMU_FLOPS_DP",
     "# Double-precision operations as Intel's PMUs count them: also those of masked lanes\n"
     "event FP_ARITH_INST_RETIRED:SCALAR_DOUBLE,FP_ARITH_INST_RETIRED:128B_PACKED_DOUBLE\n"
     "event FP_ARITH_INST_RETIRED:256B_PACKED_DOUBLE,FP_ARITH_INST_RETIRED:512B_PACKED_DOUBLE,duration_time\n"
     "metric GFLOPS-double-PMU=(FP_ARITH_INST_RETIRED:SCALAR_DOUBLE + 2 * FP_ARITH_INST_RETIRED:128B_PACKED_DOUBLE + "
     "4 * FP_ARITH_INST_RETIRED:256B_PACKED_DOUBLE + 8 * FP_ARITH_INST_RETIRED:512B_PACKED_DOUBLE) / duration_time\n"},
    {"PMU_FLOPS_SP",
     "# Single-precision operations as Intel's PMUs count them: also those of masked lanes\n"
     "event FP_ARITH_INST_RETIRED:SCALAR_SINGLE,FP_ARITH_INST_RETIRED:128B_PACKED_SINGLE\n"
     "event FP_ARITH_INST_RETIRED:256B_PACKED_SINGLE,FP_ARITH_INST_RETIRED:512B_PACKED_SINGLE,duration_time\n"
     "metric GFLOPS-single-PMU=(FP_ARITH_INST_RETIRED:SCALAR_SINGLE + 4 * FP_ARITH_INST_RETIRED:128B_PACKED_SINGLE + "
     "8 * FP_ARITH_INST_RETIRED:256B_PACKED_SINGLE + 16 * FP_ARITH_INST_RETIRED:512B_PACKED_SINGLE) / "
     "duration_time\n"},
    {"PMU_FLOPS_AMD",
     "# Floating-point operations of any precision as the PMUs of AMD's Zen count them\n"
     "optional RETIRED_SSE_AVX_FLOPS:ANY\n"
     "event duration_time\n"
     "metric GFLOPS-PMU=RETIRED_SSE_AVX_FLOPS:ANY / duration_time\n"},
    // Linux: arch/x86/events/intel/uncore_snbep.c (servers), uncore_snb.c (clients), amd/uncore.c; a CAS command of
    // AMD's controllers moves 64 bytes.
    {"PMU_MEM",
     "# Bytes between the caches and the memory, of the whole machine\n"
     "optional uncore_imc/cas_count_read/,uncore_imc/cas_count_write/,uncore_imc/data_reads/,uncore_imc/data_writes/\n"
     "optional uncore_imc_free_running/data_read/,uncore_imc_free_running/data_write/\n"
     "optional amd_umc/event=0x0a,rdwrmask=0x1/,amd_umc/event=0x0a,rdwrmask=0x2/\n"
     "event duration_time\n"
     "metric memory-GB-per-s=(uncore_imc/cas_count_read/ + uncore_imc/cas_count_write/ ) / duration_time\n"
     "metric memory-GB-per-s=(uncore_imc/data_reads/ + uncore_imc/data_writes/ ) / duration_time\n"
     "metric free-running-GB-per-s=(uncore_imc_free_running/data_read/ + uncore_imc_free_running/data_write/ ) / "
     "duration_time\n"},
    // Linux: arch/x86/events/rapl.c.
    {"ENERGY",
     "# Energy of the packages, their cores and the memory, of the whole machine\n"
     "optional power/energy-pkg/,power/energy-cores/,power/energy-ram/,power/energy-gpu/,power/energy-psys/\n"
     "event duration_time\n"
     "metric package-W=power/energy-pkg/ / duration_time\n"
     "metric memory-W=power/energy-ram/ / duration_time\n"},
};

}  // namespace

std::span<const ShippedGroup> shipped_groups() { return table; }

Result<EventGroup> parse_group(std::string_view text) {
  EventGroup group;
  int number = 0;
  for (const std::string& whole : split(text, '\n')) {
    number++;
    const std::string line(trimmed(whole));
    if (line.empty()) continue;
    if (line[0] == '#') {
      if (number == 1) group.what = trimmed(std::string_view(line).substr(1));
      continue;
    }
    const std::size_t blank = line.find(' ');
    const std::string kind = line.substr(0, blank);
    std::vector<std::string>* const lists = kind == "event"      ? &group.events
                                            : kind == "metric"   ? &group.metrics
                                            : kind == "optional" ? &group.optional
                                                                 : nullptr;
    if (blank == std::string::npos || lists == nullptr)
      return fail(Code::bad_usage, fmt::format("line {}: '{}'", number, printable(line)),
                  "a line is `event LIST`, `optional LIST`, `metric LIST`, `metric NAME=FORMULA` or a comment after #");
    lists->emplace_back(trimmed(std::string_view(line).substr(blank)));
  }
  if (group.events.empty() && group.metrics.empty() && group.optional.empty())
    return fail(Code::bad_usage, "it names no events", "add a line such as `event instructions,branches`");
  return group;
}

}  // namespace tally::event
