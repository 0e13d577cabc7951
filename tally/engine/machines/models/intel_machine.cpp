// Machines with cores of Intel after Haswell, and the first Atom.
#include "tally/engine/machines/shipped_models.hpp"

namespace tally::machines {

constinit const std::string_view skylake_text = R"(model  skylake
title  Intel Core i7-6700K (Skylake)
source sizes of the caches: Intel's product page; ways, TLBs, latencies of caches: Intel 64 and IA-32 Optimization Reference Manual (not checked against it)
source latencies of memory and of page walks, line times: estimates
source timings of instructions: those of the server core, which differ in AVX-512 only

l1i    size=32K ways=8
l1d    size=32K ways=8
l2     size=256K ways=4
llc    size=8M ways=16 inclusive=yes
itlb   entries=128 ways=8
dtlb   entries=64 ways=4
stlb   entries=1536 ways=12

prefetch next-line streamer
core     skylake
latency  l2=12 llc=42 memory=250 stlb=9 walk=30
line-time l2=2 llc=5 memory=15
)";

constinit const std::string_view skylake_server_text = R"(model  skylake-server
title  Intel Xeon Gold 6148 (Skylake server)
source sizes of the caches: Intel's product page; ways, TLBs, latencies of caches: Intel 64 and IA-32 Optimization Reference Manual (not checked against it)
source latencies of memory and of page walks, line times: estimates

l1i    size=32K ways=8
l1d    size=32K ways=8
l2     size=1M ways=16
llc    size=28160K ways=11
itlb   entries=128 ways=8
dtlb   entries=64 ways=4
stlb   entries=1536 ways=12

prefetch next-line streamer
core     skylake
latency  l2=14 llc=68 memory=270 stlb=9 walk=30
line-time l2=2 llc=5 memory=15
)";

constinit const std::string_view icelake_text = R"(model  icelake
title  Intel Xeon Platinum 8380 (Ice Lake server)
source sizes of the caches: Intel's product page; ways, TLBs, latency of L2: Intel 64 and IA-32 Optimization Reference Manual (not checked against it)
source latencies of the LLC, of memory and of page walks, line times: estimates

l1i    size=32K ways=8
l1d    size=48K ways=12
l2     size=1280K ways=20
llc    size=60M ways=12
itlb   entries=128 ways=8
dtlb   entries=64 ways=4
stlb   entries=2048 ways=16

prefetch next-line streamer
core     icelake-server
latency  l2=14 llc=70 memory=300 stlb=9 walk=30
line-time l2=2 llc=5 memory=15
)";

constinit const std::string_view sapphire_rapids_text = R"(model  sapphire-rapids
title  Intel Xeon Platinum 8480+ (Sapphire Rapids)
source sizes of the caches: Intel's product page; ways, TLBs, latency of L2: Intel 64 and IA-32 Optimization Reference Manual (not checked against it)
source line time of L2: measured on a Granite Rapids; other latencies and line times: estimates

l1i    size=32K ways=8
l1d    size=48K ways=12
l2     size=2M ways=16
llc    size=105M ways=15
itlb   entries=256 ways=8
dtlb   entries=96 ways=6
stlb   entries=2048 ways=16

prefetch next-line streamer
core     sapphire-rapids
latency  l2=15 llc=120 memory=380 stlb=9 walk=30
line-time l2=1 llc=5 memory=15
)";

constinit const std::string_view granite_rapids_text = R"(model  granite-rapids
title  Intel Xeon 6980P (Granite Rapids)
source sizes of the caches: Intel's product page; ways: sysfs of a Granite Rapids; TLBs, latency of L2: as Sapphire Rapids (not checked against it)
source latency of the LLC, line time of L2: a virtual machine, 2026-11-28 (a chase of 6 MiB takes 250 cycles a step; loads of 1.2 MB in columns 0.3 each)
source latencies of memory and of page walks, other line times: estimates
source timings of instructions: those of Sapphire Rapids, because LLVM 19 has no table of Granite Rapids of its own

l1i    size=64K ways=16
l1d    size=48K ways=12
l2     size=2M ways=16
llc    size=504M ways=16
itlb   entries=256 ways=8
dtlb   entries=96 ways=6
stlb   entries=2048 ways=16

prefetch next-line streamer
core     sapphire-rapids
latency  l2=15 llc=235 memory=450 stlb=9 walk=30
line-time l2=1 llc=5 memory=15
)";

constinit const std::string_view bonnell_text = R"(model  bonnell
title  Intel Atom 230 (Bonnell)
source caches, TLBs, latency of L2: Intel 64 and IA-32 Optimization Reference Manual, Intel Atom microarchitecture (not checked against it)
source latencies of memory and of page walks: estimates

l1i    size=32K ways=8
l1d    size=24K ways=6
l2     size=512K ways=8
itlb   entries=32 ways=8
dtlb   entries=64 ways=4

core     bonnell
latency  l2=16 memory=150 walk=30
)";

}  // namespace tally::machines
