#include <algorithm>
#include <tuple>

#include "programs/results/rank_sums.hpp"
#include "tally/core/count/formula.hpp"

namespace tally::results {
namespace {

/// Metrics are computed again from the sums: those of the ranks cannot be added.
class MetricAdder {
 public:
  explicit MetricAdder(RankSums& sums) : sums_(sums) {}

  template <class Metric>
  void add(const std::string& region, std::size_t rank, const std::vector<Metric>& metrics) {
    for (const Metric& metric : metrics) {
      // Comparisons of two events are in the rows of a table, which have no room here.
      if (!metric.per.empty() || (!metric.ratio.value && !metric.asked)) continue;
      add(region, rank, metric.name, metric.unit, metric.formula, metric.ratio);
    }
  }

 private:
  void add(const std::string& region, std::size_t rank, const std::string& name, const std::string& unit,
           const std::string& formula, const Ratio& ratio) {
    auto row = std::ranges::find_if(
        sums_.metrics, [&](const RankMetric& other) { return other.region == region && other.name == name; });
    if (row == sums_.metrics.end())
      row = sums_.metrics.insert(row, RankMetric{region, name, unit, formula, of_sums(region, formula)});
    // The engine lengthens times.
    if (!ratio.value || (ratio.trust == Trust::partial && formula.find("_time") != std::string::npos)) {
      if (row->ranks == 0 && !row->of_sums.value) row->of_sums.reason = ratio.reason;
      return;
    }
    const double value = *ratio.value;
    const bool is_first = row->ranks++ == 0;
    if (is_first || value < row->least) std::tie(row->least, row->least_rank) = std::pair(value, rank);
    if (is_first || value > row->most) std::tie(row->most, row->most_rank) = std::pair(value, rank);
  }

  Ratio of_sums(const std::string& region, const std::string& text) const {
    const auto formula = Formula::parse(text);
    if (!formula) return {{}, Trust::absent, formula.error().message, ""};
    std::vector<Count> counts;
    for (const std::string& event : formula->names()) {
      const auto row = std::ranges::find_if(
          sums_.rows, [&](const RankRow& other) { return other.region == region && other.event.text() == event; });
      if (row == sums_.rows.end() && !event.ends_with("_time"))
        return {{}, Trust::absent, "without a count of " + event, ""};
      if (row == sums_.rows.end() || row->unit == Unit::nanoseconds)
        return {{}, Trust::absent, "ranks run at the same time: their times do not add up", ""};
      counts.push_back(row->sum);
    }
    return formula->evaluate(counts);
  }

  RankSums& sums_;
};

}  // namespace

void add_metrics_of_ranks(RankSums& sums, const std::vector<StoredResult>& results) {
  MetricAdder adder(sums);
  const auto add = [&](std::size_t rank, const result::ProgramRegions& program) {
    for (const RegionResult& region : program.regions) adder.add(region.name, rank, region.all.metrics);
  };
  for (std::size_t rank = 0; rank < results.size(); ++rank) {
    if (const auto* const program = std::get_if<result::ProgramRegions>(&results[rank].result)) add(rank, *program);
    const auto* const stat = std::get_if<result::Stat>(&results[rank].result);
    if (stat == nullptr) continue;
    adder.add("", rank, stat->metrics);
    // Several programs of a rank have metrics of their own.
    if (!stat->runs.empty() && stat->runs.back().regions.size() == 1) add(rank, stat->runs.back().regions.front());
  }
}

}  // namespace tally::results
