// The PMU that programs find with `--pmu`: the events that they can open themselves.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "tally/counting/backend/engine/count/collect.hpp"
#include "tally/engine/channel/presented_pmu.hpp"
#include "tally/engine/cpus/cpu_model.hpp"
#include "tally/hardware/event/encoding.hpp"

namespace tally::backend::engine {

/// Returns the kernel's generic events that need a model.
const std::vector<event::Event>& modelled_kernel_events();

/// Returns the family whose event codes programs use. Of a presented Intel processor only the architectural events,
/// which all of them have with these codes. `model`: the processor that programs see; null: the real one.
event::Family event_family(const cpus::CpuModel* model);

/// Returns the events that the engine counts exactly, and those that these models count, with the encodings of the
/// kernel and of a processor. `model`: as for event_family().
channel::PresentedPmu presented_pmu(const cpus::CpuModel* model, const Modelling& modelling);

/// The code of ref-cycles for the kernel on Intel's processors, which have a counter for nothing else.
inline constexpr std::uint64_t ref_cycles_code = 0x0300;

/// An event of top-down analysis on Intel's processors, by the kernel's name.
struct SlotEvent {
  std::string_view name;  ///< empty: the kernel has none
  std::uint64_t config;
  std::int8_t all;  ///< how often it has the slots of all cycles, and of each class
  std::int8_t classes[channel::cycle_class_count];
};
inline constexpr std::uint64_t slots_code = 0x0400, first_metric = 0x8000;
/// Returns those of the processor that programs see. With a model of cycles programs can open them.
std::span<const SlotEvent> slot_events(const cpus::CpuModel* model);

/// Whether programs can open the event with this code of the processor.
bool has_code(const channel::PresentedPmu& pmu, std::uint64_t config);

/// Returns a bit for each architectural event of Intel's processors that programs cannot open, in the order of leaf 0AH
/// of CPUID.
std::uint32_t missing_architectural_events(const channel::PresentedPmu& pmu);

}  // namespace tally::backend::engine
