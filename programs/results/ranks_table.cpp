#include <fmt/format.h>

#include "programs/results/rank_sums.hpp"
#include "tally/core/base/foreign_text.hpp"
#include "tally/core/base/text.hpp"
#include "tally/output/analysis/profile_names.hpp"
#include "tally/output/kit/csv_rows.hpp"
#include "tally/output/kit/footnotes.hpp"
#include "tally/output/kit/grid.hpp"
#include "tally/output/kit/metric_text.hpp"

namespace tally::results {
namespace {

/// The name of a region; empty if `last`, the one above, is the same.
std::string region_name(const std::string& region, std::string& last) {
  const std::string name = region.empty() ? "[whole program]" : region;
  if (name == last) return "";
  last = name;
  return cut_names({name}).front();
}

std::string metrics_table(const RankSums& sums, Footnotes& notes, std::size_t terminal) {
  if (sums.metrics.empty()) return "";
  Grid grid({{sums.rows_of(), Align::left, usual_name_width},
             {"metric"},
             {"of the sums", Align::right},
             {"min", Align::right},
             {"in"},
             {"max", Align::right},
             {"in"},
             {"ranks", Align::right},
             {"trust"}});
  std::string last;
  for (const RankMetric& metric : sums.metrics) {
    Count trust;
    trust.trust = metric.of_sums.trust;
    trust.reason = metric.of_sums.reason;
    trust.model = metric.of_sums.model;
    const auto of_any = [&](const std::string& text) { return metric.ranks != 0 ? text : ""; };
    grid.add({region_name(metric.region, last), metric.name, metric_text(metric.of_sums.value, metric.unit),
              of_any(metric_text(metric.least, metric.unit)), of_any(sums.names[metric.least_rank]),
              of_any(metric_text(metric.most, metric.unit)), of_any(sums.names[metric.most_rank]),
              std::to_string(metric.ranks), notes.cell(trust)});
  }
  return "\n" + grid.text(terminal);
}

}  // namespace

std::string ranks_table(const RankSums& sums, std::size_t terminal) {
  Grid grid({{sums.rows_of(), Align::left, usual_name_width},
             {"event"},
             {"sum", Align::right},
             {"min", Align::right},
             {"in"},
             {"max", Align::right},
             {"in"},
             {"mean", Align::right},
             {"imbalance", Align::right},
             {"ranks", Align::right},
             {"trust"}});
  Footnotes notes;
  for (const RankRow& row : sums.rows) notes.announce(row.sum);
  std::string last;
  for (const RankRow& row : sums.rows) {
    const std::string name = region_name(row.region, last);
    if (row.ranks == 0) {
      grid.add({name, row.event.text(), "-", "", "", "", "", "", "", "0", notes.cell(row.sum)});
      continue;
    }
    const auto imbalance = row.imbalance();
    grid.add({name, row.event.text(), row.sum.value ? value_text(*row.sum.value, row.unit) : "-",
              value_text(row.least, row.unit), sums.names[row.least_rank], value_text(row.most, row.unit),
              sums.names[row.most_rank], value_text(static_cast<std::int64_t>(row.mean + 0.5), row.unit),
              imbalance ? percent_text(100 * *imbalance) : "", std::to_string(row.ranks), notes.cell(row.sum)});
  }
  const std::string metrics = metrics_table(sums, notes, terminal), below = notes.text();
  std::string ends;
  for (const EarlyEnd& end : sums.early_ends)
    ends += fmt::format("{} ended early, and its counts with it: {}\n", sums.names[end.rank], end.how);
  return ForeignText(fmt::format("{}\n{}\n{}{}{}",
                                 plural(static_cast<std::int64_t>(sums.names.size()), "rank", "ranks"), ends,
                                 grid.text(terminal), metrics, below.empty() ? "" : "\n" + below))
      .in_lines();
}

std::string ranks_csv(const RankSums& sums) {
  std::string text =
      fmt::format("{},event,ranks,sum,min,min_rank,max,max_rank,mean,imbalance,trust,reason\n", sums.rows_of());
  for (const RankRow& row : sums.rows) {
    const bool any = row.ranks != 0;
    const auto of_any = [any](const auto& value) { return any ? fmt::format("{}", value) : ""; };
    text +=
        csv_row({row.region, row.event.text(), std::to_string(row.ranks), csv_text(row.sum.value), of_any(row.least),
                 any ? sums.names[row.least_rank] : "", of_any(row.most), any ? sums.names[row.most_rank] : "",
                 of_any(row.mean), csv_text(row.imbalance()), std::string(name(row.sum.trust)), row.sum.reason},
                ",") +
        "\n";
  }
  for (const RankMetric& metric : sums.metrics) {
    const auto of_any = [&](const auto& value) { return metric.ranks != 0 ? fmt::format("{}", value) : ""; };
    text += csv_row({metric.region, metric.name, std::to_string(metric.ranks), csv_text(metric.of_sums.value),
                     of_any(metric.least), of_any(sums.names[metric.least_rank]), of_any(metric.most),
                     of_any(sums.names[metric.most_rank]), "", "", std::string(name(metric.of_sums.trust)),
                     metric.of_sums.reason},
                    ",") +
            "\n";
  }
  return text;
}

}  // namespace tally::results
