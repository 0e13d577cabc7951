// The processors that `--cpu-model` presents to programs: one data file each, in models/.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tally/core/base/result.hpp"
#include "tally/engine/channel/cpu_model_answers.hpp"
#include "tally/engine/channel/presented_files.hpp"

namespace tally::cpus {

using channel::Feature;
using channel::FeatureSet;

/// A cache with lines of 64 bytes.
struct Cache {
  enum class Content { none, data, code, both };  ///< the numbers of CPUID
  int level = 0;                                  ///< 0: no cache
  Content content = Content::none;
  std::uint32_t kib = 0, ways = 0;
  std::uint32_t threads = 1;  ///< hardware threads that share it
};

enum class Vendor { intel, amd };

/// The architectural performance counters of a hardware thread: leaf 0AH of CPUID.
struct Counters {
  std::uint32_t version = 0;  ///< 0: the processor has none
  std::uint32_t programmable = 0, fixed = 0;
  std::string_view events = {};  ///< the kernel's name for the processor's events: caps/pmu_name in /sys
};

/// The contents of a data file.
struct CpuModel {
  std::string_view name;    ///< as in --cpu-model
  std::string_view source;  ///< of the data
  Vendor vendor;
  std::string_view brand;  ///< at most 47 characters
  std::uint32_t family, model, stepping;
  std::uint32_t highest_leaf, highest_extended_leaf;
  std::uint32_t threads, threads_per_core;  ///< hardware threads of a package, and of a core
  Counters counters = {};
  FeatureSet features;
  Cache caches[4];  ///< in the order of CPUID
};

/// All models, sorted by name.
std::span<const CpuModel> models();

/// Returns the model with this name. Errors: bad_usage, with the names.
Result<const CpuModel*> named(std::string_view name);

/// Returns the name of a feature as in /proc/cpuinfo.
std::string_view name_of(Feature feature);

/// Returns the features that programs can use on this processor: those that need register state which the kernel has
/// not enabled (XCR0) are missing.
FeatureSet host_features();

/// Returns those of the features that can be used with these components of the register state (XCR0). Pure.
FeatureSet usable_features(FeatureSet features, std::uint64_t enabled_state);

/// Returns the names of the features that a program may use on the model and that `host` lacks. Features that only
/// describe speed do not count.
std::vector<std::string> missing_features(const CpuModel& model, FeatureSet host);

/// Returns the size of the XSAVE area for components of XCR0 on this processor, and the offset of each component.
struct StateLayout {
  std::uint32_t offset[8] = {};  ///< of components 2 to 7
};
StateLayout host_state_layout();

/// Returns what the engine needs of a model: among others all answers of CPUID. Pure.
channel::PresentedCpu present(const CpuModel& model, const StateLayout& layout);

/// Returns the answer of CPUID about the architectural counters. `missing`: a bit for each architectural event that
/// programs cannot count, in the order of the leaf. Without counters nothing. Pure.
std::optional<channel::CpuidLeaf> counters_leaf(const CpuModel& model, std::uint32_t missing);

/// Returns what programs read in files of /proc and /sys about a machine with one processor, the model; null: this
/// machine's, described by `cpuinfo`, the content of its /proc/cpuinfo. `library_cache`: that of the dynamic linker;
/// empty: the real one. Pure.
channel::PresentedFiles machine_files(const CpuModel* model, std::string_view cpuinfo,
                                      const std::string& library_cache);

}  // namespace tally::cpus
