// A backend for tests that executes nothing: its counts are those of each program's formula, modified by a mutant.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "programs/verify/bench.hpp"
#include "programs/verify/known_events.hpp"
#include "tally/counting/backend/backend.hpp"

namespace tally::verify {

/// What a mutant knows about a count.
struct MutantInput {
  event::Id id;
  const Trial& trial;
  const backend::Order& order;
  workload::Counts known;
  int run;  ///< number of earlier executions

  std::string_view program() const { return trial.workload->name; }
  bool is(event::Id other) const { return id == other; }
};

class Scripted final : public backend::Backend {
 public:
  std::function<void(const MutantInput&, std::int64_t&)> value = [](const MutantInput&, std::int64_t&) {};
  std::function<void(const MutantInput&, Count&)> count = [](const MutantInput&, Count&) {};
  std::function<void(const Trial&, backend::Outcome&)> outcome = [](const Trial&, backend::Outcome&) {};
  std::function<void(std::vector<std::int64_t>& full, std::int64_t& rest)> windows = [](auto&, auto&) {};
  std::function<bool(event::Id)> has = [](event::Id) { return true; };
  std::size_t counters = 64;   ///< that count at the same time
  Trust trust = Trust::exact;  ///< of known events
  std::int64_t switches = 20;

  backend::Traits traits() const override { return {.name = "scripted"}; }
  std::optional<Error> refuses(const backend::Order& /*order*/) const override { return std::nullopt; }

  backend::Outlook outlook(const event::Event& event) const override {
    if (!has(event.id)) return {Trust::absent, "scripted: not here", Source::none};
    return {known(event.id) ? trust : Trust::counted, "", CountSource::pmu("scripted")};
  }

  event::Plan plan(const std::vector<event::Event>& events, bool) const override {
    event::Plan plan;
    for (std::size_t i = 0; i < events.size(); ++i) {
      if (i % counters == 0) plan.passes.emplace_back();
      plan.passes.back().push_back(i);
    }
    return plan;
  }

  Result<backend::Outcome> run(const backend::Order& order) override {
    const auto trial = trial_of(order.target.command.front());
    if (!trial) return fail(Code::not_found, "scripted: " + order.target.command.front());
    backend::Outcome result = counted(order, *trial, order.count() != nullptr && order.count()->multiplex);
    if (order.timing().interval) {
      for (int i = 0; i < 4; ++i)
        result.intervals.push_back({1, std::chrono::milliseconds(10 * (i + 1)), quarter(i, result)});
    }
    if (order.windows() != nullptr) make_windows(*order.windows(), result);
    outcome(*trial, result);
    ++runs_;
    return result;
  }

 private:
  backend::Outcome counted(const backend::Order& order, const Trial& trial, bool multiplex) {
    backend::Outcome result;
    result.usage.involuntary_switches = switches;
    result.duration = std::chrono::milliseconds(1);
    if (trial.workload->name == "region") result.wait_status = 102 << 8;
    for (const event::Event& event : order.events)
      result.counts.push_back(backend::event_count(event, counted_of(event, trial, order, multiplex)));
    return result;
  }

  // Splits all of the first event into windows of the period.
  void make_windows(const backend::Order::Windows& asked, const backend::Outcome& result) const {
    result::WindowsHead head;
    head.events = result.counts;
    if (asked.sink.on_begin) asked.sink.on_begin(head);
    const auto every = static_cast<std::int64_t>(asked.triggers.front().every);
    std::int64_t left = result.counts.front().count.value.value_or(0);
    std::vector<std::int64_t> lengths;
    for (; left >= every; left -= every) lengths.push_back(every);
    windows(lengths, left);
    for (const std::int64_t length : lengths) {
      result::Window window;
      window.length = length;
      window.trigger = 0;
      asked.sink.on_window(window);
    }
    result::Window rest;
    rest.length = left;
    asked.sink.on_window(rest);
  }

  static std::vector<backend::EventCount> quarter(int i, const backend::Outcome& result) {
    std::vector<backend::EventCount> part = result.counts;
    for (backend::EventCount& one : part) {
      if (!one.count.value) continue;
      const std::int64_t each = *one.count.value / 4;
      one.count.value = i == 3 ? *one.count.value - 3 * each : each;
    }
    return part;
  }

  static std::int64_t speculative(event::Id id, const Trial& trial) {
    const auto n = static_cast<std::int64_t>(trial.parameters.n);
    if (id == event::Id::cycles) return 3 * n + 100;
    if (id == event::Id::l1d_load_misses)
      return static_cast<std::int64_t>(trial.parameters.bytes * std::min<std::uint64_t>(trial.parameters.stride, 64) /
                                       64);
    if (id == event::Id::user_page_faults && trial.workload->page_faults) {
      return static_cast<std::int64_t>(trial.workload->page_faults(trial.parameters));
    }
    if (id == event::Id::retired_loads || id == event::Id::retired_stores) return n;
    return 5000;
  }

  Count counted_of(const event::Event& event, const Trial& trial, const backend::Order& order, bool multiplex) {
    if (!has(event.id)) return absent("scripted: not here");
    const KnownEvent* its = known(event.id);
    const MutantInput input{event.id, trial, order, trial.known(), runs_};
    std::int64_t number = its ? its->value(input.known) : speculative(event.id, trial);
    value(input, number);
    Count made = exact(number, CountSource::pmu("scripted"));
    made.trust = its ? trust : Trust::counted;
    if (multiplex && order.events.size() > counters) {
      // A counter that runs part of the time counts part of the events.
      const Reading reading{number / 4, std::chrono::milliseconds(400), std::chrono::milliseconds(100)};
      made = from_reading(reading, CountSource::pmu("scripted"));
    }
    count(input, made);
    return made;
  }

  int runs_ = 0;
};

}  // namespace tally::verify
