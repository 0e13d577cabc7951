#include "tally/hardware/event/names_without_event.hpp"

#include <algorithm>
#include <iterator>
#include <string>

#include "tally/core/base/text.hpp"

namespace tally::event {
namespace {

constexpr auto traffic = "bytes between the caches and the memory, of the whole machine";
constexpr auto requested =
    "load-bytes and store-bytes count what instructions request, cache-misses with --model the lines that come from "
    "memory; `tally watch` shows the traffic if the kernel has the PMU";
constexpr auto energy = "energy, measured by the processor for all programs together";
constexpr auto counters_of_energy =
    "count power/energy-pkg/ on a machine whose kernel has the PMU power, which most virtual machines lack; "
    "core-cycles-estimate (--native) is near";
constexpr auto stalls = "cycles in which a part of the core waits";
constexpr auto causes = "cycles by what they are spent on: `tally stat --by cause --model host`";
constexpr auto coherence = "messages between the caches of several processors";
constexpr auto no_coherence = "nothing is near: models have the caches of one processor";

// PAPI: papiStdEventDefs.h, "preset events". The others: Intel's and AMD's event tables, perf-list(1), LIKWID's counter
// names.
constexpr NameWithoutEvent names_without[] = {
    {"PAPI_L1_DCM", "misses of loads and stores", "count PAPI_L1_LDM and PAPI_L1_STM"},
    {"PAPI_L1_TCM", "misses of data and instructions", "count PAPI_L1_LDM, PAPI_L1_STM and PAPI_L1_ICM"},
    {"PAPI_L1_DCR", "loads", "count PAPI_LD_INS"},
    {"PAPI_L1_DCW", "stores", "count PAPI_SR_INS"},
    {"PAPI_L1_DCA", "loads and stores", "count PAPI_LD_INS and PAPI_SR_INS"},
    {"PAPI_L1_DCH", "loads and stores without those that miss", "count loads, stores, PAPI_L1_LDM and PAPI_L1_STM"},
    {"PAPI_L1_TC*", "accesses of data and instructions", "count loads, stores and L1-icache-loads"},
    {"PAPI_L1_IC*", "accesses of instructions", "count L1-icache-loads and L1-icache-load-misses"},
    {"PAPI_L2_DC*", "accesses of data alone", "count L2-references, L2-misses and PAPI_L2_LDM"},
    {"PAPI_L2_IC*", "accesses of instructions alone", "count L2-references, L2-misses and PAPI_L2_LDM"},
    {"PAPI_L2_TC*", "accesses by kind", "count L2-references and L2-misses"},
    {"PAPI_L2_STM", "misses of stores alone", "count L2-misses and PAPI_L2_LDM"},
    {"PAPI_L3_DC*", "accesses of data alone", "count LLC-loads, LLC-stores and cache-references"},
    {"PAPI_L3_IC*", "accesses of instructions alone", "count cache-references and cache-misses"},
    {"PAPI_L3_TC*", "accesses by kind", "count cache-references and cache-misses"},
    {"PAPI_L3_STM", "misses of stores alone", "count LLC-store-misses"},
    {"PAPI_TLB_DM", "misses of loads and stores", "count dTLB-load-misses and dTLB-store-misses"},
    {"PAPI_TLB_TL", "misses of data and instructions",
     "count dTLB-load-misses, dTLB-store-misses and iTLB-load-misses"},
    {"PAPI_TLB_SD", "invalidations of TLBs of other processors", no_coherence},
    {"PAPI_PRF_DM", "prefetched lines that missed", "count prefetches, the software prefetches"},
    {"PAPI_LST_INS", "loads and stores together", "count loads and stores"},
    {"PAPI_INT_INS", "integer instructions",
     "`tally stat --mix` counts instructions by category; integer-vector-instructions are the packed ones"},
    {"PAPI_BR_UCN", "jumps that are not conditional", "count branches and conditional-branches"},
    {"PAPI_BR_PRC", "conditional branches that were predicted", "count conditional-branches and branch-misses"},
    {"PAPI_BTAC_M", "misses of the branch target cache", "count branch-misses"},
    {"PAPI_FML_INS", "floating-point multiplications", "`tally stat --mix`: mulsd, mulpd and similar by name"},
    {"PAPI_FAD_INS", "floating-point additions", "`tally stat --mix`: addsd, addpd and similar by name"},
    {"PAPI_FDV_INS", "floating-point divisions", "fp-divisions counts them with the square roots"},
    {"PAPI_FSQ_INS", "floating-point square roots", "fp-divisions counts them with the divisions"},
    {"PAPI_FNV_INS", "floating-point inverses", "`tally stat --mix`: rcpps, rsqrtps and similar by name"},
    {"PAPI_SYC_INS", "synchronization instructions", "count locked-instructions and fences"},
    {"PAPI_TOT_IIS", "instructions that were issued, also on wrong paths", "count instructions"},
    {"PAPI_HW_INT", "hardware interrupts", "nothing is near: programs do not see interrupts"},
    {"PAPI_CSR_*", "conditional stores of Arm and others", "count locked-instructions"},
    {"PAPI_CA_*", coherence, no_coherence},
    {"PAPI_MEM_*", stalls, causes},
    {"PAPI_STL_*", stalls, causes},
    {"PAPI_FUL_*", "cycles with the most instructions", causes},
    {"PAPI_RES_STL", stalls, causes},
    {"PAPI_FP_STAL", stalls, causes},
    {"PAPI_BRU_IDL", stalls, causes},
    {"PAPI_FXU_IDL", stalls, causes},
    {"PAPI_FPU_IDL", stalls, causes},
    {"PAPI_LSU_IDL", stalls, causes},

    {"fp_ret_sse_avx_ops*", "perf's name of AMD's floating-point operations", "count fp-operations"},
    {"retired_sse_avx_flops*", "AMD's floating-point operations", "count fp-operations"},
    {"ex_ret_mmx_fp_instr*", "AMD's x87, MMX and SSE instructions",
     "count fp-instructions, fp-instructions-x87, vector-instructions"},
    {"SIMD_FP_256*", "Intel's packed instructions of 256 bits", "count fp-instructions-256 or fp-operations-256"},
    {"FP_COMP_OPS_EXE*", "Intel's floating-point micro-operations, also on wrong paths",
     "count fp-instructions or fp-operations"},
    {"SIMD", "instructions that work on several values at once",
     "count vector-instructions, fp-operations-128, -256 and -512, or integer-vector-instructions; "
     "`tally stat --group FLOPS_DP` has SIMD-share-double"},
    {"mem-loads", "sampled loads", "count loads"},
    {"mem-stores", "sampled stores", "count stores"},

    {"INSTR_RETIRED_ANY*", "LIKWID's name of instructions", "count instructions"},
    {"CPU_CLK_UNHALTED_CORE*", "LIKWID's name of cycles", "count cycles"},
    {"CPU_CLOCKS_UNHALTED*", "LIKWID's name of cycles", "count cycles"},
    {"ACTUAL_CPU_CLOCK*", "LIKWID's name of cycles", "count cycles"},
    {"CPU_CLK_UNHALTED_REF*", "LIKWID's name of cycles of a constant clock", "count ref-cycles"},
    {"MAX_CPU_CLOCK*", "LIKWID's name of cycles of a constant clock", "count ref-cycles"},
    {"DRAM_CHANNEL_*", traffic, requested},
    {"CAS_COUNT*", traffic, requested},
    {"unc_m_cas_count*", traffic, requested},
    {"uncore_imc*", traffic, requested},
    {"amd_umc*", traffic, requested},
    {"amd_df", traffic, requested},
    {"energy-*", energy, counters_of_energy},
    {"PWR_*", energy, counters_of_energy},
    {"RAPL_*", energy, counters_of_energy},
    {"rapl::*", energy, counters_of_energy},
    {"power", energy, counters_of_energy},
};

bool fits_pattern(std::string_view pattern, const std::string& small) {
  const std::string wanted = lower(pattern);
  if (!wanted.ends_with('*')) return small == wanted;
  return small.starts_with(std::string_view(wanted).substr(0, wanted.size() - 1));
}

}  // namespace

std::optional<NameWithoutEvent> name_without_event(std::string_view name) {
  const std::string small = lower(name);
  const auto* const row =
      std::find_if(std::begin(names_without), std::end(names_without),
                   [&](const NameWithoutEvent& name_row) { return fits_pattern(name_row.name, small); });
  return row == std::end(names_without) ? std::nullopt : std::optional(*row);
}

}  // namespace tally::event
