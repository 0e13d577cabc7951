#include <fmt/format.h>

#include "tally/core/base/text.hpp"
#include "tally/engine/machines/machine_model.hpp"

namespace tally::machines {

namespace {

std::string cache_line(std::string_view name, const models::CacheShape& shape) {
  if (shape.sets == 0) return {};
  std::string line = fmt::format("{} size={} ways={} line={}", name, shape.size_bytes(), shape.ways,
                                 std::uint64_t{1} << shape.line_bits);
  if (shape.replacement == models::Replacement::tree_plru) line += " replacement=plru";
  if (!shape.write_allocate) line += " write-allocate=no";
  if (shape.inclusive) line += " inclusive=yes";
  return line + '\n';
}

std::string tlb_line(std::string_view name, const models::CacheShape& shape) {
  if (shape.sets == 0) return {};
  return fmt::format("{} entries={} ways={} page={}\n", name, std::uint64_t{shape.sets} * shape.ways, shape.ways,
                     std::uint64_t{1} << shape.line_bits);
}

// "32 KiB": cache sizes are whole numbers of some unit.
std::string whole_size(std::uint64_t bytes) {
  if (bytes % (1 << 20) == 0) return fmt::format("{} MiB", bytes >> 20);
  if (bytes % (1 << 10) == 0) return fmt::format("{} KiB", bytes >> 10);
  return fmt::format("{} bytes", bytes);
}

}  // namespace

std::string text_of(const MachineModel& machine) {
  std::string text = fmt::format("model {}\n", machine.name);
  if (!machine.title.empty()) text += fmt::format("title {}\n", machine.title);
  for (const std::string& source : machine.sources) text += fmt::format("source {}\n", source);
  text += cache_line("l1i", machine.caches.l1i) + cache_line("l1d", machine.caches.l1d) +
          cache_line("l2", machine.caches.l2) + cache_line("llc", machine.caches.llc);
  text +=
      tlb_line("itlb", machine.tlbs.itlb) + tlb_line("dtlb", machine.tlbs.dtlb) + tlb_line("stlb", machine.tlbs.stlb);
  if (machine.caches.prefetch != models::PrefetchShape{}) {
    text += fmt::format("prefetch{}{}\n", machine.caches.prefetch.next_line ? " next-line" : "",
                        machine.caches.prefetch.streamer ? " streamer" : "");
  }
  if (!machine.core.empty()) {
    text += fmt::format("core {}\n", machine.core);
  }
  const models::Latencies& latencies = machine.latencies;
  if (latencies != models::Latencies{}) {
    text += fmt::format("latency l2={} llc={} memory={} stlb={} walk={} mispredict={}\n", latencies.l2, latencies.llc,
                        latencies.memory, latencies.stlb, latencies.walk, latencies.mispredict);
  }
  if (latencies.l2_line != 0 || latencies.llc_line != 0 || latencies.memory_line != 0) {
    text +=
        fmt::format("line-time l2={} llc={} memory={}\n", latencies.l2_line, latencies.llc_line, latencies.memory_line);
  }
  if (latencies.memory_parallel != 0) text += fmt::format("parallel memory={}\n", latencies.memory_parallel);
  if (latencies.crowd != models::CrowdTimes{})
    text += fmt::format("crowded load={} store={}\n", latencies.crowd.load, latencies.crowd.store);
  return text;
}

std::string geometry_text(const models::CacheShape& shape) {
  return fmt::format("{} {}-way", whole_size(shape.size_bytes()), shape.ways);
}

}  // namespace tally::machines
