#include "tally/engine/machines/measured_memory.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "tally/core/base/parse_text.hpp"
#include "tally/core/base/text.hpp"
#include "tally/engine/machines/host_file.hpp"
#include "tally/linux/files/files.hpp"

namespace tally::machines {
namespace {

constexpr const char* file_name = "memory-latencies";

// The values by their names in the file.
constexpr std::array values{std::pair{"l2", &MeasuredMemory::l2}, std::pair{"llc", &MeasuredMemory::llc},
                            std::pair{"memory", &MeasuredMemory::memory},
                            std::pair{"llc_bytes", &MeasuredMemory::llc_bytes}};

void set_latency(std::uint16_t& latency, std::uint64_t measured) {
  constexpr std::uint64_t most = std::numeric_limits<std::uint16_t>::max();
  if (measured != 0) latency = static_cast<std::uint16_t>(std::min(measured, most));
}

std::vector<std::string> latency_texts(const MeasuredMemory& measured) {
  std::vector<std::string> texts;
  for (const auto& [name, cycles] :
       {std::pair{"L2", measured.l2}, std::pair{"the last level", measured.llc}, std::pair{"memory", measured.memory}})
    if (cycles != 0) texts.push_back(fmt::format("{} {} cycles", name, cycles));
  return texts;
}

}  // namespace

std::string latencies_text(const MeasuredMemory& measured) { return join(latency_texts(measured), ", "); }

bool store_measured_memory(const MeasuredMemory& measured, const std::filesystem::path& root) {
  std::string text = fmt::format("date: {}\n", measured.date);
  for (const auto& [name, value] : values) text += fmt::format("{}: {}\n", name, measured.*value);
  return store_for_host(file_name, text, root);
}

std::optional<MeasuredMemory> measured_memory(const std::filesystem::path& root) {
  const auto text = stored_for_host(file_name, root);
  if (!text) return std::nullopt;
  MeasuredMemory measured{.date = linux::value_of(*text, "date")};
  for (const auto& [name, value] : values) {
    const auto number = parse_integer(linux::value_of(*text, name));
    if (!number || *number < 0) return std::nullopt;
    measured.*value = static_cast<std::uint64_t>(*number);
  }
  return measured;
}

void use_measured(MachineModel& machine, const MeasuredMemory& measured) {
  set_latency(machine.latencies.l2, measured.l2);
  set_latency(machine.latencies.llc, measured.llc);
  set_latency(machine.latencies.memory, measured.memory);
  std::vector<std::string> what = latency_texts(measured);
  models::CacheShape& llc = machine.caches.llc;
  if (llc.sets != 0 && measured.llc_bytes != 0 && measured.llc_bytes < llc.size_bytes()) {
    const std::uint64_t bytes_of_set = std::uint64_t{llc.ways} << llc.line_bits;
    llc.sets = static_cast<std::uint32_t>(std::max<std::uint64_t>(measured.llc_bytes / bytes_of_set, 1));
    what.push_back(fmt::format("size of the last level {}", geometry_text(llc)));
  }
  if (what.empty()) return;
  machine.name += "-" + measured.date;
  machine.title += fmt::format("{}measured memory", machine.title.empty() ? "" : ", ");
  machine.sources.push_back(
      fmt::format("measured by `tally memory` on {}, instead of the above: {}", measured.date, join(what, ", ")));
}

bool uses_measured(const MachineModel& machine) { return machine.name.starts_with("host-"); }

}  // namespace tally::machines
