// Models of the machines that the engine simulates. Data with a source; `host` is read from sysfs.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "tally/core/base/result.hpp"
#include "tally/engine/models/cache/hierarchy.hpp"
#include "tally/engine/models/cache/tlb.hpp"
#include "tally/engine/models/core/core.hpp"
#include "tally/engine/models/core/cycles.hpp"

namespace tally::machine {

/// One machine.
struct MachineModel {
  std::string name;                  ///< as in `--model NAME`
  std::string title;                 ///< the processor that is meant
  std::vector<std::string> sources;  ///< where the figures come from
  models::HierarchyShape caches;     ///< `prefetch` says which prefetchers the machine has; none works unless asked for
  models::TlbShape tlbs;
  std::string core;  ///< whose timings its cycles have: a name of core_names()
  models::Latencies latencies;
  bool operator==(const MachineModel&) const = default;
};

/// A machine from the text format (docs/reference/machine-models.md). `origin` is what errors call the text: a file's
/// name. Errors: bad_usage with origin and line, what is wrong there, and what would be right.
Result<MachineModel> parse(std::string_view text, std::string_view origin);

/// The machine in the text format; parse() gives the same machine back.
std::string text_of(const MachineModel& machine);

/// The machine that the text in a file describes. Errors: bad_usage where the file cannot be read, or as parse().
Result<MachineModel> from_file(const std::filesystem::path& file);

/// This machine: caches as the kernel lists them below `root`/sys. TLBs, latencies and the core's timings, which the
/// kernel does not know, are haswell's; `sources` says so. Errors: cannot_measure where the kernel lists no data cache.
Result<MachineModel> host(const std::filesystem::path& root);

/// `host`, or a shipped model. Errors: bad_usage with the names that exist; or as host().
Result<MachineModel> named(std::string_view name, const std::filesystem::path& root);

/// `host` and the names of all shipped models.
std::vector<std::string> names();

/// The timings of a core; null for a name that is not in core_names().
const models::CoreTable* core_named(std::string_view name);
std::vector<std::string> core_names();

/// "32 KiB 8-way": a level in words.
std::string geometry_text(const models::CacheShape& shape);

}  // namespace tally::machine
