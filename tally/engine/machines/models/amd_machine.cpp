// Machines with cores of AMD. Their last level holds what L2 evicts, and their first TLBs are fully associative: the
// models have neither, so the one is a level that is not inclusive, and the others have eight sets.
#include "tally/engine/machines/shipped_models.hpp"

namespace tally::machines {

constinit const std::string_view zen2_text = R"(model  zen2
title  AMD Ryzen 7 3700X, one of its two L3 caches
source caches, TLBs, latencies of caches: AMD software optimization guide 56305 (not checked against it)
source latencies of memory and of page walks: estimates; line times: measured on an EPYC with Zen 4 cores, 2026-11-29

l1i    size=32K ways=8
l1d    size=32K ways=8
l2     size=512K ways=8
llc    size=16M ways=16
itlb   entries=64 ways=8
dtlb   entries=64 ways=8
stlb   entries=2048 ways=16

prefetch next-line streamer
core     zen2
latency  l2=12 llc=39 memory=300 stlb=7 walk=30
line-time l2=2 llc=3 memory=15
)";

constinit const std::string_view zen3_text = R"(model  zen3
title  AMD Ryzen 9 5950X, one of its two L3 caches
source caches, TLBs, latencies of caches: AMD software optimization guide 56665 (not checked against it)
source latencies of memory and of page walks: estimates; line times: measured on an EPYC with Zen 4 cores, 2026-11-29

l1i    size=32K ways=8
l1d    size=32K ways=8
l2     size=512K ways=8
llc    size=32M ways=16
itlb   entries=64 ways=8
dtlb   entries=64 ways=8
stlb   entries=2048 ways=16

prefetch next-line streamer
core     zen3
latency  l2=12 llc=46 memory=350 stlb=7 walk=30
line-time l2=2 llc=3 memory=15
)";

constinit const std::string_view zen4_text = R"(model  zen4
title  AMD EPYC 9004, one of its L3 caches
source caches, TLBs, latencies of caches: AMD software optimization guide 57647 (not checked against it); TLBs also CPUID of an EPYC with this core
source latencies of memory and of page walks, line times, parallel misses of memory, crowded sets: measured on an EPYC with Zen 4 cores, 2026-11-29 and 30

l1i    size=32K ways=8
l1d    size=32K ways=8
l2     size=1M ways=8
llc    size=32M ways=16
itlb   entries=64 ways=8
dtlb   entries=72 ways=9
stlb   entries=3072 ways=12

prefetch next-line streamer
core     zen4
latency  l2=14 llc=50 memory=600 stlb=7 walk=60
line-time l2=2 llc=3 memory=11
parallel memory=20
crowded  load=8 store=12
)";

constinit const std::string_view zen5_text = R"(model  zen5
title  AMD EPYC 9005, one of its L3 caches
source caches, TLBs, latencies of caches: AMD software optimization guide 58455 (not checked against it)
source latencies of the last level and of memory, line times, parallel misses of memory: measured on an EPYC with Zen 5 cores, 2026-11-30
source page walks: an estimate

l1i    size=32K ways=8
l1d    size=48K ways=12
l2     size=1M ways=16
llc    size=32M ways=16
itlb   entries=64 ways=8
dtlb   entries=96 ways=12
stlb   entries=4096 ways=16

prefetch next-line streamer
core     zen5
latency  l2=14 llc=50 memory=600 stlb=7 walk=30
line-time l2=1 llc=3 memory=9
parallel memory=24
crowded  load=6 store=27
)";

}  // namespace tally::machines
