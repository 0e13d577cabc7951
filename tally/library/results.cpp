// Computes the counts of each region from the threads' records, and subtracts the cost of reading the counters.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "tally/hardware/event/metrics.hpp"
#include "tally/library/thread.hpp"
#include "tally/linux/files/terminal.hpp"
#include "tally/output/text/regions.hpp"

namespace tally {
namespace {

using detail::Overhead;
using detail::Record;
using detail::Shared;

// A count is too small if the overhead varies and is at least this percentage of the raw count.
constexpr double too_much_percent = 10;

struct Sum {
  std::int64_t total = 0, least = 0, most = 0, read = 0, overhead = 0, each = 0, spread = 0;
  std::map<std::size_t, std::uint64_t> buckets;
};

struct Sums {
  std::uint64_t entries = 0, recursive = 0, dropped = 0, open = 0;
  std::vector<Sum> events;
};

void add(Sum& sum, const std::array<detail::Number, histogram_buckets>& buckets) {
  for (std::size_t i = 0; i < buckets.size(); ++i) {
    if (const std::int64_t entries = buckets[i].get(); entries > 0)
      sum.buckets[i] += static_cast<std::uint64_t>(entries);
  }
}

// Adds a record to the sums. `histograms` belongs to the record; null if none was requested for its region.
void add(Sums& sums, const Record& record, const Overhead& overhead, const detail::Histograms* histograms) {
  const std::int64_t entries = record.entries.get();
  const bool first = sums.entries == 0;
  sums.entries += static_cast<std::uint64_t>(entries);
  sums.recursive += static_cast<std::uint64_t>(record.recursive.get());
  sums.dropped += static_cast<std::uint64_t>(record.dropped.get());
  sums.open += __atomic_load_n(&record.depth, __ATOMIC_RELAXED);
  if (entries == 0) return;
  for (std::size_t i = 0; i < sums.events.size(); ++i) {
    Sum& sum = sums.events[i];
    const std::int64_t nested = record.inner.get() * overhead.nested[i];
    const std::int64_t subtracted = entries * overhead.own[i] + nested;
    const std::int64_t least = record.least[i].get() - overhead.own[i];
    const std::int64_t most = record.most[i].get() - overhead.own[i];
    sum.read += record.total[i].get();
    sum.overhead += subtracted;
    sum.total += record.total[i].get() - subtracted;
    sum.least = first ? least : std::min(sum.least, least);
    sum.most = first ? most : std::max(sum.most, most);
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

Count total_of(const Shared& shared, std::size_t event, const Sums& sums) {
  const backend::OwnEvent& own = shared.own[event];
  if (!own.absent.empty()) return absent(own.absent);
  const std::uint64_t all = sums.entries + sums.dropped;
  if (sums.entries == 0)
    return absent(all == 0 ? "no entry has ended"
                           : "no entry counts: a region around it ended first, its ends were read differently, or a "
                             "signal handler with "
                             "regions interrupted a read");
  const std::int64_t total = sums.events[event].total;
  Count count = detail::count_of(shared, event, total);
  if (sums.dropped == 0) return count;
  return downgraded(
      std::move(count), Trust::partial,
      fmt::format(
          "without {} of {} entries: begin and end were read differently, or a read failed or was interrupted by "
          "a signal handler with regions",
          sums.dropped, all));
}

RegionCounts counts_of(const Shared& shared, const Sums& sums) {
  RegionCounts counts{sums.entries, sums.recursive, sums.dropped, sums.open, {}, {}};
  for (std::size_t i = 0; i < shared.events.size(); ++i) {
    const Sum& sum = sums.events[i];
    RegionEvent event{
        event::event_name(shared.events[i]), total_of(shared, i, sums), {}, {}, sum.each, sum.spread, 0, false, {}};
    if (event.total.value) event.histogram = histogram_of(sum);
    if (sums.entries > 0 && shared.options.extremes && event.total.value) {
      event.least = sum.least;
      event.most = sum.most;
    }
    if (sum.read > 0) event.overhead_percent = 100 * static_cast<double>(sum.overhead) / static_cast<double>(sum.read);
    event.too_small = sum.spread > 0 && event.overhead_percent >= too_much_percent;
    counts.events.push_back(std::move(event));
  }
  counts.metrics = event::region_metrics(shared.events, counts.events, shared.metrics);
  return counts;
}

}  // namespace

Count detail::count_of(const Shared& shared, std::size_t event, std::int64_t value) {
  const backend::OwnEvent& own = shared.own[event];
  if (!own.absent.empty()) return absent(own.absent);
  Count count = shared.by_engine ? exact(value, own.source) : counted(value, own.source);
  if (shared.by_engine && !own.model.empty()) {
    count.trust = Trust::modelled;
    count.model = own.model;
  }
  return own.doubt.empty() ? count : downgraded(std::move(count), Trust::partial, own.doubt);
}

std::vector<RegionResult> detail::results_of(Shared& shared) {
  const std::lock_guard guard(shared.lock);
  std::vector<RegionResult> results;
  for (std::uint32_t name = 0; name < shared.names.size(); ++name) {
    const auto none = [&] { return Sums{0, 0, 0, 0, std::vector<Sum>(shared.events.size())}; };
    Sums all = none();
    RegionResult result{shared.names[name], {}, {}};
    for (const auto& thread : shared.threads) {
      Sums own = none();
      bool any = false;
      for (const Record& record : thread->records) {
        if (record.name != name) continue;
        const Overhead& overhead = shared.overhead[static_cast<std::size_t>(record.path)];
        const bool is_own = !thread->histograms.empty() && record.histograms != &thread->histograms.front();
        const detail::Histograms* const histograms = is_own ? record.histograms : nullptr;
        add(own, record, overhead, histograms);
        add(all, record, overhead, histograms);
        any = true;
      }
      if (any) result.threads.push_back({thread->number, counts_of(shared, own)});
    }
    result.all = counts_of(shared, all);
    results.push_back(std::move(result));
  }
  return results;
}

std::vector<RegionResult> Counters::regions() const { return detail::results_of(*shared_); }

void print(const RegionResult& result, std::FILE* to) {
  const int stream = fileno(to);
  const bool is_standard =
      stream == static_cast<int>(linux::Stream::output) || stream == static_cast<int>(linux::Stream::error);
  const std::string text = report::region_text(
      result, is_standard ? linux::terminal_columns(static_cast<linux::Stream>(stream)) : std::size_t{0});
  (void)std::fwrite(text.data(), 1, text.size(), to);
}

}  // namespace tally
