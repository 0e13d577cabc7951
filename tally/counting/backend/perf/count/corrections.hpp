// What page faults and interrupts add to counts of instructions and branches: counted beside them, and taken off.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "tally/counting/backend/backend.hpp"
#include "tally/linux/perf/fault_cost.hpp"
#include "tally/linux/perf/perf_event.hpp"
#include "tally/linux/perf/pmu_devices.hpp"

namespace tally::backend::perf {

/// The code of the event that counts hardware interrupts, for perf_event_open's raw type. Nothing where a processor has
/// none that is known. Source: rust-lang/measureme; Intel's and AMD's event tables agree.
std::optional<std::uint64_t> interrupt_code(event::Family family, const std::string& pmu);

/// The event that counts hardware interrupts on this PMU; nothing where none is known.
std::optional<event::Event> interrupt_event(const linux::PmuDevice& core);

/// Whether page faults and interrupts may add to a count of this event.
bool is_correctable(const event::Event& event);

/// Counts user-mode page faults beside the events of a order, and hardware interrupts where that was asked for:
/// those take a counter of the PMU. What each adds is measured here, on this machine, before anything runs.
class Corrections {
 public:
  /// How what a page fault adds to an event is measured.
  using Measure = std::function<std::optional<linux::FaultCost>(const linux::PerfEvent&)>;

  /// Cost: nothing unless a count of user mode that such returns add to is asked for; for each of these some 300 µs.
  Corrections(const CountOrder& order, const std::vector<linux::PmuDevice>& cores,
              const Measure& measure = linux::count_page_faults);
  Corrections(const Corrections&) = delete;
  Corrections& operator=(const Corrections&) = delete;

  /// What is to be counted: the order, with what is counted beside.
  const CountOrder& order() const { return order_; }

  /// Gives the counts of that order their corrections, and takes away what was not asked for.
  void apply(Counts& outcome) const;

 private:
  struct Added {
    std::size_t place;  // of the event
    std::int64_t each;
  };
  void apply(std::vector<EventCount>& counts) const;

  CountOrder order_;
  std::size_t asked_;
  std::vector<Added> added_;
  std::size_t page_faults_ = 0;            // its place
  std::optional<std::size_t> interrupts_;  // the same
  std::vector<std::string> notices_;
};

}  // namespace tally::backend::perf
