#include "tally/measure/regions.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "tally/linux/process/region_handoff.hpp"

namespace tally::measure {
namespace {

void take_regions(linux::Gathering& gathering, backend::Outcome& outcome) {
  for (const std::string& text : gathering.take()) {
    auto program = result::read_regions(text);
    if (program) {
      outcome.regions.push_back(std::move(*program));
    } else {
      outcome.notices.push_back("regions of a program are not shown, it handed over something else: " +
                                program.error().message);
    }
  }
}

// A program's own counters are pinned: what they left to the others for a part of the time is no count.
std::vector<std::size_t> leave_out_lent(const backend::Request& request, backend::Outcome& outcome) {
  std::vector<std::size_t> lent;
  if (outcome.regions.empty() || request.multiplex) return lent;
  for (std::size_t i = 0; i < outcome.counts.size(); ++i) {
    Count& count = outcome.counts[i].count;
    if (count.trust != Trust::scaled) continue;
    count =
        absent(fmt::format("the program's regions needed its counter: it counted for {:.3g} % of the time; "
                           "`--passes` makes room where there is any; else "
                           "ask for fewer events in the regions",
                           running_percent(count).value_or(0)));
    lent.push_back(i);
  }
  return lent;
}

// For programs that leave it to the command what their regions count. One event or metric a line, as it is asked for by
// name.
std::string asked_of_programs(const backend::Request& request) {
  std::string text;
  if (request.usual_events) return text;
  for (const event::Event& event : request.events) {
    if (event::has_modes(event::definition(event.id).kind)) text += "event " + event::name(event) + "\n";
  }
  for (const MetricChoice& metric : request.metrics) {
    const auto table = metric_table();
    const bool is_own =
        std::none_of(table.begin(), table.end(), [&](const auto& one) { return one.name == metric.name; });
    text += "metric " + metric.name + (is_own ? "=" + metric.formula.text() : metric.mode) + "\n";
  }
  return text;
}

}  // namespace

Result<backend::Outcome> run_with_regions(backend::Backend& backend, const backend::Request& request,
                                          std::vector<std::size_t>* lent) {
  if (request.command.empty()) return backend.run(request);
  auto gathering = linux::Gathering::open();
  // Who finds nothing there counts what it would without this command.
  if (const std::string asked = asked_of_programs(request); gathering && !asked.empty()) (void)gathering->ask(asked);
  auto outcome = backend.run(request);
  if (!outcome) return outcome;
  if (!gathering) {
    outcome->notices.push_back(gathering.error().message);
    return outcome;
  }
  take_regions(*gathering, *outcome);
  auto places = leave_out_lent(request, *outcome);
  if (lent != nullptr) *lent = std::move(places);
  return outcome;
}

}  // namespace tally::measure
