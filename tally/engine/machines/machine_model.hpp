// Models of the machines that the engine simulates: data with a source. `host` is read from sysfs.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "tally/core/base/result.hpp"
#include "tally/engine/models/cache/hierarchy.hpp"
#include "tally/engine/models/cache/tlb.hpp"
#include "tally/engine/models/core/core_model.hpp"
#include "tally/engine/models/core/cycles.hpp"

namespace tally::machines {

/// A simulated machine.
struct MachineModel {
  std::string name;                  ///< as in `--model NAME`
  std::string shipped;               ///< the shipped model that it is, or for `host` that of its processor; else empty
  std::string title;                 ///< the processor that it models
  std::vector<std::string> sources;  ///< where its values come from
  models::HierarchyShape caches;     ///< `prefetch`: the machine's prefetchers; they are off unless requested
  models::TlbShape tlbs;
  std::string core;  ///< the core whose timings its cycles use: a name of core_names()
  models::Latencies latencies;
  bool operator==(const MachineModel&) const = default;
};

/// Parses a machine in the text format (docs/reference/machine-models.md). `origin` is the text's name in errors.
/// Errors: bad_usage with origin and line, the mistake, and a correction.
Result<MachineModel> parse(std::string_view text, std::string_view origin);

/// Returns the machine in the text format; parse() turns it back into the same machine.
std::string text_of(const MachineModel& machine);

/// Reads a machine in the text format from a file. Errors: bad_usage if the file cannot be read, or as parse().
Result<MachineModel> from_file(const std::filesystem::path& file);

/// Returns this machine, with the caches that the kernel lists below `root`/sys. The kernel lists no core, TLBs and
/// latencies: they are those of the shipped model of the processor in `root`/proc/cpuinfo; `sources` says so. Errors:
/// cannot_measure if the kernel lists no data cache.
Result<MachineModel> host(const std::filesystem::path& root);

/// Returns `host` or a shipped model. Errors: bad_usage with the existing names; or as host().
Result<MachineModel> named(std::string_view name, const std::filesystem::path& root);

/// Returns `host` and the names of all shipped models.
std::vector<std::string> names();

/// Returns the timings of a core; null if the name is not in core_names().
const models::CoreTable* core_named(std::string_view name);
std::vector<std::string> core_names();

/// Describes a level, as in "32 KiB 8-way".
std::string geometry_text(const models::CacheShape& shape);

}  // namespace tally::machines
