#include "tally/engine/machines/shipped_models.hpp"

namespace tally::machines {

constinit const std::string_view haswell_text = R"(# Intel Xeon E5-1620 v3: the machine of the RDPMC article.
model  haswell
title  Intel Xeon E5-1620 v3 (Haswell-EP)
source sizes of the caches: Intel's product page of the E5-1620 v3
source ways, latencies of L1 and L2, TLBs: Intel 64 and IA-32 Optimization Reference Manual, Haswell microarchitecture
source latency of the LLC: A. Fog, The microarchitecture of Intel, AMD and VIA CPUs
source latency of memory and of page walks, line times: estimates

l1i    size=32K  ways=8  line=64
l1d    size=32K  ways=8  line=64
l2     size=256K ways=8  line=64
llc    size=10M  ways=20 line=64 inclusive=yes
itlb   entries=128  ways=4 page=4K
dtlb   entries=64   ways=4 page=4K
stlb   entries=1024 ways=8 page=4K

prefetch next-line streamer
core     haswell
latency  l2=12 llc=36 memory=200 stlb=7 walk=30
line-time l2=2 llc=5 memory=15
)";

}  // namespace tally::machines
