#include "tally/counting/measure/event_passes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include "tally/counting/measure/measure_regions.hpp"

namespace tally::measure {
namespace {

backend::Order of_pass(const backend::Order& order, const event::Pass& pass) {
  backend::Order one = order;
  one.events.clear();
  for (const std::size_t place : pass) one.events.push_back(order.events[place]);
  return one;
}

void add(backend::Outcome& whole, backend::Outcome& part, const event::Pass& pass) {
  for (std::size_t i = 0; i < pass.size(); ++i) whole.counts[pass[i]] = std::move(part.counts[i]);
  whole.wait_status = part.wait_status;
  whole.ended = part.ended;
  whole.all_ended = part.all_ended;
  whole.usage = part.usage;
  whole.duration = part.duration;
  // Every execution returns the same regions.
  if (whole.regions.empty()) whole.regions = std::move(part.regions);
  for (std::string& notice : part.notices) whole.notices.push_back(std::move(notice));
}

bool succeeded(const backend::Outcome& outcome, const linux::Signals& signals) {
  return outcome.ended && outcome.all_ended && outcome.wait_status == 0 && !signals.interrupted_by();
}

// Returns where to split a pass: as close to the middle as groups permit; 0 if it is one group.
std::size_t cut(const std::vector<event::Event>& events, const event::Pass& pass) {
  std::size_t best = 0;
  for (std::size_t i = 1; i < pass.size(); ++i) {
    const int group = events[pass[i]].group;
    if (group != 0 && group == events[pass[i - 1]].group) continue;
    if (best == 0 || i <= pass.size() / 2) best = i;
  }
  return best;
}

// Moves the events that lost their counters to regions into later passes, as many as necessary. Returns false if they
// are a single event or group already.
bool make_room(const std::vector<event::Event>& events, std::vector<event::Pass>& passes, std::size_t at,
               const std::vector<std::size_t>& lent) {
  event::Pass kept = passes[at], left;
  for (const std::size_t place : lent) left.push_back(passes[at][place]);
  std::erase_if(kept, [&](std::size_t one) { return std::find(left.begin(), left.end(), one) != left.end(); });
  if (kept.empty()) {
    const std::size_t half = cut(events, left);
    if (half == 0) return false;
    passes.emplace_back(left.begin() + static_cast<std::ptrdiff_t>(half), left.end());
    left.resize(half);
  }
  passes[at] = std::move(kept);
  passes.push_back(std::move(left));
  return true;
}

std::vector<std::size_t> all_indexes(const backend::Order& order) {
  std::vector<std::size_t> all(order.events.size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  return all;
}

Result<backend::Outcome> run_each(backend::Backend& backend, const backend::Order& order, Passes& planned,
                                  const linux::Input& input) {
  std::vector<event::Pass>& passes = planned.passes;
  const std::size_t asked = passes.size();
  backend::Outcome whole;
  for (const event::Event& event : order.events) {
    whole.counts.push_back(backend::event_count(event, absent("its pass was not executed")));
  }
  for (std::size_t i = 0; i < passes.size(); ++i) {
    if (i > 0) input.rewind();
    std::vector<std::size_t> lent;
    const event::Pass pass = passes[i];
    auto part = run_with_regions(backend, of_pass(order, pass), &lent);
    order.conditions.signals->settle();
    if (!part && i == 0) return fail(part.error());
    if (!part) {
      whole.notices.push_back(fmt::format("pass {} of {}: {}", i + 1, passes.size(), part.error().message));
      break;
    }
    add(whole, *part, pass);
    if (planned.make_room && !lent.empty()) (void)make_room(order.events, passes, i, lent);
    if (succeeded(whole, *order.conditions.signals) || i + 1 == passes.size()) continue;
    whole.notices.push_back(fmt::format("{} of {} passes were executed", i + 1, passes.size()));
    break;
  }
  if (passes.size() > asked) {
    whole.notices.push_back(
        fmt::format("the program's regions used counters that the events need: it was executed {} times instead of {}",
                    passes.size(), asked));
  }
  std::erase_if(passes, [](const event::Pass& pass) { return pass.empty(); });
  return whole;
}

}  // namespace

Result<backend::Outcome> run_passes(backend::Backend& backend, const backend::Order& order, Passes& passes,
                                    const linux::Input& input) {
  input.rewind();
  const bool is_one = passes.passes.empty();
  if (is_one && !passes.make_room) {
    auto outcome = run_with_regions(backend, order);
    order.conditions.signals->settle();
    return outcome;
  }
  if (is_one) passes.passes = {all_indexes(order)};
  auto outcome = run_each(backend, order, passes, input);
  if (passes.passes.size() == 1) passes.passes.clear();
  return outcome;
}

}  // namespace tally::measure
