#include "tally/hardware/pmu/intel/intel_events.hpp"

namespace tally::pmu::intel {
namespace {

constexpr Source architectural{"Intel SDM vol. 3B", "Architectural Performance Monitoring, table of the events"};
constexpr Source perfmon{"Intel perfmon event lists", "core events, SNB to SPR; the same codes in libpfm4 4.13"};

constexpr EventCode codes[] = {
    {0x3C, 0x00, "core cycles", "", "", architectural},
    {0xC0, 0x00, "instructions retired", "", "", architectural},
    {0x3C, 0x01, "reference cycles", "", "", architectural},
    {0x2E, 0x4F, "last level cache references", "", "", architectural},
    {0x2E, 0x41, "last level cache misses", "", "", architectural},
    {0xC4, 0x00, "branches retired", "", "", architectural},
    {0xC5, 0x00, "branch mispredictions retired", "", "", architectural},
    {0xA4, 0x01, "top-down slots", "", "", architectural},
    {0xA4, 0x02, "top-down backend bound", "", "", architectural},
    {0x73, 0x00, "top-down bad speculation", "", "", architectural},
    {0x9C, 0x01, "top-down frontend bound", "", "", architectural},
    {0xC2, 0x02, "top-down retiring", "since Ice Lake; UOPS_RETIRED.RETIRE_SLOTS before", "", architectural},
    {0xE4, 0x01, "branch record inserts", "", "", architectural},

    {0xC2, 0x01, "UOPS_RETIRED.ALL", "Sandy Bridge to Skylake; .ANY on Nehalem, .HEAVY since Sapphire Rapids",
     "counts retired micro-operations; it is not an L3 cache miss, though 4101C2H is often published as one: that is "
     "event 2EH, "
     "umask 41H",
     perfmon},
    {0xD0, 0x81, "MEM_UOPS_RETIRED.ALL_LOADS", "Sandy Bridge to Broadwell; MEM_INST_RETIRED.ALL_LOADS since Skylake",
     "", perfmon},
    {0xD0, 0x82, "MEM_UOPS_RETIRED.ALL_STORES", "Sandy Bridge to Broadwell; MEM_INST_RETIRED.ALL_STORES since Skylake",
     "", perfmon},
    {0xD1, 0x01, "MEM_LOAD_UOPS_RETIRED.L1_HIT", "Sandy Bridge to Broadwell; MEM_LOAD_RETIRED.L1_HIT since Skylake", "",
     perfmon},
    {0xD1, 0x02, "MEM_LOAD_UOPS_RETIRED.L2_HIT", "Sandy Bridge to Broadwell; MEM_LOAD_RETIRED.L2_HIT since Skylake", "",
     perfmon},
    {0xD1, 0x04, "MEM_LOAD_UOPS_RETIRED.L3_HIT", "Sandy Bridge to Broadwell; MEM_LOAD_RETIRED.L3_HIT since Skylake", "",
     perfmon},
    {0xD1, 0x08, "MEM_LOAD_UOPS_RETIRED.L1_MISS", "Ivy Bridge to Broadwell; MEM_LOAD_RETIRED.L1_MISS since Skylake", "",
     perfmon},
    {0xD1, 0x10, "MEM_LOAD_UOPS_RETIRED.L2_MISS", "Ivy Bridge to Broadwell; MEM_LOAD_RETIRED.L2_MISS since Skylake", "",
     perfmon},
    {0xD1, 0x20, "MEM_LOAD_UOPS_RETIRED.L3_MISS", "Ivy Bridge to Broadwell; MEM_LOAD_RETIRED.L3_MISS since Skylake",
     "counts loads that missed L3; often published as an L3 hit, which is umask 04H", perfmon},
    {0xD1, 0x40, "MEM_LOAD_UOPS_RETIRED.HIT_LFB", "Sandy Bridge to Broadwell; MEM_LOAD_RETIRED.FB_HIT since Skylake",
     "counts loads whose line was already in a fill buffer; often published as an L3 miss, which is umask 20H",
     perfmon},
    {0x24, 0x21, "L2_RQSTS.DEMAND_DATA_RD_MISS", "since Haswell", "", perfmon},
    {0x24, 0x41, "L2_RQSTS.DEMAND_DATA_RD_HIT", "older lists of Haswell and Broadwell",
     "Intel's later lists and all processors since Skylake encode this event with umask C1H", perfmon},
    {0x24, 0xC1, "L2_RQSTS.DEMAND_DATA_RD_HIT", "since Haswell", "", perfmon},
    {0x24, 0xE1, "L2_RQSTS.ALL_DEMAND_DATA_RD", "since Haswell", "", perfmon},
};

}  // namespace

std::span<const EventCode> event_codes() { return codes; }

const EventCode* find_event(std::uint8_t event, std::uint8_t umask) {
  for (const EventCode& code : codes) {
    if (code.event == event && code.umask == umask) return &code;
  }
  return nullptr;
}

}  // namespace tally::pmu::intel
