#include "programs/results/bench_check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "programs/results/history_growth.hpp"
#include "tally/core/base/text.hpp"
#include "tally/core/count/metric.hpp"
#include "tally/hardware/event/event.hpp"
#include "tally/hardware/event/generic_events.hpp"
#include "tally/output/analysis/gates.hpp"

namespace tally::results {
namespace {

/// Collects the errors of one benchmark.
class BenchmarkCheck {
 public:
  BenchmarkCheck(const Benchmark& benchmark, std::vector<Error>& errors) : benchmark_(benchmark), errors_(errors) {}

  void run(const OptionCheck& check_options) {
    read_events();
    if (const auto checked = check_options(benchmark_.setting_options()); !checked) add(checked.error());
    for (const std::vector<std::string>* const gates : {&benchmark_.fail_above, &benchmark_.warn_above})
      for (const std::string& text : *gates) {
        if (is_growth_limit(text)) {
          if (const auto limit = parse_growth_limit(text); !limit) add(limit.error());
          continue;
        }
        const auto gate = output::parse_gate(text, true);
        if (gate)
          check_event_of(*gate);
        else
          add(gate.error());
      }
  }

 private:
  void add(Error error) {
    error.message = fmt::format("benchmark '{}': {}", printable(benchmark_.name), error.message);
    errors_.push_back(std::move(error));
  }

  void read_events() {
    for (const std::string& list : benchmark_.events) {
      const auto events = event::parse_lists({list});
      if (!events) add(events.error());
      if (!events) continue;
      for (const event::Event& event : *events) events_.push_back(event::event_name(event).text());
    }
  }

  /// The events of a benchmark without `events`, and those of its regions, depend on the machine and the program.
  void check_event_of(const output::Gate& gate) {
    const bool is_of_region = !gate.function.empty() && !benchmark_.is_profile;
    if (parse_metrics({gate.event}) || (is_of_region && gate.event == "entries")) return;
    const auto event = event::parse(gate.event);
    if (!event) return add(about(gate, event.error()));
    if (const auto suits = output::check_unit(gate, counts_time(*event)); !suits) add(suits.error());
    if (benchmark_.events.empty() || is_of_region) return;
    if (const auto found = output::check_event(gate, events_, "its list 'events'"); !found) add(found.error());
  }

  static bool counts_time(const event::Event& event) {
    return static_cast<std::size_t>(event.id) < event::all().size() &&
           event::definition(event.id).unit == Unit::nanoseconds;
  }

  static Error about(const output::Gate& gate, Error error) {
    error.message = fmt::format("gate '{}': {}", printable(gate.text), error.message);
    return error;
  }

  const Benchmark& benchmark_;
  std::vector<Error>& errors_;
  std::vector<std::string> events_;  ///< full names
};

}  // namespace

bool has_growth_limit(const std::vector<Benchmark>& suite) {
  return std::ranges::any_of(suite, [](const Benchmark& benchmark) {
    return std::ranges::any_of(benchmark.fail_above, is_growth_limit) ||
           std::ranges::any_of(benchmark.warn_above, is_growth_limit);
  });
}

Result<void> check_suite(const std::vector<Benchmark>& suite, const OptionCheck& check_options) {
  std::vector<Error> errors;
  for (const Benchmark& benchmark : suite) BenchmarkCheck(benchmark, errors).run(check_options);
  if (!errors.empty()) return fail(output::joined_errors(errors));
  return {};
}

}  // namespace tally::results
