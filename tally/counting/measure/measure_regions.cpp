#include "tally/counting/measure/measure_regions.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "tally/counting/records/records_memory.hpp"
#include "tally/linux/process/region_handoff.hpp"

namespace tally::measure {
namespace {

void take_regions(linux::Gathering& gathering, backend::Outcome& outcome) {
  for (const std::string& text : gathering.take()) {
    auto program = detail::are_records(text) ? detail::read_records(text) : result::read_regions(text);
    if (program) {
      if (program->regions.empty() && program->reason.empty()) continue;
      outcome.regions.push_back(std::move(*program));
    } else {
      outcome.notices.push_back("cannot show the regions of a program: the data that it passed is invalid: " +
                                program.error().message);
    }
  }
}

// The program's own counters are pinned. Events that lost their counters to these for a part of the time have no count.
std::vector<std::size_t> leave_out_lent(backend::Outcome& outcome) {
  std::vector<std::size_t> without_counter;
  if (outcome.regions.empty()) return without_counter;
  for (std::size_t i = 0; i < outcome.counts.size(); ++i) {
    Count& count = outcome.counts[i].count;
    if (count.trust != Trust::scaled) continue;
    count =
        absent(fmt::format("the program's regions used its counter: it counted for {:.3g} % of the time; use "
                           "`--passes` to count it in another run, or request fewer events in the regions",
                           running_percent(count).value_or(0)));
    without_counter.push_back(i);
  }
  return without_counter;
}

// Returns the requests (task-clock if there are no hardware events) for programs that let the command choose the events
// of their regions: one event or metric a line, by name.
std::string asked_of_programs(const std::vector<event::Event>& events, const std::vector<MetricChoice>& metrics) {
  std::string text;
  for (const event::Event& event : events) {
    if (event::has_modes(event::definition(event.id).kind)) text += "event " + event::name(event) + "\n";
  }
  const bool any_clock = std::any_of(events.begin(), events.end(),
                                     [](const event::Event& event) { return event.id == event::Id::task_clock; });
  if (text.empty() && any_clock) text = "event task-clock\n";
  for (const MetricChoice& metric : metrics) {
    const auto table = metric_table();
    const bool is_own =
        std::none_of(table.begin(), table.end(), [&](const auto& one) { return one.name == metric.name; });
    text += "metric " + (is_own ? metric.name + "=" + metric.formula.text() : metric.full_name()) + "\n";
  }
  return text;
}

}  // namespace

Result<backend::Outcome> run_with_regions(backend::Backend& backend, const backend::Order& order,
                                          std::vector<std::size_t>* without_counter) {
  if (order.target.command.empty()) return backend.run(order);
  auto gathering = linux::Gathering::open();
  // A program that finds no requests counts what it would without this command.
  const std::string asked = order.usual_events ? "" : asked_of_programs(order.events, order.metrics);
  if (gathering && !asked.empty()) (void)gathering->ask(asked);
  auto outcome = backend.run(order);
  if (!outcome) return outcome;
  if (gathering) {
    take_regions(*gathering, *outcome);
  } else {
    outcome->notices.push_back(gathering.error().message);
  }
  if (order.count() == nullptr || order.count()->multiplex) return outcome;
  auto places = leave_out_lent(*outcome);
  if (without_counter != nullptr) *without_counter = std::move(places);
  return outcome;
}

}  // namespace tally::measure
