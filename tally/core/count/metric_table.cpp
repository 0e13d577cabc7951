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
     "core clock divided by the reference clock: above 1 turbo, below 1 throttled or saving power"},
    {"estimated-IPC", "instructions / core-cycles-estimate * (user_time + system_time) / user_time", plain,
     "core-cycles-estimate", "instructions per core cycle of a native run in user mode (--native)"},
    {"estimated-GHz", "core-cycles-estimate / (user_time + system_time)", "GHz", nowhere,
     "core cycles per nanosecond of processor time of a native run (--native)"},
    {"model-error", "cycles / core-cycles-estimate * (user_time + system_time) / user_time - 1", share, nowhere,
     "modelled cycles compared with those of a native run in user mode: above 0 the model has too many (--native)"},
    {"CPUs", "(user_time + system_time) / duration_time", plain, nowhere,
     "average number of CPUs that the program used"},

    {"branch-rate", "branches / instructions", share, nowhere, "share of instructions that are branches"},
    {"taken-rate", "branches-taken / branches", share, nowhere, "share of branches that were taken"},
    {"conditional-taken-rate", "conditional-taken / conditional-branches", share, nowhere,
     "share of conditional branches that were taken"},
    {"branch-miss-rate", "branch-misses / branches", share, nowhere, "share of branches that were mispredicted"},
    {"branch-misses-per-instruction", "branch-misses / instructions", plain, nowhere,
     "mispredicted branches per instruction"},
    {"branch-MPKI", "1000 * branch-misses / instructions", mpki, "branch-misses",
     "mispredicted branches per 1,000 instructions"},

    {"loads-per-instruction", "loads / instructions", plain, nowhere, "memory reads per instruction"},
    {"stores-per-instruction", "stores / instructions", plain, nowhere, "memory writes per instruction"},
    {"loads-per-store", "loads / stores", plain, nowhere, "memory reads per memory write"},

    {"FLOP-per-byte", "fp-operations / (load-bytes + store-bytes)", plain, nowhere,
     "arithmetic intensity: floating-point operations per byte that instructions load or store"},
    {"FLOP-per-instruction", "fp-operations / instructions", plain, nowhere,
     "floating-point operations per instruction"},
    {"SIMD-share", "(fp-operations - fp-operations-scalar - fp-operations-x87) / fp-operations", share, nowhere,
     "share of the floating-point operations that packed instructions compute"},
    {"SIMD-share-double", "(fp-operations-double - fp-operations-double-scalar) / fp-operations-double", share, nowhere,
     "the same of those in double precision"},
    {"SIMD-share-single", "(fp-operations-single - fp-operations-single-scalar) / fp-operations-single", share, nowhere,
     "the same of those in single precision"},
    {"vector-efficiency", "(fp-operations - fp-operations-scalar - fp-operations-x87) / fp-lanes", share, nowhere,
     "share of the lanes of packed floating-point instructions that no mask disables"},
    {"bytes-per-instruction", "(load-bytes + store-bytes) / instructions", plain, nowhere,
     "bytes that an instruction loads and stores on average"},
    {"GFLOPS", "fp-operations / duration_time", "GFLOP/s", nowhere,
     "floating-point operations per nanosecond, of a native run with --native"},
    {"GFLOPS-double", "fp-operations-double / duration_time", "GFLOP/s", nowhere,
     "the same of those in double precision"},
    {"GFLOPS-single", "fp-operations-single / duration_time", "GFLOP/s", nowhere,
     "the same of those in single precision"},

    {"cache-miss-rate", "cache-misses / cache-references", share, nowhere,
     "share of last-level cache accesses that missed"},
    {"cache-misses-per-instruction", "cache-misses / instructions", plain, nowhere,
     "last-level cache misses per instruction"},
    {"cache-MPKI", "1000 * cache-misses / instructions", mpki, "cache-misses",
     "last-level cache misses per 1,000 instructions"},
    {"L1D-miss-rate", "L1-dcache-load-misses / loads", share, nowhere,
     "share of loads that missed the first-level data cache"},
    {"L1D-MPKI", "1000 * L1-dcache-load-misses / instructions", mpki, "L1-dcache-load-misses",
     "first-level data cache load misses per 1,000 instructions"},
    {"LLC-load-miss-rate", "LLC-load-misses / LLC-loads", share, nowhere,
     "share of last-level cache loads that missed"},
    {"LLC-MPKI", "1000 * LLC-load-misses / instructions", mpki, "LLC-load-misses",
     "last-level cache load misses per 1,000 instructions"},
    {"dTLB-miss-rate", "dTLB-load-misses / loads", share, nowhere, "share of loads that missed the data TLB"},
    {"dTLB-MPKI", "1000 * dTLB-load-misses / instructions", mpki, "dTLB-load-misses",
     "data TLB load misses per 1,000 instructions"},
    {"iTLB-MPKI", "1000 * iTLB-load-misses / instructions", mpki, "iTLB-load-misses",
     "instruction TLB misses per 1,000 instructions"},
};

}  // namespace

std::span<const MetricDefinition> metric_table() { return table; }

}  // namespace tally
