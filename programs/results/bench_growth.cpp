// The growth of a suite's counts over the last results of its history.
#include <fmt/format.h>

#include <algorithm>

#include "programs/results/bench_runner.hpp"
#include "programs/results/history_growth.hpp"
#include "tally/core/base/text.hpp"
#include "tally/tools/command/command.hpp"

namespace tally::results {

using namespace command;

void add_growth(std::vector<BenchOutcome>& outcomes, const result::History& history, int undecided) {
  constexpr std::size_t usual_results = 20;
  const std::vector<HistorySeries> all = series_of(history);
  for (BenchOutcome& outcome : outcomes) {
    if (!outcome.has_run) continue;
    const Benchmark& benchmark = *outcome.benchmark;
    std::vector<std::string> texts;
    const auto newest = std::find_if(history.entries.rbegin(), history.entries.rend(),
                                     [&](const auto& entry) { return entry.name == benchmark.name; });
    for (const HistorySeries& series : all) {
      // Series of other settings have ended.
      if (series.name != benchmark.name || series.values.back().entry != &*newest) continue;
      bool is_shown =
          std::ranges::any_of(outcome.rows, [&](const BenchOutcome::Row& row) { return row.event == series.event; });
      for (const auto& [limits, is_hard] : {std::pair{&benchmark.fail_above, true}, {&benchmark.warn_above, false}})
        for (const std::string& text : *limits) {
          if (!is_growth_limit(text)) continue;
          const auto limit = parse_growth_limit(text);
          if (!limit || !is_limited(series, *limit)) continue;
          is_shown = false;
          const auto value = [&](double level) { return value_text(static_cast<std::int64_t>(level), series.unit); };
          const auto row = [&](std::optional<double> before, double after) {
            return output::ComparedCount{.event = series.event,
                                         .unit = series.unit,
                                         .before = before,
                                         .after = after,
                                         .trust = std::string(name(series.values.back().count->trust))};
          };
          const auto growth = growth_of(series, limit->results);
          if (!growth) {
            const auto first = static_cast<double>(series.values.back().count->value.value_or(0));
            outcome.rows.push_back({series.event, {}, value(first), {}, limit->text, "new", row({}, first)});
            texts.push_back(fmt::format("{}: the first result with these settings in the history", series.event));
            continue;
          }
          const bool is_above = growth->relative() > limit->limit;
          const bool is_undecided = outcome.can_vary || !outcome.partial.empty();
          outcome.rows.push_back({series.event, value(growth->before), value(growth->after),
                                  growth->relative() == 0 ? "0" : fmt::format("{:+.2f} %", 100 * growth->relative()),
                                  limit->text,
                                  is_undecided ? "undecided"
                                  : !is_above  ? "passed"
                                  : is_hard    ? "failed"
                                               : "warning",
                                  row(growth->before, growth->after)});
          outcome.growth_decides |= is_above || is_undecided;
          if (is_undecided) {
            texts.push_back(
                outcome.partial.empty()
                    ? fmt::format("undecided: {}: one run, and another one may count something else: repeats = {}",
                                  series.event, repeats_that_decide)
                    : fmt::format("undecided: {}: {}", series.event, outcome.partial));
            if (is_hard && outcome.code == exit_ok) outcome.code = undecided;
            continue;
          }
          // A failed limit outranks a gate that is undecided.
          if (is_above && is_hard && (outcome.code == exit_ok || outcome.code == exit_not_comparable))
            outcome.code = exit_no;
          const std::string grown = fmt::format("{}: {}", series.event, growth_text(*growth));
          const auto function = outcome.largest.find(series.event);
          const bool has_step = std::ranges::any_of(
              growth->steps, [&](const SeriesChange& step) { return step.at + 1 == series.values.size(); });
          if (is_above)
            texts.push_back(fmt::format(
                "{}: {}; above {}{}", outcome.rows.back().verdict, grown, limit->text,
                has_step && function != outcome.largest.end() ? "; largest change: " + function->second : ""));
          else
            texts.push_back(grown);
        }
      if (!is_shown) continue;
      const auto growth = growth_of(series, usual_results);
      if (growth && growth->after != growth->before)
        texts.push_back(fmt::format("{}: {}", series.event, growth_text(*growth)));
    }
    outcome.growth = join(texts, "; ");
  }
}

}  // namespace tally::results
