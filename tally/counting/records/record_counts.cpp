#include "tally/counting/records/record_counts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <optional>

#include "tally/hardware/event/count_metrics.hpp"

namespace tally::detail {
namespace {

// A count is too small if the overhead varies and is at least this percentage of the raw count.
constexpr double too_much_percent = 10;

struct Sum {
  std::int64_t total = 0, read = 0, overhead = 0, each = 0, spread = 0;
  std::optional<std::int64_t> least, most;  // nothing if they are not kept
  std::map<std::size_t, std::uint64_t> buckets;
};

struct Sums {
  std::uint64_t entries = 0, recursive = 0, dropped = 0, open = 0;
  std::vector<Sum> events;
  std::uint64_t unknown = 0;
};

void add(Sum& sum, const std::array<Number, histogram_buckets>& buckets) {
  for (std::size_t i = 0; i < buckets.size(); ++i) {
    if (const std::int64_t entries = buckets[i].get(); entries > 0)
      sum.buckets[i] += static_cast<std::uint64_t>(entries);
  }
}

// Adds a record to the sums. `histograms` belongs to the record; null if none was requested for its region.
void add(Sums& sums, const Record& record, const Overhead& overhead, const Histograms* histograms) {
  const std::int64_t entries = record.entries.get();
  sums.entries += static_cast<std::uint64_t>(entries);
  sums.recursive += static_cast<std::uint64_t>(record.recursive.get());
  sums.dropped += static_cast<std::uint64_t>(record.dropped.get());
  sums.open += __atomic_load_n(&record.depth, __ATOMIC_RELAXED);
  sums.unknown |= static_cast<std::uint64_t>(record.unknown.get());
  if (entries == 0) return;
  for (std::size_t i = 0; i < sums.events.size(); ++i) {
    Sum& sum = sums.events[i];
    const std::int64_t nested = record.inner.get() * overhead.nested[i];
    const std::int64_t subtracted = entries * overhead.own[i] + nested;
    const std::int64_t least = record.least[i].get(), most = record.most[i].get();
    sum.read += record.total[i].get();
    sum.overhead += subtracted;
    sum.total += record.total[i].get() - subtracted;
    if (least <= most) {
      sum.least = std::min(sum.least.value_or(std::numeric_limits<std::int64_t>::max()), least - overhead.own[i]);
      sum.most = std::max(sum.most.value_or(std::numeric_limits<std::int64_t>::min()), most - overhead.own[i]);
    }
    sum.each = std::max(sum.each, overhead.own[i] + nested / entries);
    sum.spread = std::max(sum.spread, overhead.own_spread[i]);
    if (histograms != nullptr) add(sum, (*histograms)[i]);
  }
}

std::vector<RegionBucket> histogram_of(const Sum& sum) {
  std::vector<RegionBucket> histogram;
  for (const auto& [bucket, entries] : sum.buckets)
    histogram.push_back({bucket_begin(bucket), bucket_end(bucket), entries});
  return histogram;
}

Count total_of(const CountedEvents& counted, std::size_t event, const Sums& sums, std::string_view if_open) {
  Count count = counted.zeros[event];
  if (!count.value) return count;
  const std::uint64_t all = sums.entries + sums.dropped;
  if (sums.entries == 0)
    return absent(all == 0 ? "no entry has ended"
                           : "no entry counts: a region around it ended first, its ends were read differently, or a "
                             "signal handler with "
                             "regions interrupted a read");
  count.value = sums.events[event].total;
  if (sums.unknown >> event & 1) count = downgraded(std::move(count), Trust::partial, unknown_amounts);
  if (sums.open > 0 && !if_open.empty()) count = downgraded(std::move(count), Trust::partial, std::string(if_open));
  if (sums.dropped == 0) return count;
  return downgraded(
      std::move(count), Trust::partial,
      fmt::format(
          "without {} of {} entries: begin and end were read differently, or a read failed or was interrupted by "
          "a signal handler with regions",
          sums.dropped, all));
}

RegionCounts counts_of(const CountedEvents& counted, const Sums& sums, std::string_view if_open) {
  RegionCounts counts{sums.entries, sums.recursive, sums.dropped, sums.open, {}, {}};
  for (std::size_t i = 0; i < counted.events.size(); ++i) {
    const Sum& sum = sums.events[i];
    RegionEvent event{event::event_name(counted.events[i]),
                      total_of(counted, i, sums, if_open),
                      {},
                      {},
                      sum.each,
                      sum.spread,
                      0,
                      false,
                      {}};
    if (event.total.value) event.histogram = histogram_of(sum);
    if (sum.least && event.total.value) {
      event.least = sum.least;
      event.most = sum.most;
    }
    if (sum.read > 0) event.overhead_percent = 100 * static_cast<double>(sum.overhead) / static_cast<double>(sum.read);
    const bool is_uncertain = event.total.value && (sum.spread > 0 || *event.total.value < 0);
    event.too_small = is_uncertain && event.overhead_percent >= too_much_percent;
    counts.events.push_back(std::move(event));
  }
  counts.metrics = event::region_metrics(counted.events, counts.events, counted.metrics);
  return counts;
}

}  // namespace

std::vector<RegionResult> results_of(const CountedEvents& counted, const std::vector<std::string>& names,
                                     const std::vector<ThreadRecords>& threads, std::string_view if_open) {
  std::vector<RegionResult> results;
  for (std::uint32_t name = 0; name < names.size(); ++name) {
    const auto none = [&] { return Sums{0, 0, 0, 0, std::vector<Sum>(counted.events.size()), 0}; };
    Sums all = none();
    RegionResult result{names[name], {}, {}};
    for (const ThreadRecords& thread : threads) {
      Sums own = none();
      bool any = false;
      for (const auto& [record, histograms] : thread.records) {
        if (record->name != name) continue;
        const Overhead& overhead = counted.overhead[static_cast<std::size_t>(record->path)];
        add(own, *record, overhead, histograms);
        add(all, *record, overhead, histograms);
        any = true;
      }
      if (any) result.threads.push_back({thread.thread, counts_of(counted, own, if_open)});
    }
    result.all = counts_of(counted, all, if_open);
    results.push_back(std::move(result));
  }
  return results;
}

}  // namespace tally::detail
