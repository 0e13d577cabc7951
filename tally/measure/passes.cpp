#include "tally/measure/passes.hpp"

#include <fmt/format.h>

#include <utility>

#include "tally/measure/regions.hpp"

namespace tally::measure {
namespace {

backend::Request of_pass(const backend::Request& request, const event::Pass& pass) {
  backend::Request one = request;
  one.events.clear();
  for (const std::size_t place : pass) one.events.push_back(request.events[place]);
  return one;
}

void add(backend::Outcome& whole, backend::Outcome& part, const event::Pass& pass) {
  for (std::size_t i = 0; i < pass.size(); ++i) whole.counts[pass[i]] = std::move(part.counts[i]);
  whole.wait_status = part.wait_status;
  whole.ended = part.ended;
  whole.all_ended = part.all_ended;
  whole.usage = part.usage;
  whole.duration = part.duration;
  // Each execution hands over the same anew.
  if (whole.regions.empty()) whole.regions = std::move(part.regions);
  for (std::string& notice : part.notices) whole.notices.push_back(std::move(notice));
}

bool went_well(const backend::Outcome& outcome, const linux::Signals& signals) {
  return outcome.ended && outcome.all_ended && outcome.wait_status == 0 && !signals.interrupted_by();
}

}  // namespace

Result<backend::Outcome> run_passes(backend::Backend& backend, const backend::Request& request,
                                    const std::vector<event::Pass>& passes, const linux::Input& input) {
  input.rewind();
  if (passes.empty()) {
    auto outcome = run_with_regions(backend, request);
    request.signals->settle();
    return outcome;
  }
  backend::Outcome whole;
  for (const event::Event& event : request.events) {
    whole.counts.push_back(backend::event_count(event, absent("its pass was not executed")));
  }
  for (std::size_t i = 0; i < passes.size(); ++i) {
    if (i > 0) input.rewind();
    auto part = run_with_regions(backend, of_pass(request, passes[i]));
    request.signals->settle();
    if (!part && i == 0) return fail(part.error());
    if (!part) {
      whole.notices.push_back(fmt::format("pass {} of {}: {}", i + 1, passes.size(), part.error().message));
      break;
    }
    add(whole, *part, passes[i]);
    if (went_well(whole, *request.signals) || i + 1 == passes.size()) continue;
    whole.notices.push_back(fmt::format("{} of {} passes were executed", i + 1, passes.size()));
    break;
  }
  return whole;
}

}  // namespace tally::measure
