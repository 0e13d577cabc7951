#include "programs/results/loop_differences.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <regex>
#include <utility>

#include "programs/results/bench_frameworks.hpp"
#include "tally/core/base/text.hpp"

namespace tally::results {
namespace {

// Two runs, of which the second repeats the loop in its full length again.
struct Repetition {
  LoopSample once, twice;
  LoopLength length;

  std::int64_t iterations() const { return twice.report.all_iterations - once.report.all_iterations; }
};

const RegionEvent* event_of(const std::vector<RegionResult>& regions, const EventName& name) {
  const RegionCounts* const counts = entered_region(regions);
  if (counts == nullptr) return nullptr;
  const auto event = std::ranges::find(counts->events, name, &RegionEvent::event);
  return event == counts->events.end() ? nullptr : &*event;
}

// A count of a run: of the loop, or of all threads and processes.
std::optional<std::int64_t> value_in(const result::Stat& stat, const EventName& name, bool is_of_all) {
  if (is_of_all) {
    const auto event = std::ranges::find(stat.events, name, [](const auto& candidate) { return candidate.total.name; });
    return event == stat.events.end() ? std::nullopt : event->total.count.value;
  }
  const std::vector<RegionResult> regions = regions_of(stat);
  const RegionEvent* const event = event_of(regions, name);
  return event == nullptr ? std::nullopt : event->total.value;
}

std::optional<std::int64_t> value_of(const Repetition& repetition, const EventName& name, bool is_of_all) {
  const auto once = value_in(repetition.once.stat, name, is_of_all);
  const auto twice = value_in(repetition.twice.stat, name, is_of_all);
  if (!once || !twice) return std::nullopt;
  return *twice - *once;
}

std::int64_t per_iterations(std::int64_t count, std::int64_t iterations, const Framework& framework) {
  return (count * framework.scale + iterations / 2) / iterations;
}

class Differences {
 public:
  Differences(const Benchmark& benchmark, const LoopIterations& baseline, const RunLoop& run)
      : benchmark_(benchmark), baseline_(baseline), run_(run) {}

  Result<result::Stat> count() {
    LoopLength length;
    auto small = repeat(length);
    if (!small) return fail(small.error());
    if (entered_region(regions_of(small->once.stat)) == nullptr)
      return fail(Code::cannot_measure, "the program did not reach the benchmark");
    const bool is_of_all = has_others(small->once.stat, *benchmark_.framework);
    if (small->once.report.repetitions == small->twice.report.repetitions)
      return of_fixed_repetitions(*small, is_of_all);
    // A single iteration: it may only be so long because of what is executed once.
    length.seconds = small->iterations() > 1 ? 2 * length.seconds : 1.5 * small->once.report.first_seconds;
    auto large = repeat(length);
    if (large && large->iterations() <= small->iterations()) {
      // google-benchmark multiplies the number by ten as long as the loop is much too short.
      constexpr double longer = 10;
      length.seconds *= longer;
      large = repeat(length);
    }
    if (!large) return fail(large.error());
    if (small->iterations() < 1 || large->iterations() < 1) return differs();
    if (is_of_all && large->iterations() <= small->iterations())
      return fail(Code::cannot_measure, "the benchmark sets Iterations(), and has threads or processes",
                  "remove Iterations()");
    // Counts of iterations that differ are compared with those of the same iterations.
    if (is_of_all || !baseline_ || large->iterations() <= small->iterations() || is_uniform(*small, *large))
      return result_of(*small, *large, is_of_all);
    small = repeat_until(*std::move(small), baseline_->first);
    if (small) large = repeat_until(*std::move(large), baseline_->second);
    if (!small || !large) return fail(small ? large.error() : small.error());
    if (small->iterations() < 1 || large->iterations() < 1) return differs();
    auto result = result_of(*small, *large, false);
    if (small->iterations() == baseline_->first && large->iterations() == baseline_->second) return result;
    for (result::Event& event : result.events) {
      event.total.count.trust = Trust::partial;
      event.total.count.reason = "its iterations differ, and their number is not that of the baseline";
    }
    result.runs.front().counts.clear();
    for (const result::Event& event : result.events) result.runs.front().counts.push_back(event.total);
    return result;
  }

 private:
  static tl::unexpected<Error> differs() {
    return fail(Code::cannot_measure, "the number of iterations differs from run to run",
                "give the benchmark a fixed seed if it has none, or write Iterations() for it");
  }

  Result<Repetition> repeat(LoopLength length) const {
    length.repetitions = 1;
    auto once = run_(length);
    if (!once) return fail(once.error());
    length.repetitions = 2;
    auto twice = run_(length);
    if (!twice) return fail(twice.error());
    return Repetition{*std::move(once), *std::move(twice), length};
  }

  // Changes the length until the loop has this number of iterations, which is nearly proportional.
  Result<Repetition> repeat_until(Repetition repetition, std::int64_t iterations) const {
    for (int attempts = 3; attempts > 0 && repetition.iterations() != iterations; --attempts) {
      LoopLength length = repetition.length;
      length.seconds *= static_cast<double>(iterations) / static_cast<double>(repetition.iterations());
      auto next = repeat(length);
      if (!next || next->iterations() < 1) return next;
      repetition = *std::move(next);
    }
    return repetition;
  }

  // Whether each iteration counts the same.
  static bool is_uniform(const Repetition& small, const Repetition& large) {
    return std::ranges::all_of(small.once.stat.events, [&](const result::Event& event) {
      const auto less = value_of(small, event.total.name, false), more = value_of(large, event.total.name, false);
      return event.total.count.trust != Trust::exact || !less || !more ||
             (*more - *less) % (large.iterations() - small.iterations()) == 0;
    });
  }

  // The program sets the number of repetitions: the counts of the largest entry.
  Result<result::Stat> of_fixed_repetitions(const Repetition& repetition, bool is_of_all) const {
    const std::vector<RegionResult> regions = regions_of(repetition.once.stat);
    if (is_of_all || repetition.once.report.threads > 1)
      return fail(Code::cannot_measure, "the benchmark sets Repetitions(), and has threads or processes",
                  "remove Repetitions()");
    return finish(repetition.once.stat, false, repetition.once.report.iterations, 0,
                  [&](const result::EventCount& total) -> std::optional<std::int64_t> {
                    const RegionEvent* const event = event_of(regions, total.name);
                    if (event == nullptr || !event->most) return std::nullopt;
                    return per_iterations(*event->most, repetition.once.report.iterations, *benchmark_.framework);
                  });
  }

  result::Stat result_of(const Repetition& small, const Repetition& large, bool is_of_all) const {
    const std::int64_t least = small.iterations(), most = large.iterations();
    return finish(small.once.stat, is_of_all, least, most,
                  [&](result::EventCount& total) -> std::optional<std::int64_t> {
                    const auto of_least = value_of(small, total.name, is_of_all);
                    const auto of_most = value_of(large, total.name, is_of_all);
                    if (!of_least || !of_most) return std::nullopt;
                    // The program may set the number of iterations.
                    const bool has_more = most > least, is_negative = *of_most < (has_more ? *of_least : 0);
                    if (has_more && !is_negative)
                      return per_iterations(*of_most - *of_least, most - least, *benchmark_.framework);
                    // Modelled misses may be less by chance.
                    if (is_negative && total.count.trust != Trust::modelled) {
                      total.count.trust = Trust::partial;
                      total.count.reason = "the runs of which it is the difference did different work";
                    }
                    return per_iterations(std::max<std::int64_t>(0, *of_most), most, *benchmark_.framework);
                  });
  }

  template <class CountOf>
  result::Stat finish(result::Stat stat, bool is_of_all, std::int64_t least, std::int64_t most,
                      CountOf count_of) const {
    std::erase_if(stat.events, [&](result::Event& event) {
      if (!is_of_all)
        if (const RegionEvent* const counted = event_of(regions_of(stat), event.total.name))
          event.total.count = counted->total;
      event.total.count.value = count_of(event.total);
      event.summary.reset();
      return !event.total.count.value;
    });
    const bool has_one_thread =
        std::ranges::all_of(regions_of(stat), [](const RegionResult& region) { return region.threads.size() <= 1; });
    keep_events_only(stat, benchmark_, !is_of_all && has_one_thread);
    stat.notices.push_back(fmt::format(
        "counts of {} of the timed loop, {}{}", benchmark_.framework->counted,
        most > least ? fmt::format("by the difference between {} and {} iterations", thousands(least), thousands(most))
                     : fmt::format("from {}", plural(least, "iteration", "iterations")),
        is_of_all ? ", in all threads and processes of the program" : ""));
    return stat;
  }

  const Benchmark& benchmark_;
  const LoopIterations& baseline_;
  const RunLoop& run_;
};

}  // namespace

LoopIterations iterations_of(const result::Stat& stat) {
  for (const std::string& notice : stat.notices) {
    std::string digits = notice;
    std::erase(digits, ',');
    std::smatch match;
    if (std::regex_search(digits, match, std::regex("difference between ([0-9]{1,15}) and ([0-9]{1,15}) iterations")))
      return std::pair(parse_integer(match[1].str()).value_or(0), parse_integer(match[2].str()).value_or(0));
  }
  return std::nullopt;
}

Result<result::Stat> count_differences(const Benchmark& benchmark, const LoopIterations& baseline, const RunLoop& run) {
  return Differences(benchmark, baseline, run).count();
}

}  // namespace tally::results
