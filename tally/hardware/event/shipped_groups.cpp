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
    if (blank == std::string::npos || (kind != "event" && kind != "metric"))
      return fail(Code::bad_usage, fmt::format("line {}: '{}'", number, printable(line)),
                  "a line is `event LIST`, `metric LIST`, `metric NAME=FORMULA` or a comment after #");
    (kind == "event" ? group.events : group.metrics).emplace_back(trimmed(std::string_view(line).substr(blank)));
  }
  if (group.events.empty() && group.metrics.empty())
    return fail(Code::bad_usage, "it names no events", "add a line such as `event instructions,branches`");
  return group;
}

}  // namespace tally::event
