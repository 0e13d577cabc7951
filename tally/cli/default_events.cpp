#include "tally/cli/default_events.hpp"

#include <algorithm>
#include <utility>

#include "tally/counting/backend/software.hpp"

namespace tally::cli {
namespace {

// Whether the kernel lets this user count an event of it, in this process.
bool kernel_counts(const event::Event& event) {
  for (const backend::KernelCount& count : backend::KernelCounters({event}).read())
    if (count.os_errno != 0) return false;
  return true;
}

// Keeps those events that the kernel counts for running processes, and adds task-clock. Users without permission for
// the kernel get the page faults of user mode.
std::vector<event::Event> for_running_processes(std::vector<event::Event> events) {
  const bool may_count_kernel = kernel_counts(*event::parse("page-faults"));
  std::vector<event::Event> chosen;
  for (event::Event& event : events) {
    const bool is_software = event::definition(event.id).kind == event::Kind::software;
    if (event.id == event::Id::duration_time) chosen.push_back(*event::parse("task-clock"));
    if (is_software && !backend::kernel_event(event.id) && event.id != event::Id::duration_time) continue;
    if (event.id == event::Id::page_faults && !may_count_kernel) event = *event::parse("page-faults:u");
    if (event.id == event::Id::context_switches && !may_count_kernel) continue;
    chosen.push_back(std::move(event));
  }
  return chosen;
}

using event::Id;
constexpr Id interval_events[] = {Id::instructions, Id::cycles,      Id::branches,         Id::branch_misses, Id::loads,
                                  Id::stores,       Id::page_faults, Id::context_switches, Id::task_clock};

}  // namespace

std::vector<event::Event> default_events(const backend::Backend& backend, const backend::Target& target, bool kernel,
                                         bool in_intervals) {
  std::vector<event::Event> events = backend.default_set();
  if (target.attachment.any()) events = for_running_processes(std::move(events));
  if (in_intervals)
    std::erase_if(events, [](const event::Event& event) { return !std::ranges::count(interval_events, event.id); });
  for (event::Event& event : events)
    if (kernel && event::has_modes(event::definition(event.id).kind)) event.mode = event::Mode::both;
  return events;
}

}  // namespace tally::cli
