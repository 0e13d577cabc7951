#include "tally/tools/roofline/make_roofline.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "tally/core/base/text.hpp"
#include "tally/hardware/event/count_metrics.hpp"
#include "tally/hardware/event/event.hpp"
#include "tally/output/analysis/profile_names.hpp"
#include "tally/output/analysis/profile_samples.hpp"
#include "tally/output/analysis/profile_sums.hpp"
#include "tally/output/analysis/tail_calls.hpp"
#include "tally/output/analysis/whole_functions.hpp"
#include "tally/tools/roofline/host_ceilings.hpp"

namespace tally::roofline {
namespace {

using Programs = std::vector<result::ProgramRegions>;
using Regions = std::vector<const RegionResult*>;

constexpr std::int64_t line_bytes = 64;
constexpr const char* in_several_processes =
    "several processes have this region, and may have been in it at the same time";

std::optional<std::size_t> index_of(const result::Stat& stat, std::string_view event) {
  const auto row = std::find_if(stat.events.begin(), stat.events.end(),
                                [&](const result::Event& event_row) { return event_row.total.name.base == event; });
  if (row == stat.events.end()) return std::nullopt;
  return static_cast<std::size_t>(row - stat.events.begin());
}

std::optional<double> seconds_of(const result::Stat& stat, std::string_view event) {
  const auto index = index_of(stat, event);
  if (!index || !stat.events[*index].total.count.value) return std::nullopt;
  return static_cast<double>(*stat.events[*index].total.count.value) / 1e9;
}

// A point without a time, from the counts that `value` returns by the names of events.
template <class Value>
result::RooflinePoint point_of(const result::Ceilings& ceilings, Value value) {
  result::RooflinePoint point;
  point.operations = value("fp-operations");
  point.single = value("fp-operations-single");
  point.scalar = value("fp-operations-scalar");
  point.half = value("fp-operations-half");
  point.bf16 = value("fp-operations-bf16");
  point.x87 = value("fp-operations-x87");
  point.bytes = value("load-bytes") + value("store-bytes");
  // Lines that a level requested from the next one. Memory serves what the last level missed.
  const std::vector<std::int64_t> lines{value("L1-dcache-load-misses") + value("L1-dcache-store-misses"),
                                        value("L2-misses")};
  const auto& levels = ceilings.bandwidths;
  std::vector<std::string> names;
  for (const result::Ceiling& level : levels)
    if (std::find(names.begin(), names.end(), level.of) == names.end()) names.push_back(level.of);
  for (std::size_t i = 1; i < names.size(); ++i) {
    const bool is_last = i + 1 == names.size();
    if (is_last || i - 1 < lines.size())
      point.levels.push_back({names[i], line_bytes * (is_last ? value("cache-misses") : lines[i - 1])});
  }
  return point;
}

Trust worst_trust(const result::Stat& stat) {
  Trust worst = Trust::exact;
  for (const char* const event : {"fp-operations", "load-bytes", "store-bytes"}) {
    const auto index = index_of(stat, event);
    if (!index || !stat.events[*index].total.count.value) return Trust::absent;
    worst = std::max(worst, stat.events[*index].total.count.trust);
  }
  return worst;
}

constexpr std::int64_t few_samples = 50;

// The time that the samples divide: the program's, because the sampled run takes another one; without the kernel's part
// if only user mode was sampled. Several processors that are busy together share the samples, so that a function's part
// takes less time.
double sampled_seconds(const result::Roofline& roofline, const result::Profile& samples) {
  const result::RooflinePoint& program = roofline.points.front();
  if (!program.seconds)
    return static_cast<double>(output::total_count(samples, 0)) / 1e9 / std::max(1.0, roofline.busy_processors);
  return *program.seconds * (samples.sampling.front().user_only ? 1 - program.kernel_share.value_or(0) : 1);
}

// Counts that are known only at run time have no function: those of masked instructions, gathers and `rep`. Returns
// their noticeable shares; nothing if there are none.
std::optional<std::string> missing_in_functions(const result::Profile& counts) {
  constexpr double noticeable_percent = 0.1;
  std::optional<std::string> shares;
  using Names = std::vector<const char*>;
  for (const auto& [events, name] :
       {std::pair{Names{"fp-operations"}, "operations"}, std::pair{Names{"load-bytes", "store-bytes"}, "bytes"}}) {
    std::int64_t missing = 0, whole = 0;
    for (const char* const event : events)
      if (const auto index = index_of(counts.stat, event)) {
        missing += counts.repeated[*index];
        whole += output::total_count(counts, *index);
      }
    if (missing == 0) continue;
    const double percent = 100 * static_cast<double>(missing) / static_cast<double>(whole);
    if (!shares) shares = "";
    if (percent >= noticeable_percent)
      *shares += fmt::format("{}{} of the {}", shares->empty() ? "" : ", ", percent_text(percent), name);
  }
  return shares;
}

}  // namespace

Result<result::Ceilings> ceilings_of_host() {
  auto ceilings = stored_ceilings("/");
  if (ceilings) return *std::move(ceilings);
  return fail(Code::cannot_measure, "--roofline: the ceilings of this machine were not measured",
              "measure them once, in some 10 seconds: `tally memory ceilings`");
}

std::optional<NativeTime> native_time(const result::Stat& stat) {
  const auto seconds = seconds_of(stat, "duration_time");
  const auto user = seconds_of(stat, "user_time");
  const auto system = seconds_of(stat, "system_time");
  if (!seconds || !user || !system || *seconds <= 0) return std::nullopt;
  const double busy = (*user + *system) / *seconds;
  return NativeTime{*seconds * std::min(1.0, busy), busy, busy > 0 ? *system / (*user + *system) : 0};
}

result::Roofline program_roofline(const result::Stat& stat, const std::optional<NativeTime>& time,
                                  result::Ceilings ceilings) {
  result::Roofline roofline{.ceilings = std::move(ceilings)};
  if (const auto misses = index_of(stat, "cache-misses")) roofline.model = stat.events[*misses].total.count.model;
  result::RooflinePoint point = point_of(roofline.ceilings, [&](std::string_view event) {
    const auto index = index_of(stat, event);
    return index ? stat.events[*index].total.count.value.value_or(0) : 0;
  });
  point.kind = "program";
  point.name = stat.command.empty() ? "" : output::file_name(stat.command.front());
  point.trust = worst_trust(stat);
  if (time) roofline.busy_processors = time->busy_processors;
  if (time) point.kernel_share = time->kernel_share;
  if (!time)
    point.reason = "there is no native run to take its time from";
  else if (point.trust == Trust::absent)
    point.reason = "its operations or bytes were not counted";
  else
    point.seconds = time->seconds;
  roofline.points.push_back(std::move(point));
  return roofline;
}

void add_functions(result::Roofline& roofline, const result::Profile& counted, const result::Profile& sampled) {
  constexpr double small_share = 0.01;
  const output::WholeFunctions counted_functions(counted);
  const output::WholeFunctions sampled_functions(sampled);
  const result::Profile& counts = counted_functions.get();
  const result::Profile& samples = sampled_functions.get();
  const std::vector<output::FunctionId> keys = output::function_ids(counts);
  const std::vector<std::string> names = output::function_names(counts, false);
  std::map<output::FunctionId, output::ProfileSum> counts_of;
  for (output::ProfileSum& sum : output::sums_of(counts, output::ProfileBy::function))
    counts_of[keys[sum.function]] = std::move(sum);
  const std::vector<output::FunctionId> sampled_keys = output::function_ids(samples);
  const double whole = static_cast<double>(output::total_count(samples, 0));
  const double elapsed = sampled_seconds(roofline, samples);
  const auto missing = missing_in_functions(counts);
  if (missing && !missing->empty())
    roofline.notes.push_back(*missing + " are those of masked and string instructions, which functions lack");
  for (const output::ProfileSum& sum : output::sums_of(samples, output::ProfileBy::function)) {
    const double share = whole > 0 ? static_cast<double>(sum.counts[0]) / whole : 0;
    const auto function = counts_of.find(sampled_keys[sum.function]);
    if (share < small_share || function == counts_of.end()) continue;
    result::RooflinePoint point = point_of(roofline.ceilings, [&](std::string_view event) {
      const auto index = index_of(counts.stat, event);
      return index ? function->second.counts[*index] : 0;
    });
    point.kind = "function";
    point.name = names[function->second.function];
    point.trust = !missing ? roofline.points.front().trust : Trust::partial;
    if (sum.samples[0] >= few_samples) {
      const ShareInterval interval = output::share_of_samples(samples, 0, sum.counts[0]);
      point.seconds = share * elapsed;
      point.seconds_low = interval.low * elapsed;
      point.seconds_high = interval.high * elapsed;
    } else {
      point.reason = fmt::format("{} samples of its time are too few, it needs {}", sum.samples[0], few_samples);
    }
    roofline.points.push_back(std::move(point));
  }
}

namespace {

const Count* count_of(const RegionCounts& counts, std::string_view event) {
  const auto row = std::find_if(counts.events.begin(), counts.events.end(),
                                [&](const RegionEvent& region_event) { return region_event.event.base == event; });
  return row == counts.events.end() || !row->total.value ? nullptr : &row->total;
}

// Processor times in a region, in seconds: of the thread that was longest in it, and of all.
std::pair<double, double> times_of(const RegionResult& native) {
  double longest = 0, sum = 0;
  for (const RegionThread& thread : native.threads)
    if (const Count* const time = count_of(thread.counts, "task-clock")) {
      const double seconds = static_cast<double>(*time->value) / 1e9;
      longest = std::max(longest, seconds);
      sum += seconds;
    }
  return {longest, sum};
}

constexpr std::string_view time_event = "duration_time";

void add_time(RegionCounts& region, double seconds, const std::vector<MetricChoice>& metrics) {
  std::vector<RegionEvent> counts = region.events;
  auto row = std::find_if(counts.begin(), counts.end(),
                          [](const RegionEvent& count) { return count.event.base == time_event; });
  if (row == counts.end()) row = counts.insert(row, RegionEvent{});
  row->event = {std::string(time_event), std::nullopt};
  row->total = counted(std::llround(seconds * 1e9), Source::kernel);
  row->total.reason = "processor time of the thread that was longest in it, in a native run";
  std::vector<event::Event> events;
  for (const RegionEvent& count : counts) {
    const auto event = event::parse(count.event.text());
    if (!event) return;
    events.push_back(*event);
  }
  region.metrics = event::region_metrics(events, counts, metrics);
}

// The regions of a name that were entered; of programs with the command and rank of `like`, if it is not null.
Regions find_regions(const Programs& programs, const std::string& name, const result::ProgramRegions* like = nullptr) {
  Regions matches;
  for (const result::ProgramRegions& program : programs)
    if (like == nullptr || (program.command == like->command && program.rank == like->rank))
      for (const RegionResult& region : program.regions)
        if (region.name == name && region.all.entries > 0) matches.push_back(&region);
  return matches;
}

// Takes times only of the single region of its name, command and rank: processes have other numbers in another run.
void add_times(Programs& counted, const Programs& native, const std::vector<MetricChoice>& metrics) {
  for (result::ProgramRegions& program : counted)
    for (RegionResult& region : program.regions) {
      const auto own = find_regions(counted, region.name, &program),
                 other = find_regions(native, region.name, &program);
      if (own.size() != 1 || own.front() != &region || other.size() != 1) continue;
      if (const double seconds = times_of(*other.front()).first; seconds > 0) add_time(region.all, seconds, metrics);
    }
}

void add_points(result::Roofline& roofline, const Programs& counted, const Programs& native) {
  constexpr double noticeable = 1.1;  // imbalance of threads
  std::vector<std::string> names;
  for (const result::ProgramRegions& program : counted)
    for (const RegionResult& region : program.regions)
      if (std::find(names.begin(), names.end(), region.name) == names.end()) names.push_back(region.name);
  for (const std::string& name : names) {
    const Regions all = find_regions(counted, name);
    if (all.empty()) continue;
    result::RooflinePoint point = point_of(roofline.ceilings, [&](std::string_view event) {
      std::int64_t sum = 0;
      for (const RegionResult* const region : all)
        if (const Count* const count = count_of(region->all, event)) sum += *count->value;
      return sum;
    });
    for (const RegionResult* const region : all)
      for (const char* const event : {"fp-operations", "load-bytes", "store-bytes"}) {
        const Count* const count = count_of(region->all, event);
        point.trust = std::max(point.trust, count == nullptr ? Trust::absent : count->trust);
      }
    // Programs that were compiled with release 0.9.0 count fewer events than all levels need.
    const auto lacks = [&](const char* event) {
      return std::any_of(all.begin(), all.end(),
                         [&](const RegionResult* region) { return count_of(region->all, event) == nullptr; });
    };
    for (std::size_t i = point.levels.size(); i-- > 0;) {
      const bool is_last = point.levels[i].level == roofline.ceilings.bandwidths.back().of;
      const bool is_unknown = is_last  ? lacks("cache-misses")
                              : i == 0 ? lacks("L1-dcache-load-misses") || lacks("L1-dcache-store-misses")
                                       : lacks("L2-misses");
      if (is_unknown) point.levels.erase(point.levels.begin() + static_cast<std::ptrdiff_t>(i));
    }
    point.kind = "region";
    point.name = name;
    const Regions times = find_regions(native, name);
    if (all.size() == 1 && times.size() == 1 && point.trust != Trust::absent)
      if (const auto [longest, sum] = times_of(*times.front()); longest > 0) {
        point.seconds = longest;
        point.busy_processors = sum / longest;
        const double threads = static_cast<double>(times.front()->threads.size()), imbalance = threads * longest / sum;
        if (imbalance >= noticeable)
          roofline.notes.push_back(
              fmt::format("the longest of the {} threads of region {} was in it {:.2f} times as long as the mean: the "
                          "others waited, or had less to do",
                          threads, name, imbalance));
      }
    if (point.trust == Trust::absent)
      point.reason = "its operations or bytes were not counted";
    else if (all.size() > 1 || times.size() > 1)
      point.reason = in_several_processes;
    else if (!point.seconds)
      point.reason =
          "only functions and regions that libtally marks have a native time, where perf_event_open is allowed";
    roofline.points.push_back(std::move(point));
  }
}

// Counts of a function, to which `inside` belongs of what was counted in calls of another one.
struct InsideCounts {
  std::int64_t all = 0, inside = 0;
};

// What the functions of `counts`, a profile with calls, executed in calls of those that `is_wanted`.
std::map<output::FunctionId, InsideCounts> counts_inside(const result::Profile& counts,
                                                         const std::vector<bool>& is_wanted) {
  const std::vector<output::FunctionId> keys = output::function_ids(counts);
  std::map<output::FunctionId, InsideCounts> sums;
  for (std::size_t i = 0; i < counts.rows.size(); ++i) sums[keys[counts.rows[i].function]].all += counts.count(i, 0);
  std::vector<bool> is_inside(counts.calls.size());
  for (std::size_t i = 0; i < counts.calls.size(); ++i) {
    const result::ProfileCall& call = counts.calls[i];
    is_inside[i] = is_wanted[call.callee] || is_wanted[call.caller] ||
                   (call.parent != result::CodeCall::no_parent && is_inside[call.parent]);
  }
  output::each_self(counts, [&](std::size_t i, std::uint32_t function, const std::vector<std::int64_t>& self) {
    if (is_inside[i] && !is_wanted[function]) sums[keys[function]].inside += self[0];
  });
  for (std::uint32_t function = 0; function < is_wanted.size(); ++function)
    if (is_wanted[function]) sums[keys[function]].inside = sums[keys[function]].all;
  return sums;
}

// Sets the time of a point, or the reason why it has none.
void set_time(result::RooflinePoint& point, double elapsed, const result::Profile& counts,
              const result::Profile& samples) {
  const auto called = output::functions_called(counts, point.name);
  if (called.size() != 1) {
    point.reason = called.empty() ? "no function of this name is in a profile"
                                  : fmt::format("{} functions have this name: give one in full", called.size());
    return;
  }
  std::vector<bool> is_wanted(counts.functions.size());
  is_wanted[called.begin()->first] = true;
  const auto inside = counts_inside(counts, is_wanted);
  const std::vector<output::FunctionId> keys = output::function_ids(samples);
  double time = 0;
  // Of functions that are called only inside; of these and those that are called elsewhere, too, or that only the
  // native run executed (memcpy for another processor).
  std::int64_t certain = 0, possible = 0, taken = 0;
  for (const output::ProfileSum& sum : output::sums_of(samples, output::ProfileBy::function)) {
    const output::FunctionId& key = keys[sum.function];
    const auto function = inside.find(key);
    if (function == inside.end() && key.first != result::kernel_code) possible += sum.counts[0];
    if (function == inside.end() || function->second.inside <= 0) continue;
    const auto& [all, part] = function->second;
    time += static_cast<double>(sum.counts[0]) * std::min(1.0, static_cast<double>(part) / static_cast<double>(all));
    possible += sum.counts[0];
    if (part >= all) certain += sum.counts[0];
    taken += sum.samples[0];
  }
  if (taken < few_samples) {
    point.reason = fmt::format("{} samples of its time are too few, it needs {}", taken, few_samples);
    return;
  }
  point.reason.clear();
  point.seconds = elapsed * time / static_cast<double>(output::total_count(samples, 0));
  point.seconds_low = elapsed * output::share_of_samples(samples, 0, certain).low;
  point.seconds_high = elapsed * output::share_of_samples(samples, 0, possible).high;
}

}  // namespace

void add_function_times(result::Roofline& roofline, const std::vector<std::string>& functions,
                        const Result<result::Profile>& counted, const Result<result::Profile>& sampled) {
  const std::string why = !counted   ? counted.error().message
                          : !sampled ? sampled.error().message
                          : counted->calls_cut || counted->calls_too_deep
                              ? "the program has too many different stacks, or too deep ones, to find what it calls"
                              : "";
  std::optional<output::WholeFunctions> counts, samples;
  if (why.empty()) {
    counts.emplace(*counted);
    samples.emplace(*sampled);
  }
  for (result::RooflinePoint& point : roofline.points) {
    if (point.kind != "region" || point.seconds ||
        std::find(functions.begin(), functions.end(), point.name) == functions.end())
      continue;
    point.kind = "function";
    if (point.trust == Trust::absent || point.reason == in_several_processes) continue;
    if (why.empty())
      set_time(point, sampled_seconds(roofline, samples->get()), counts->get(), samples->get());
    else
      point.reason = why;
  }
}

bool need_times(const std::vector<result::ProgramRegions>& regions) {
  for (const result::ProgramRegions& program : regions)
    for (const RegionResult& region : program.regions)
      for (const RegionMetric& metric : region.all.metrics)
        if (metric.formula.find(time_event) != std::string::npos) return true;
  return false;
}

void add_native(result::Stat& stat, const std::vector<result::Run>& native, const std::vector<MetricChoice>& metrics) {
  if (stat.roofline)
    add_points(*stat.roofline, stat.runs.front().regions, native.empty() ? Programs{} : native.front().regions);
  for (std::size_t i = 0; i < std::min(stat.runs.size(), native.size()); ++i)
    add_times(stat.runs[i].regions, native[i].regions, metrics);
}

}  // namespace tally::roofline
