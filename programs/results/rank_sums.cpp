#include "programs/results/rank_sums.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "tally/core/base/text.hpp"
#include "tally/core/count/region_reasons.hpp"

namespace tally::results {
namespace {

constexpr const char* entries = "entries";

/// What one rank counted: by region and event, in the order of the file.
class RankCounts {
 public:
  struct RegionCount {
    std::string region;
    EventName event;
    Unit unit;
    Count count;
  };

  void add(const std::string& region, const EventName& event, Unit unit, const Count& count) {
    const auto earlier = std::ranges::find_if(all, [&](const RegionCount& other) {
      return other.region == region && other.event == event && other.unit == unit;
    });
    if (earlier == all.end())
      all.push_back({region, event, unit, count});
    else
      earlier->count = earlier->count + count;
  }
  void add(const result::ProgramRegions& program) {
    for (const RegionResult& region : program.regions) {
      add(region.name, {entries, std::nullopt}, Unit::events,
          exact(static_cast<std::int64_t>(region.all.entries), Source::none));
      for (const RegionEvent& event : region.all.events)
        add(region.name, event.event, Unit::events, usable_total(event));
    }
  }

  std::vector<RegionCount> all;
};

class RankAdder {
 public:
  void add(const std::string& name, const RankCounts& counts) {
    sums_.names.push_back(name);
    events_.emplace_back();
    for (const RankCounts::RegionCount& count : counts.all) events_.back().insert(count.event.text());
    for (const RankCounts::RegionCount& count : counts.all) add(sums_.names.size() - 1, count);
  }

  std::size_t ranks() const { return sums_.names.size(); }

  RankSums finish() {
    // Regions that the first rank lacks would be after those that it has, one event at a time.
    std::stable_sort(sums_.rows.begin(), sums_.rows.end(),
                     [&](const RankRow& a, const RankRow& b) { return regions_[a.region] < regions_[b.region]; });
    for (RankRow& row : sums_.rows) {
      add_absent(row);
      if (row.ranks == 0) continue;
      row.mean /= static_cast<double>(row.ranks);
      if (row.without_value != 0)
        row.sum =
            downgraded(std::move(row.sum), Trust::partial,
                       plural(static_cast<std::int64_t>(row.without_value), "rank has", "ranks have") + " no value");
    }
    return std::move(sums_);
  }

 private:
  /// A rank that counts an event and did not enter a region has counted nothing in it.
  void add_absent(RankRow& row) {
    const auto& with_row = ranks_of_[{row.region, row.event.text()}];
    for (std::size_t rank = 0; rank < sums_.names.size(); ++rank) {
      if (with_row.contains(rank)) continue;
      const bool is_counted = row.event.base == entries || events_[rank].contains(row.event.text());
      if (!row.region.empty() && is_counted)
        add_value(row, rank, exact(0, Source::none));
      else
        row.without_value++;
    }
  }

  void add_value(RankRow& row, std::size_t rank, const Count& count) {
    const std::int64_t value = *count.value;
    const bool is_first = row.ranks++ == 0;
    if (is_first || value < row.least) std::tie(row.least, row.least_rank) = std::pair(value, rank);
    if (is_first || value > row.most) std::tie(row.most, row.most_rank) = std::pair(value, rank);
    // A region that was not entered changes neither the sum nor its source.
    if (is_first)
      row.sum = count;
    else if (value != 0 || count.trust != Trust::exact)
      row.sum = row.sum + count;
    row.mean += static_cast<double>(value);
  }

  void add(std::size_t rank, const RankCounts::RegionCount& of) {
    regions_.try_emplace(of.region, of.region.empty() ? 0 : regions_.size() + 1);
    auto row = std::ranges::find_if(
        sums_.rows, [&](const RankRow& other) { return other.region == of.region && other.event == of.event; });
    if (row == sums_.rows.end()) row = sums_.rows.insert(row, RankRow{of.region, of.event, of.unit});
    ranks_of_[{of.region, of.event.text()}].insert(rank);
    if (!of.count.value) {
      row->without_value++;
      if (row->ranks == 0) row->sum = of.count;
      return;
    }
    add_value(*row, rank, of.count);
  }

  RankSums sums_;                                                                  // with sums in `mean`
  std::vector<std::set<std::string>> events_;                                      // of each rank
  std::map<std::pair<std::string, std::string>, std::set<std::size_t>> ranks_of_;  // by region and event
  std::map<std::string, std::size_t> regions_;
};

std::string early_end_of(const result::Stat& stat) {
  const result::Run* const run = stat.runs.empty() ? nullptr : &stat.runs.back();
  if (run != nullptr && run->signal) return "killed by " + signal_name(*run->signal);
  if (run != nullptr && run->exit_code.value_or(0) != 0) return fmt::format("exit code {}", *run->exit_code);
  if (!stat.incomplete) return "";
  return stat.interrupted_by ? "interrupted by " + signal_name(*stat.interrupted_by) : "incomplete";
}

std::string rank_name(std::optional<std::int32_t> rank, const std::string& file) {
  return rank ? fmt::format("rank {}", *rank) : file;
}

}  // namespace

RankSums sums_of_ranks(const std::vector<StoredResult>& results, bool of_functions) {
  RankAdder adder;
  std::vector<EarlyEnd> early_ends;
  for (const StoredResult& named : results) {
    RankCounts counts;
    if (const auto* const program = std::get_if<result::ProgramRegions>(&named.result)) {
      counts.add(*program);
      adder.add(rank_name(program->rank, named.name), counts);
      continue;
    }
    const auto* const stat = std::get_if<result::Stat>(&named.result);
    if (stat == nullptr) continue;
    for (const result::Event& event : stat->events)
      counts.add("", event.total.name, event.total.unit, event.total.count);
    std::optional<std::int32_t> rank;
    if (!stat->runs.empty())
      for (const result::ProgramRegions& program : stat->runs.back().regions) {
        counts.add(program);
        if (program.rank) rank = program.rank;
      }
    if (std::string how = early_end_of(*stat); !how.empty()) early_ends.push_back({adder.ranks(), std::move(how)});
    adder.add(rank_name(rank, named.name), counts);
  }
  RankSums sums = adder.finish();
  if (of_functions) std::erase_if(sums.rows, [](const RankRow& row) { return row.event.base == entries; });
  sums.of_functions = of_functions;
  sums.early_ends = std::move(early_ends);
  return sums;
}

}  // namespace tally::results
