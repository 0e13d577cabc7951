#include "tally/core/count/metric.hpp"

namespace tally {
namespace {

constexpr auto share = "share";
constexpr auto plain = "";
constexpr auto mpki = "per 1,000 instructions";
constexpr auto nowhere = "";

// To add a metric, add a line. Operators need spaces because names contain the same characters.
constexpr MetricDefinition table[] = {
    {"IPC", "instructions / cycles", plain, "cycles", "instructions per core cycle"},
    {"CPI", "cycles / instructions", plain, nowhere, "core cycles per instruction"},
    // Cycles per nanosecond are GHz. Halted time is in neither count.
    {"frequency", "cycles:u / user_time", "GHz", nowhere, "core frequency while the program ran in user mode"},
    {"core-ref-ratio", "cycles / ref-cycles", plain, "ref-cycles",
     "core clock compared with the reference clock: above 1 is turbo, below 1 is throttled or saving power"},
    {"CPUs", "(user_time + system_time) / duration_time", plain, nowhere,
     "processors that were busy with the program, on average"},

    {"branch-rate", "branches / instructions", share, nowhere, "instructions that are branches"},
    {"taken-rate", "branches-taken / branches", share, nowhere, "branches that went elsewhere"},
    {"conditional-taken-rate", "conditional-taken / conditional-branches", share, nowhere,
     "conditional jumps that jumped"},
    {"branch-miss-rate", "branch-misses / branches", share, nowhere, "branches that were predicted wrongly"},
    {"branch-misses-per-instruction", "branch-misses / instructions", plain, nowhere,
     "wrongly predicted branches per instruction"},
    {"branch-MPKI", "1000 * branch-misses / instructions", mpki, "branch-misses",
     "wrongly predicted branches per 1,000 instructions"},

    {"loads-per-instruction", "loads / instructions", plain, nowhere, "memory reads per instruction"},
    {"stores-per-instruction", "stores / instructions", plain, nowhere, "memory writes per instruction"},
    {"loads-per-store", "loads / stores", plain, nowhere, "memory reads for every write"},

    {"cache-miss-rate", "cache-misses / cache-references", share, nowhere,
     "accesses to the last-level cache that it did not hold"},
    {"cache-misses-per-instruction", "cache-misses / instructions", plain, nowhere,
     "last-level cache misses per instruction"},
    {"cache-MPKI", "1000 * cache-misses / instructions", mpki, "cache-misses",
     "last-level cache misses per 1,000 instructions"},
    {"L1D-miss-rate", "L1-dcache-load-misses / loads", share, nowhere,
     "loads that the first-level data cache did not hold"},
    {"L1D-MPKI", "1000 * L1-dcache-load-misses / instructions", mpki, "L1-dcache-load-misses",
     "first-level data cache misses of loads per 1,000 instructions"},
    {"LLC-load-miss-rate", "LLC-load-misses / LLC-loads", share, nowhere,
     "loads from the last-level cache that it did not hold"},
    {"LLC-MPKI", "1000 * LLC-load-misses / instructions", mpki, "LLC-load-misses",
     "last-level cache misses of loads per 1,000 instructions"},
    {"dTLB-miss-rate", "dTLB-load-misses / loads", share, nowhere, "loads whose page the data TLB did not hold"},
    {"dTLB-MPKI", "1000 * dTLB-load-misses / instructions", mpki, "dTLB-load-misses",
     "data TLB misses of loads per 1,000 instructions"},
    {"iTLB-MPKI", "1000 * iTLB-load-misses / instructions", mpki, "iTLB-load-misses",
     "instruction TLB misses per 1,000 instructions"},
};

}  // namespace

std::span<const MetricDefinition> metric_table() { return table; }

}  // namespace tally
