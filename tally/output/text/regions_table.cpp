#include "tally/output/kinds/regions_format.hpp"
#include "tally/output/kinds/stat_format.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

#include "tally/core/base/text.hpp"
#include "tally/core/count/region_reasons.hpp"
#include "tally/output/kit/csv_rows.hpp"
#include "tally/output/kit/grid.hpp"
#include "tally/output/kit/metric_text.hpp"

namespace tally::output {
namespace {

// Wrapped, and left out last: without it modelled counts look like exact ones.
Column trust_column() { return {"trust", Align::left, 0, false, true, true}; }

std::string remark(Trust trust, const std::string& model, const std::string& reason) {
  std::string word(name(trust));
  if (trust == Trust::modelled && !model.empty()) word = "model " + printable(model);
  if (trust == Trust::partial && !model.empty()) word += " model " + printable(model);
  return reason.empty() ? word : fmt::format("{}: {}", word, printable(reason));
}

// The requested metrics; the others are shown in the rows of events.
std::string asked_metrics(const RegionCounts& counts, std::size_t terminal) {
  Grid grid({{"metric"}, {"value", Align::right}, formula_column("formula"), trust_column()});
  bool any = false;
  for (const RegionMetric& metric : counts.metrics) {
    if (!metric.asked) continue;
    any = true;
    grid.add({metric.name, metric_text(metric.ratio.value, metric.unit), metric.formula,
              remark(metric.ratio.trust, metric.ratio.model, metric.ratio.reason)});
  }
  return any ? grid.text(terminal) : "";
}

constexpr std::size_t most_buckets = 20;
constexpr std::size_t widest_bar = 40;

// Limits the buckets to the rows of a screen: merges neighbours by powers of two if there are more.
std::vector<RegionBucket> shown(const std::vector<RegionBucket>& all) {
  if (all.size() <= most_buckets) return all;
  std::vector<RegionBucket> rows;
  for (const RegionBucket& bucket : all) {
    if (rows.empty() || std::bit_width(static_cast<std::uint64_t>(rows.back().least)) !=
                            std::bit_width(static_cast<std::uint64_t>(bucket.least))) {
      rows.push_back(bucket);
    } else {
      rows.back().most = bucket.most;
      rows.back().entries += bucket.entries;
    }
  }
  return rows;
}

std::string range(const RegionBucket& bucket) {
  if (bucket.least == bucket.most) return thousands(bucket.least);
  return fmt::format("{} to {}", thousands(bucket.least), thousands(bucket.most));
}

std::string histogram_text(const RegionEvent& event, std::size_t terminal) {
  if (event.histogram.empty()) return {};
  const std::vector<RegionBucket> rows = shown(event.histogram);
  std::uint64_t highest = 0;
  for (const RegionBucket& row : rows) highest = std::max(highest, row.entries);
  Grid grid({{event.event.text() + " of an entry", Align::right}, {"entries", Align::right}, {""}});
  for (const RegionBucket& row : rows) {
    const auto width = static_cast<std::size_t>(
        std::ceil(static_cast<double>(row.entries) * widest_bar / static_cast<double>(highest)));
    grid.add({range(row), thousands(static_cast<std::int64_t>(row.entries)), std::string(width, '#')});
  }
  return grid.text(terminal);
}

std::string thread_text(const result::ProgramRegions& program, std::int32_t thread) {
  const auto found = program.openmp_numbers.find(thread);
  return found == program.openmp_numbers.end() ? std::to_string(thread)
                                               : fmt::format("{} (OpenMP {})", thread, found->second);
}

// The counts of a region in each of its threads.
std::string threads_text(const result::ProgramRegions& program, const RegionResult& region, std::size_t terminal) {
  Grid grid({{"thread", Align::right},
             {"entries", Align::right},
             {"event"},
             {"total", Align::right},
             {"per entry", Align::right},
             trust_column()});
  for (const RegionThread& thread : region.threads) {
    std::string id = thread_text(program, thread.thread);
    std::string entries = thousands(static_cast<std::int64_t>(thread.counts.entries));
    for (const RegionEvent& event : thread.counts.events) {
      grid.add({std::exchange(id, ""), std::exchange(entries, ""), event.event.text(),
                number_or_dash(event.total.value), per_entry_text(event, thread.counts.entries), trust_text(event)});
    }
  }
  return grid.text(terminal);
}

// How many events from `first` on are absent for the same reason, such as the causes of cycles; 0: that one has a
// count.
std::size_t absent_alike(const std::vector<RegionEvent>& events, std::size_t first) {
  std::size_t n = 0;
  while (first + n < events.size() && !events[first + n].total.value &&
         events[first + n].total.reason == events[first].total.reason)
    ++n;
  return n;
}

// Collects the rows of a region, or of one thread's part of it.
class RegionRows {
 public:
  RegionRows(std::string run, std::string pid, std::string command, std::string region)
      : run_(std::move(run)), pid_(std::move(pid)), command_(std::move(command)), region_(std::move(region)) {}

  void add(const RegionCounts& counts, const std::string& tid) {
    const auto entries = static_cast<std::int64_t>(counts.entries);
    add_row(tid, "entries", exact(entries, Source::none));
    for (const RegionEvent& event : counts.events)
      add_row(tid, event.event.text(), event.total, event.least, event.most);
    for (const RegionMetric& metric : counts.metrics) {
      if (metric.asked) add_row(tid, metric);
    }
    for (const RegionEvent& event : counts.events) {
      for (const RegionBucket& bucket : event.histogram) {
        add_row(tid, fmt::format("{} {}-{}", event.event.text(), bucket.least, bucket.most),
                exact(static_cast<std::int64_t>(bucket.entries), Source::none));
      }
    }
  }

  std::vector<std::vector<std::string>> rows;

 private:
  using Value = std::optional<std::int64_t>;

  void add_row(const std::string& tid, const std::string& event, const Count& count, const Value& least = {},
               const Value& most = {}) {
    const auto text = [](const Value& value) { return value ? std::to_string(*value) : ""; };
    rows.push_back({run_, "", pid_, tid, "", region_, event, text(count.value), std::string(name(count.trust)), "", "",
                    count.model, count.reason, command_, "", "", text(least), text(most)});
  }

  void add_row(const std::string& tid, const RegionMetric& metric) {
    rows.push_back({run_, "", pid_, tid, "", region_, metric.name,
                    metric.ratio.value ? fmt::format("{}", *metric.ratio.value) : "",
                    std::string(name(metric.ratio.trust)), "", "", metric.ratio.model, metric.ratio.reason, command_,
                    "", "", "", ""});
  }

  std::string run_, pid_, command_, region_;
};

}  // namespace

std::string trust_text(const RegionEvent& event) {
  if (event.too_small) return too_small_reason(event);
  return remark(event.total.trust, event.total.model, event.total.reason);
}

std::string per_entry_text(const RegionEvent& event, std::uint64_t entries) {
  if (!event.total.value || entries == 0) return "-";
  const double each = static_cast<double>(*event.total.value) / static_cast<double>(entries);
  const auto hundredths = std::llround(std::abs(each) * 100);
  return fmt::format("{}{}.{:02}", each < 0 ? "-" : "", thousands(hundredths / 100), hundredths % 100);
}

std::string number_or_dash(const std::optional<std::int64_t>& value) { return value ? thousands(*value) : "-"; }

std::string entries_text(const RegionResult& region) {
  std::string text = plural(static_cast<std::int64_t>(region.all.entries), "entry", "entries");
  if (region.all.recursive > 0) text += fmt::format(", plus {} recursive", region.all.recursive);
  if (region.all.dropped > 0) text += fmt::format(", {} dropped", region.all.dropped);
  if (region.all.open > 0) text += fmt::format(", {} not ended", region.all.open);
  if (region.threads.size() > 1) text += fmt::format(", {} threads", region.threads.size());
  return text;
}

std::string region_text(const RegionResult& region, std::size_t terminal) {
  std::string text = fmt::format("{}: {}", printable(region.name), entries_text(region));
  Grid grid({{"event"},
             {"total", Align::right},
             {"per entry", Align::right},
             {"least", Align::right},
             {"most", Align::right},
             formula_column("per"),
             trust_column()});
  const bool is_one = region.all.entries == 1;  // whose count the total is
  const std::vector<RegionEvent>& events = region.all.events;
  for (std::size_t i = 0; i < events.size();) {
    const RegionEvent& event = events[i];
    const std::size_t same = absent_alike(events, i);
    grid.add({same < 3 ? event.event.text() : fmt::format("{} and {} more", event.event.text(), same - 1),
              number_or_dash(event.total.value), is_one ? "" : per_entry_text(event, region.all.entries),
              is_one ? "" : number_or_dash(event.least), is_one ? "" : number_or_dash(event.most),
              row_metric_text(region.all, event.event), trust_text(event)});
    i += same < 3 ? 1 : same;
  }
  text += "\n" + grid.text(terminal) + asked_metrics(region.all, terminal);
  for (const RegionEvent& event : region.all.events) text += histogram_text(event, terminal);
  return text;
}

std::string regions_table(const result::ProgramRegions& program, std::size_t terminal, bool per_thread) {
  const std::string rank = program.rank ? fmt::format(", MPI rank {}", *program.rank) : "";
  std::string text =
      fmt::format("regions of process {}{} ({})\n", program.pid, rank, printable(shell_words(program.command)));
  if (program.regions.empty())
    text += (program.reason.empty()
                 ? "no region was entered: inlined functions, addresses in an instruction and absent traps have none"
                 : printable(program.reason)) +
            "\n";
  for (const RegionResult& region : program.regions) {
    text += "\n" + region_text(region, terminal);
    if (per_thread && region.threads.size() > 1) text += threads_text(program, region, terminal);
  }
  return text;
}

std::vector<std::vector<std::string>> region_rows(const result::ProgramRegions& program, int run) {
  std::vector<std::vector<std::string>> all;
  const std::string path = program.command.empty() ? "" : program.command.front();
  const std::string program_name = path.substr(path.rfind('/') + 1);  // as in the rows of processes
  for (const RegionResult& region : program.regions) {
    RegionRows rows(std::to_string(run), std::to_string(program.pid), program_name, region.name);
    rows.add(region.all, "");
    for (const RegionThread& thread : region.threads) rows.add(thread.counts, std::to_string(thread.thread));
    for (auto& row : rows.rows) all.push_back(std::move(row));
  }
  return all;
}

std::string regions_csv(const result::ProgramRegions& program) {
  std::string text = csv_row(stat_columns(), ",") + "\r\n";
  for (const auto& row : region_rows(program, 1)) text += csv_row(row, ",") + "\r\n";
  return text;
}

}  // namespace tally::output
