// Subtracts what page faults and interrupts add to counts of instructions and branches.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "tally/counting/backend/backend.hpp"
#include "tally/linux/machine/pmu_devices.hpp"
#include "tally/linux/perf/fault_cost.hpp"
#include "tally/linux/perf/perf_event.hpp"

namespace tally::backend::perf {

/// Returns the code of the event that counts hardware interrupts, for perf_event_open's raw type; nothing if none is
/// known for the processor. Source: rust-lang/measureme; Intel's and AMD's event tables agree.
std::optional<std::uint64_t> interrupt_code(event::Family family, const std::string& pmu);

/// Returns the event that counts hardware interrupts on this PMU; nothing if none is known.
std::optional<event::Event> interrupt_event(const linux::PmuDevice& core);

/// Whether page faults and interrupts may add to a count of this event.
bool is_correctable(const event::Event& event);

/// Counts user-mode page faults along with the events of an order, and on request hardware interrupts, which occupy a
/// counter of the PMU. Measures on this machine, before the command runs, how much each adds.
class Corrections {
 public:
  /// Measures what a page fault adds to an event.
  using Measure = std::function<std::optional<linux::FaultCost>(const linux::PerfEvent&)>;

  /// Cost: nothing unless the order has a user-mode count that such returns add to; about 300 µs for each of these.
  Corrections(const Order& order, const std::vector<linux::PmuDevice>& cores,
              const Measure& measure = linux::count_page_faults);
  Corrections(const Corrections&) = delete;
  Corrections& operator=(const Corrections&) = delete;

  /// Returns the order with the additional events.
  const Order& order() const { return order_; }

  /// Adds corrections to the counts of that order, and removes the additional events.
  void apply(Outcome& outcome) const;

 private:
  struct Added {
    std::size_t place;  // index of the event
    std::int64_t each;
  };
  void apply(std::vector<EventCount>& counts) const;

  Order order_;
  std::size_t asked_;
  std::vector<Added> added_;
  std::size_t page_faults_ = 0;            // index of its event
  std::optional<std::size_t> interrupts_;  // the same
  std::vector<std::string> notices_;
};

}  // namespace tally::backend::perf
