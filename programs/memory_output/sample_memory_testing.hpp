// A result of `tally memory` for tests of its formats.
#pragma once

#include "tally/output/result/memory_result.hpp"

namespace tally::output {

inline result::MemoryPoint sample_point(std::uint64_t bytes, double ns) {
  result::MemoryPoint one;
  one.task = "curve";
  one.quantity = "load";
  one.mode = "lap";
  one.order = "random";
  one.region_bytes = bytes;
  one.block_bytes = one.stride_bytes = 64;
  one.count = bytes / 64;
  one.pages_asked = "thp";
  one.pages_got = "thp 37 %";
  one.load = "scalar";
  one.seed = 1;
  one.mappings = 5;
  one.batches = 49;
  one.rejected = 1;
  one.ns = ns;
  one.ns_low = ns - 0.25;
  one.ns_high = ns + 0.25;
  one.cycles = 4 * ns;
  return one;
}

// The values are invented.
inline result::Memory sample_memory() {
  result::Memory memory;
  memory.task = "levels";
  memory.environment.cpu = "A processor";
  memory.environment.tally_version = "0.1.0";
  memory.settings = {{"processor", "0"}, {"seed", "1"}};
  memory.points = {sample_point(4096, 1.25), sample_point(65536, 4)};
  memory.points[0].mappings_kept = 4;
  memory.points[0].from_memory = 0.0125;
  memory.points[1].flags = {"15 of 49 batches rejected", "mappings differ by 21 %"};
  memory.points.push_back(sample_point(131072, 4));
  memory.points[2].ns = memory.points[2].ns_low = memory.points[2].ns_high = memory.points[2].cycles = std::nullopt;
  memory.levels = {{.name = "L1d",
                    .capacity_bytes = 50000,
                    .capacity_low = 49152,
                    .capacity_high = 50176,
                    .reported_bytes = 49152,
                    .snapped = true,
                    .shape = "step",
                    .ns = 1.25,
                    .cycles = 5,
                    .line_bytes = 64,
                    .ways = 12,
                    .sets = 64,
                    .grade = result::Grade::high,
                    .because = "lines times stride is 48.00 KiB"},
                   {.name = "LLC",
                    .capacity_bytes = 27 << 20,
                    .capacity_low = 22 << 20,
                    .capacity_high = 31 << 20,
                    .reported_bytes = 480 << 20,
                    .effective = true,
                    .ns = 36,
                    .ns_low = 34,
                    .ns_high = 39,
                    .because = "shared: one thread's part of it, which others change"},
                   {.name = "memory", .ns = 163, .grade = result::Grade::medium, .because = "flat from 64.00 MiB on"}};
  memory.tlbs = {{.name = "DTLB",
                  .entries = 96,
                  .ways = 6,
                  .sets = 16,
                  .granule_bytes = 4096,
                  .penalty_ns = 1.7,
                  .grade = result::Grade::high,
                  .because = "thp pages (thp) are translated by 4.000 KiB"}};
  memory.controls = {{"ladder 64 B, 4k pages", "117.0 ns", 117.0, "ns"}};
  memory.findings = {
      "prefetch: visible (cold, lines 64 bytes apart 117 ns, 4096 apart 161 ns, huge pages): entry sizes above the "
      "line are not claimed"};
  memory.verdict = {false, 3, 1, 3.5, 0.25, ""};
  memory.counters_reason = "no PMU";
  return memory;
}

// The same, with two of the requested events counted by a PMU.
inline result::Memory sample_counted_memory() {
  result::Memory memory = sample_memory();
  memory.task = "chase-read";
  memory.counters_reason.clear();
  memory.counters = {
      {"instructions", "instructions:u", "a_pmu", "", ""},
      {"llc_misses", "LLC-load-misses:u", "", "", "the kernel has no such event on this machine"},
      {"dtlb_misses", "dTLB-load-misses:u", "a_pmu", "", ""},
  };
  memory.points[0].counts = {3.5, 0.0125};
  memory.points[1].counts = {3.5, 0};
  memory.levels[0].counts = {3.25, 0.0375};
  return memory;
}

}  // namespace tally::output
