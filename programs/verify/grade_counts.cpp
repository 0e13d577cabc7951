#include "programs/verify/grade_counts.hpp"

#include <algorithm>
#include <functional>

#include "programs/linux/small_pages.hpp"
#include "programs/verify/goals.hpp"
#include "tally/linux/process/spawn.hpp"

namespace tally::verify {
namespace {

using result::Check;
using result::Verdict;

std::vector<Trial> trials(bool quick) {
  std::vector<Trial> list;
  for (const workload::Workload& workload : workload::all()) {
    Trial trial{&workload, workload.usual};
    // Its answer is its exit code, and its instruction needs permission.
    if (workload.name == "region") continue;
    if (quick && trial.parameters.n == 1'000'000) trial.parameters.n = 100'000;
    list.push_back(trial);
  }
  return list;
}

constexpr const char* speculative_programs[] = {"fact3", "stride", "branches_random"};

class Verification {
 public:
  Verification(Bench& bench, const Options& options) : bench_(bench), options_(options) {
    for (const event::Event& event : options.events) {
      if (event.id == event::Id::user_page_faults) continue;  // has a goal of its own
      (known(event.id) ? ledger_.events : speculative_.events).push_back(event);
    }
  }

  Result<void> run(result::Verify& result) {
    auto first = alive(bench_, options_.events);
    if (!first) return fail(first.error());
    add(*std::move(first), result);
    // If a counter does not count, no other check is meaningful.
    if (result.checks.front().verdict == Verdict::fail) return {};
    const std::vector<Trial> list = trials(options_.quick);
    const int repeats = options_.quick ? 2 : 3;
    if (!ledger_.events.empty()) {
      if (const auto counted = count(list, repeats, ledger_, 0, 0.6); !counted) return fail(counted.error());
    }
    std::vector<Trial> speculative_trials;
    for (const char* name : speculative_programs) {
      if (has(name)) speculative_trials.push_back(usual(name));
    }
    if (!speculative_.events.empty() && !bench_.interrupted()) {
      if (const auto counted = count(speculative_trials, options_.quick ? 2 : 6, speculative_, 0.6, 0.7); !counted) {
        return fail(counted.error());
      }
    }
    const Scene scene{bench_, ledger_, options_.quick};
    if (!ledger_.events.empty()) {
      add(from_ledger(scene), result);
      add(inheritance(scene), result);
      add(repeated(scene), result);
      add(consistency(scene), result);
    }
    if (const auto ran = run_others(scene, result); !ran) return fail(ran.error());
    result.events = grades(scene, result.checks, speculative_);
    add_page_faults(result);
    return {};
  }

 private:
  void report_progress(const std::string& what, double share) const {
    if (options_.progress) options_.progress(what, share);
  }

  // Adds the checks of requested events; the others are dropped.
  void add(std::vector<Check> checks, result::Verify& result) {
    for (Check& check : checks) {
      const bool asked = check.event.empty() || check.goal == "G0" ||
                         std::any_of(options_.events.begin(), options_.events.end(), [&check](const event::Event& one) {
                           return check.event.starts_with(name_of(one.id));
                         });
      if (asked) result.checks.push_back(std::move(check));
    }
  }

  Result<void> count(const std::vector<Trial>& list, int repeats, Ledger& ledger, double from, double to) {
    for (std::size_t i = 0; i < list.size(); ++i) {
      report_progress(list[i].label(), from + (to - from) * static_cast<double>(i) / static_cast<double>(list.size()));
      Series series{list[i], {}};
      for (int run = 0; run < repeats && !bench_.interrupted(); ++run) {
        auto ran = bench_.run(list[i], ledger.events);
        if (!ran) return fail(ran.error());
        // An interrupted run is incomplete.
        if (!bench_.interrupted()) series.runs.push_back(*std::move(ran));
      }
      ledger.series.push_back(std::move(series));
      if (bench_.interrupted()) break;
    }
    return {};
  }

  // The grade of page faults follows from the verdict of their goal.
  static void add_page_faults(result::Verify& result) {
    for (const Check& check : result.checks) {
      if (check.goal != "T6") continue;
      result::GradedEvent graded;
      graded.event = event_name_of(event::Id::user_page_faults);
      graded.runs = check.runs;
      graded.source = "the kernel";
      graded.grade = check.verdict == Verdict::pass   ? result::EventGrade::exact
                     : check.verdict == Verdict::fail ? result::EventGrade::unusable
                                                      : result::EventGrade::speculative;
      graded.why = check.verdict == Verdict::pass ? "equal to what " + std::to_string(check.runs) + " programs touch"
                                                  : check.why;
      result.events.push_back(std::move(graded));
    }
  }

  Result<void> run_others(const Scene& scene, result::Verify& result) {
    struct Step {
      const char* what;
      Result<std::vector<Check>> (*answer)(const Scene&);
    };
    static constexpr Step steps[] = {{"reads by the program itself", region_by_reads},
                                     {"loops of twice the length", slopes},
                                     {"strides", strides},
                                     {"other programs on the processor", filter},
                                     {"multiplexed counters", multiplexing},
                                     {"retired loads and stores", retired_accesses},
                                     {"page faults", page_faults},
                                     {"intervals", intervals},
                                     {"rows for a period", samples},
                                     {"long counts", widths}};
    double share = 0.7;
    for (const Step& step : steps) {
      if (bench_.interrupted()) break;
      report_progress(step.what, share);
      share += 0.03;
      auto checks = step.answer(scene);
      if (!checks) return fail(checks.error());
      if (!bench_.interrupted()) add(*std::move(checks), result);
    }
    return {};
  }

  Bench& bench_;
  const Options& options_;
  Ledger ledger_, speculative_;
};

}  // namespace

bool is_graded(const event::Event& event) {
  const auto& others = speculative_events();
  if (event.id == event::Id::user_page_faults) return true;
  return event.mode == event::Mode::user && !event.encoding &&
         (known(event.id) || std::find(others.begin(), others.end(), event.id) != others.end());
}

std::vector<event::Event> all_events() {
  std::vector<event::Event> events;
  const auto add = [&events](event::Id id) {
    event::Event event;
    event.id = id;
    event.asked = event::definition(id).name;
    events.push_back(std::move(event));
  };
  for (const KnownEvent& known_event : known_events()) add(known_event.id);
  for (const event::Id id : speculative_events()) add(id);
  add(event::Id::user_page_faults);
  return events;
}

Result<result::Verify> verify(backend::Backend& backend, const Options& options, linux::Signals& signals) {
  auto bench = Bench::open(backend, signals);
  if (!bench) return fail(bench.error());
  result::Verify result;
  result.backend = backend.name();
  result.quick = options.quick;
  const linux::SmallPages small_pages;  // makes the number of page faults predictable
  const Nanoseconds start = linux::now();
  Verification verification(*bench, options);
  if (const auto ran = verification.run(result); !ran) return fail(ran.error());
  result.duration = linux::now() - start;
  result.runs = bench->runs();
  result.incomplete = bench->interrupted();
  std::stable_sort(result.checks.begin(), result.checks.end(), [](const Check& a, const Check& b) {
    const auto order = [](const std::string& goal) { return std::pair(goal.front(), std::stoi(goal.substr(1))); };
    return order(a.goal) < order(b.goal);
  });
  return result;
}

}  // namespace tally::verify
