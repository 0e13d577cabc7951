#include "tally/counting/backend/engine/count/pmu_folder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "tally/counting/backend/engine/count/openable_events.hpp"
#include "tally/hardware/event/codes.hpp"
#include "tally/hardware/event/perf_names.hpp"
#include "tally/linux/files/files.hpp"

namespace tally::backend::engine {
namespace {

using event::Id;

/// The events that the kernel names in /sys, if the processor has them.
constexpr std::pair<Id, const char*> named_events[] = {{Id::cycles, "cpu-cycles"},
                                                       {Id::instructions, "instructions"},
                                                       {Id::cache_references, "cache-references"},
                                                       {Id::cache_misses, "cache-misses"},
                                                       {Id::branches, "branch-instructions"},
                                                       {Id::branch_misses, "branch-misses"}};

}  // namespace

std::vector<std::pair<std::string, std::string>> pmu_files(const channel::PresentedPmu& pmu,
                                                           const cpus::CpuModel* model) {
  const event::Family family = event_family(model);
  const bool is_amd = event::is_amd(family);
  std::vector<std::pair<std::string, std::string>> files{{"type", fmt::format("{}", event::perf_type_raw)},
                                                         {"perf_event_mux_interval_ms", "4"},
                                                         {"rdpmc", "1"},
                                                         {"format/event", is_amd ? "config:0-7,32-35" : "config:0-7"},
                                                         {"format/umask", "config:8-15"},
                                                         {"format/edge", "config:18"},
                                                         {"format/inv", "config:23"},
                                                         {"format/cmask", "config:24-31"},
                                                         {"caps/max_precise", "3"}};
  if (!is_amd) files.emplace_back("format/pc", "config:19");
  if (!is_amd && model != nullptr && !model->counters.events.empty())
    files.emplace_back("caps/pmu_name", model->counters.events);
  if (has_code(pmu, ref_cycles_code)) files.emplace_back("events/ref-cycles", "event=0x00,umask=0x03");
  for (const SlotEvent& event : slot_events(model))
    if (!event.name.empty() && has_code(pmu, event.config))
      files.emplace_back(fmt::format("events/{}", event.name),
                         fmt::format("event=0x00,umask={:#04x}", event.config >> 8));
  const std::uint32_t of_family = 1U << static_cast<unsigned>(family);
  for (const auto& [id, file] : named_events) {
    for (const event::KnownCode& code : event::known_codes()) {
      const std::uint64_t config = code.event | std::uint64_t{code.umask} << 8;
      if (code.id != id || !(code.families & of_family) || !has_code(pmu, config)) continue;
      files.emplace_back(fmt::format("events/{}", file),
                         code.umask == 0 ? fmt::format("event={:#04x}", code.event)
                                         : fmt::format("event={:#04x},umask={:#04x}", code.event, code.umask));
      break;
    }
  }
  return files;
}

std::optional<linux::ScratchFolder> make_pmu_folder(channel::PresentedPmu& pmu, const cpus::CpuModel* model) {
  namespace fs = std::filesystem;
  std::optional<linux::ScratchFolder> folder;
  // Programs read what is in /tmp.
  if (auto hidden = linux::ScratchFolder::make_in("/dev/shm"))
    folder.emplace(std::move(*hidden));
  else if (auto visible = linux::ScratchFolder::make())
    folder.emplace(std::move(*visible));
  else
    return folder;
  std::error_code failed;
  const auto link = [&](const fs::path& from, const fs::path& to) {
    fs::create_directories(from.parent_path(), failed);
    fs::create_symlink(to, from, failed);
  };
  const fs::path real = "/sys/bus/event_source/devices", root = folder->path(), own = root / "sys/devices/cpu";
  for (const auto& [name, content] : pmu_files(pmu, model)) {
    const fs::path path = own / name;
    if (!linux::make_folder(path.parent_path()) || !linux::write_scratch_file(path, content + "\n"))
      return std::nullopt;
  }
  const fs::path devices = root / real.relative_path(), up = "../../../devices";
  link(devices / "cpu", up / "cpu");
  link(own / "subsystem", "../../bus/event_source");
  for (const std::string& name : linux::folder_entries(real)) {
    const fs::path target = fs::read_symlink(real / name, failed).lexically_relative(up);
    // The cores of a hybrid processor have names of their own.
    const bool is_core = linux::content(real / name / "type") == std::to_string(event::perf_type_raw);
    if (target.empty() || target == "cpu" || is_core) continue;
    link(devices / name, up / target);
    link(root / "sys/devices" / target, "/sys/devices" / target);
  }
  const auto open_to_all = [&](const fs::directory_entry& entry) {
    constexpr fs::perms read = fs::perms::owner_read | fs::perms::group_read | fs::perms::others_read,
                        search = fs::perms::owner_exec | fs::perms::group_exec | fs::perms::others_exec;
    if (!entry.is_symlink())
      fs::permissions(entry, entry.is_directory() ? read | search | fs::perms::owner_write : read, failed);
  };
  open_to_all(fs::directory_entry(root));
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(root, failed)) open_to_all(entry);
  if (folder->path().size() >= sizeof pmu.folder) return std::nullopt;
  folder->path().copy(pmu.folder, sizeof pmu.folder - 1);
  return folder;
}

}  // namespace tally::backend::engine
