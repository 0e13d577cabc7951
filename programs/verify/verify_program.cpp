#include "programs/verify/verify_program.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "programs/verify/judge.hpp"
#include "tally/core/base/text.hpp"
#include "tally/core/stats/median.hpp"
#include "tally/linux/process/disturbance.hpp"
#include "tally/linux/process/spawn.hpp"

namespace tally::verify {
namespace {

using result::ComparedEvent;
using result::Verdict;

// All runs with one backend: the counts of each event.
struct Counted {
  std::vector<std::vector<Count>> events;
  std::vector<Nanoseconds> durations;
  bool has_threads = false;  // several of a process
};

Result<Counted> count(backend::Backend& backend, const ProgramOptions& options, int runs, linux::Signals& signals,
                      result::Verify& result) {
  backend::Order order;
  order.target.command = options.command;
  order.conditions = options.conditions;
  order.conditions.signals = &signals;
  order.count()->count_interrupts = true;
  const std::vector<event::Pass> passes = backend.plan(options.events, order.count()->count_interrupts).passes;
  Counted counted;
  counted.events.resize(options.events.size());
  for (int run = 0; run < runs && !signals.interrupted_by(); ++run) {
    for (const event::Pass& pass : passes) {
      order.events.clear();
      for (const std::size_t index : pass) order.events.push_back(options.events[index]);
      options.input.rewind();
      auto outcome = backend.run(order);
      if (!outcome) return fail(outcome.error());
      ++result.runs;
      // An interrupted run is incomplete.
      if (signals.interrupted_by()) break;
      for (std::size_t i = 0; i < pass.size() && i < outcome->counts.size(); ++i) {
        counted.events[pass[i]].push_back(std::move(outcome->counts[i].count));
      }
      counted.durations.push_back(outcome->duration);
      for (const result::Process& process : outcome->processes) counted.has_threads |= process.threads.size() > 1;
    }
  }
  return counted;
}

std::string why_unjudged(const std::vector<Count>& counts) {
  if (counts.empty()) return "not counted: interrupted";
  for (const Count& count : counts) {
    if (const std::string why = why_not_judged(count); !why.empty()) return why;
  }
  return "";
}

std::vector<std::int64_t> values_of(const std::vector<Count>& counts) {
  std::vector<std::int64_t> values;
  for (const Count& count : counts) values.push_back(*count.value);
  return values;
}

ComparedEvent concluded_event(ComparedEvent one, Verdict verdict, std::string why) {
  one.verdict = verdict;
  one.why = std::move(why);
  return one;
}

ComparedEvent compared(const event::Event& event, const std::vector<Count>& exact, const std::vector<Count>& other,
                       Nanoseconds longest, bool has_threads) {
  ComparedEvent one;
  one.event = name_of(event.id);
  if (const std::string why = why_unjudged(exact); !why.empty())
    return concluded_event(one, Verdict::inconclusive, why);
  const std::vector<std::int64_t> exact_values = values_of(exact);
  const auto [least, most] = std::minmax_element(exact_values.begin(), exact_values.end());
  one.exact = stats::whole_median(exact_values);
  one.spread = *most - *least;
  if (const std::string why = why_unjudged(other); !why.empty())
    return concluded_event(one, Verdict::inconclusive, why);
  one.other = stats::whole_median(values_of(other));
  const Nature nature = known(event.id)->nature;
  const bool other_is_exact = other.front().trust == Trust::exact;
  // The deviation of each run that remains, and the median of them.
  std::vector<std::int64_t> left, faults, interrupts;
  std::int64_t unknown = 0;
  for (const Count& count : other) {
    Explained explanation;
    if (count.correction && !other_is_exact) {
      explanation = explained(count, {}, nature, longest);
    } else if (!other_is_exact && nature == Nature::additive) {
      // Without a known correction: at most the interrupts of the clock.
      explanation.unknown_interrupts = 1 + longest.count() / 1'000'000;
    }
    faults.push_back(explanation.by_faults);
    interrupts.push_back(explanation.by_interrupts);
    unknown = std::max(unknown, explanation.unknown_interrupts);
    left.push_back(*count.value - explanation.by_faults - explanation.by_interrupts - *one.exact);
  }
  one.by_faults = stats::whole_median(faults);
  one.by_interrupts = stats::whole_median(interrupts);
  one.left = stats::whole_median(left);
  if (nature == Nature::accesses && !other_is_exact) {
    return concluded_event(one, Verdict::inconclusive,
                           "processors count these as instructions, micro-operations or dispatches");
  }
  const std::int64_t slack = other_is_exact || nature == Nature::immune ? 0 : start_and_stop;
  one.allowed = slack + one.spread + unknown;
  const std::int64_t least_allowed = -slack - one.spread;
  if (*one.left >= least_allowed && *one.left <= one.allowed) return concluded_event(one, Verdict::pass, "");
  std::string why = fmt::format("{} are left over", thousands(*one.left));
  if (has_threads)
    return concluded_event(one, Verdict::inconclusive, why + ", but how its threads wait differs between runs");
  if (event.id == event::Id::instructions && *one.left > 0 && !other_is_exact) {
    why += "; a PMU that counts each iteration of a REP would differ so (goal G6)";
  }
  return concluded_event(one, Verdict::fail, why);
}

}  // namespace

backend::Conditions shared_conditions(bool stepped) {
  backend::Conditions conditions;
  conditions.repeatable = true;
  conditions.shows_real_machine = true;
  if (!stepped) return conditions;
  conditions.hides_vdso = true;
  conditions.processor = linux::quietest_processor();
  return conditions;
}

bool is_known(const event::Event& event) {
  return event.mode == event::Mode::user && !event.encoding && known(event.id) != nullptr;
}

Result<result::Verify> compare_program(backend::Backend& exact, backend::Backend& other, const ProgramOptions& options,
                                       linux::Signals& signals) {
  result::Verify result;
  result.command = options.command;
  result.backend = exact.name();
  result.other = other.name();
  const Nanoseconds start = linux::now();
  const auto by_exact = count(exact, options, options.runs, signals, result);
  if (!by_exact) return fail(by_exact.error());
  const auto by_other = count(other, options, options.other_runs, signals, result);
  if (!by_other) return fail(by_other.error());
  Nanoseconds longest{0};
  for (const Nanoseconds nanoseconds : by_other->durations) longest = std::max(longest, nanoseconds);
  const bool has_threads = by_exact->has_threads || by_other->has_threads;
  for (std::size_t i = 0; i < options.events.size(); ++i) {
    result.compared.push_back(
        compared(options.events[i], by_exact->events[i], by_other->events[i], longest, has_threads));
  }
  result.duration = linux::now() - start;
  result.incomplete = signals.interrupted_by().has_value();
  return result;
}

}  // namespace tally::verify
