// The files of /sys that describe the PMU which programs find with `--pmu`.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tally/engine/channel/presented_pmu.hpp"
#include "tally/engine/cpus/cpu_model.hpp"
#include "tally/hardware/event/encoding.hpp"
#include "tally/linux/process/scratch_folder.hpp"

namespace tally::backend::engine {

/// Returns the names of files in the PMU's directory, with their contents: those that Linux 6.18 has for the processor
/// and that concern events which programs can open. `model`: as for make_pmu_folder(). Pure.
std::vector<std::pair<std::string, std::string>> pmu_files(const channel::PresentedPmu& pmu,
                                                           const cpus::CpuModel* model);

/// Makes a directory with these files below `sys/devices/cpu`, and `sys/bus/event_source/devices` with links to it and
/// to the other PMUs of this machine, and sets PresentedPmu::folder. Returns nothing if that cannot be done: then
/// programs read the real files.
/// `model`: the processor that programs see; null: the real one.
std::optional<linux::ScratchFolder> make_pmu_folder(channel::PresentedPmu& pmu, const cpus::CpuModel* model);

}  // namespace tally::backend::engine
