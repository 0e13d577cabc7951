// Latencies that `tally memory` measured on this host, for the model `host`.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "tally/engine/machines/machine_model.hpp"

namespace tally::machines {

/// Cycles from a load to its use, by the level that serves it, and the size of the last level for one thread.
/// 0: not measured.
struct MeasuredMemory {
  std::string date = {};  ///< "2026-11-29"
  std::uint64_t l2 = 0, llc = 0, memory = 0;
  std::uint64_t llc_bytes = 0;
  bool operator==(const MeasuredMemory&) const = default;
};

/// Stores it in the file `memory-latencies` in the directory of tally's own files, and replaces the previous one.
/// False if the directory cannot be written, or if other users can change it.
bool store_measured_memory(const MeasuredMemory& measured, const std::filesystem::path& root);

/// "L2 14 cycles, memory 564 cycles": what was measured.
std::string latencies_text(const MeasuredMemory& measured);

/// Returns what was stored on this host: with the name and the processor that `root`/proc lists. Nothing if other users
/// could have written it.
std::optional<MeasuredMemory> measured_memory(const std::filesystem::path& root);

/// Replaces latencies of a machine, and reduces its last level to the measured size. Its name is then
/// "host-2026-11-29", because counts of another model cannot be compared. `title` and `sources` say so, too.
void use_measured(MachineModel& machine, const MeasuredMemory& measured);

/// Whether use_measured() changed the machine, which has the name that it gives.
bool uses_measured(const MachineModel& machine);

}  // namespace tally::machines
