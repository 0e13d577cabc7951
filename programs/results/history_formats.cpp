// The formats of `tally history`, one row each.
#include "programs/results/history_format.hpp"

namespace tally::results {
namespace {

constexpr HistoryFormat formats_of_history[] = {
    {table_of(Kind::stat), history_table},
    {{Kind::stat, "json", ".json", "one JSON object with every series and change"}, history_json},
    {{Kind::stat, "benchmark-action", "", "the last values, for github-action-benchmark (customSmallerIsBetter)"},
     benchmark_action_json},
    {{Kind::stat, "bencher", "", "the last values, in Bencher Metric Format"}, bencher_json},
};

}  // namespace

std::span<const HistoryFormat> history_formats() { return formats_of_history; }

}  // namespace tally::results
