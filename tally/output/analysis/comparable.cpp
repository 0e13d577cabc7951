#include "tally/output/analysis/comparable.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <set>
#include <utility>

#include "tally/core/base/text.hpp"
#include "tally/core/count/formula.hpp"
#include "tally/core/count/region_reasons.hpp"
#include "tally/core/stats/median.hpp"
#include "tally/output/analysis/read_sources.hpp"
#include "tally/output/analysis/whole_functions.hpp"
#include "tally/output/kit/metric_bounds.hpp"
#include "tally/output/kit/rounded_numbers.hpp"

namespace tally::output {
namespace {

using result::EventCount;
using result::Stat;

Better better_of(const std::string& metric) {
  const auto has = [&](const char* word) { return metric.find(word) != std::string::npos; };
  if (has("miss") || has("MPKI") || has("CPI")) return Better::less;
  return has("IPC") || has("GHz") ? Better::more : Better::neither;
}

Measure measure_of(std::string name, Unit unit, const Count& count) {
  Measure measure{.name = std::move(name), .unit = unit};
  measure.trust = count.trust;
  measure.reason = count.reason;
  measure.model = count.model;
  if (count.value) measure.value = *count.value;
  return measure;
}

/// The event in the formula of a ratio that costs something: cycles of IPC, misses of a miss rate.
std::string cost_of(const std::string& formula, Better better) {
  const auto parsed = Formula::parse(formula);
  if (!parsed || parsed->names().size() != 2 || better == Better::neither) return "";
  return better == Better::more ? parsed->names().back() : parsed->names().front();
}

void set_bounds(Measure& measure, const std::optional<MetricBounds>& bounds) {
  if (measure.value && bounds) measure.bounds = ValueInterval{bounds->low, bounds->high};
}

void add_events(const Stat& stat, Comparable& to) {
  for (const result::Event& event : stat.events) {
    Measure measure = measure_of(event.total.name.text(), event.total.unit, event.total.count);
    for (const result::Run& run : stat.runs)
      for (const EventCount& count : run.counts)
        if (count.name == event.total.name && count.count.value) measure.runs.push_back(*count.count.value);
    set_bounds(measure, estimate_bounds(event.total.count));
    to.measures.push_back(std::move(measure));
  }
}

void add_metrics(const Stat& stat, Comparable& to) {
  for (const result::Metric& metric : stat.metrics) {
    Measure measure{.name = metric.name, .is_fraction = true, .fraction_unit = metric.unit, .is_metric = true};
    measure.better = better_of(metric.name);
    measure.cost = cost_of(metric.formula, measure.better);
    measure.trust = metric.ratio.trust;
    measure.reason = metric.ratio.reason;
    measure.model = metric.ratio.model;
    if (metric.ratio.value) measure.value = *metric.ratio.value;
    for (const auto& value : metric.runs)
      if (value) measure.runs.push_back(*value);
    set_bounds(measure, metric_bounds(metric, stat.events));
    to.measures.push_back(std::move(measure));
  }
}

/// The rows of an instruction mix but its names, of which there are hundreds.
void add_mix(const Stat& stat, Comparable& to) {
  const result::InstructionMix& mix = *stat.mix;
  // The mix lacks what every count of the engine lacks.
  Count whole;
  for (const result::Event& event : stat.events)
    if (const Count& count = event.total.count; count.source == Source::engine && count.trust < whole.trust)
      whole = count;
  if (whole.trust != Trust::partial) whole = exact(0, Source::engine);
  if (mix.unknown != 0)
    whole = downgraded(whole, Trust::partial, fmt::format("{} instructions are in no row", mix.unknown));
  const auto add = [&](const char* subject, const std::string& name, std::int64_t count) {
    Measure measure{.subject = subject, .name = name, .better = Better::neither};
    measure.trust = whole.trust;
    measure.reason = whole.reason;
    measure.value = count;
    measure.runs = {static_cast<Value>(count)};
    measure.how_to_repeat = whole.trust == Trust::exact
                                ? "one thread and --repeatable --clock counted: a mix is of one run"
                                : "exact counts: a mix is of one run";
    to.measures.push_back(std::move(measure));
  };
  add(mix_subjects[0], "with packed vector registers", mix.vector);
  add(mix_subjects[0], "floating-point arithmetic", mix.fp);
  add(mix_subjects[0], "packed floating-point arithmetic", mix.fp_vector);
  std::size_t subject = 0;
  for (const auto* const shares : {&mix.categories, &mix.widths, &mix.loads, &mix.stores}) {
    ++subject;
    for (const result::InstructionMix::Share& share : *shares) add(mix_subjects[subject], share.name, share.count);
  }
}

/// Counts of regions by region and event, in the order in which they were added.
class RegionSums {
 public:
  /// Adds the regions of one process to run `run`.
  void add(const result::ProgramRegions& program, std::size_t run) {
    for (const RegionResult& region : program.regions) {
      const auto entries = static_cast<std::int64_t>(region.all.entries);
      add(region.name, run, {"entries"}, exact(entries, CountSource{}));
      for (const RegionEvent& event : region.all.events) add(region.name, run, event.event.text(), usable_total(event));
      for (const RegionMetric& metric : region.all.metrics) add_metric(region.name, run, metric);
    }
  }

  void move_to(Comparable& to) {
    for (auto& [measure, values] : rows_) {
      std::sort(values.begin(), values.end());
      if (!values.empty() && measure.trust != Trust::absent) measure.value = values[(values.size() - 1) / 2];
      measure.runs = std::move(values);
      to.measures.push_back(std::move(measure));
    }
    for (auto& [key, metric] : metrics_) {
      if (metric.is_of_several) continue;
      if (!metric.measure.runs.empty()) metric.measure.value = stats::wide_median(metric.measure.runs);
      to.measures.push_back(std::move(metric.measure));
    }
  }

 private:
  void add(const std::string& region, std::size_t run, const std::string& event, const Count& count) {
    const auto [entry, is_new] = places_.try_emplace({region, event}, rows_.size());
    if (is_new) {
      rows_.emplace_back(measure_of(event, Unit::events, count), std::vector<Value>{});
      rows_.back().first.subject = region;
    }
    auto& [measure, values] = rows_[entry->second];
    measure.trust = worst(measure.trust, count.trust);
    if (count.trust == Trust::partial) measure.reason = count.reason;
    values.resize(std::max(values.size(), run + 1));
    values[run] += count.value.value_or(0);
  }

  /// Metrics of several processes cannot be added.
  void add_metric(const std::string& region, std::size_t run, const RegionMetric& from) {
    Metric& metric = metrics_[{region, from.name}];
    Measure& measure = metric.measure;
    measure.subject = region;
    measure.name = from.name;
    measure.is_fraction = measure.is_metric = true;
    measure.fraction_unit = from.unit;
    measure.better = better_of(from.name);
    measure.cost = cost_of(from.formula, measure.better);
    measure.trust = metric.last_run ? worst(measure.trust, from.ratio.trust) : from.ratio.trust;
    measure.reason = from.ratio.reason;
    measure.model = from.ratio.model;
    metric.is_of_several = metric.is_of_several || metric.last_run == run;
    metric.last_run = run;
    if (from.ratio.value) measure.runs.push_back(*from.ratio.value);
  }

  struct Metric {
    Measure measure = {.name = {}};
    std::optional<std::size_t> last_run = {};
    bool is_of_several = false;
  };
  std::map<std::pair<std::string, std::string>, Metric> metrics_;

  std::map<std::pair<std::string, std::string>, std::size_t> places_;
  std::vector<std::pair<Measure, std::vector<Value>>> rows_;
};

std::string failure_of(const Stat& stat) {
  if (stat.signal) return signal_name(*stat.signal);
  return stat.exit_code.value_or(0) == 0 ? "" : fmt::format("exit code {}", *stat.exit_code);
}

/// The words of tally's own command line; empty if it is unknown.
std::vector<std::string> own_words(const Stat& stat) {
  const std::vector<std::string>& words = stat.environment.provenance.command_line;
  if (words.size() <= stat.command.size() || stat.command.empty()) return {};
  // The last words are those of the program.
  return {words.begin(), words.end() - static_cast<std::ptrdiff_t>(stat.command.size())};
}

/// Whether tally ran the program with --repeatable, by tally's command line; nothing if that is unknown.
std::optional<bool> is_repeatable(const Stat& stat) {
  const std::vector<std::string> words = own_words(stat);
  if (words.empty()) return std::nullopt;
  return std::find(words.begin(), words.end(), "--repeatable") != words.end();
}

/// The value of an option, "--prefetch on" or "--prefetch=on".
std::string option_value(const std::vector<std::string>& words, const std::string& option, std::string otherwise) {
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (words[i] == option && i + 1 < words.size()) return words[i + 1];
    if (words[i].starts_with(option + "=")) return words[i].substr(option.size() + 1);
  }
  return otherwise;
}

bool is_single_threaded(const Stat& stat) {
  return !stat.runs.empty() && std::all_of(stat.runs.begin(), stat.runs.end(), [](const result::Run& run) {
    return run.thread_count == 1 && run.process_count == 1;
  });
}

/// Whether another run of the program may do other work because of what it read. The entries of a directory and their
/// order are the same in each run.
bool may_change_work(const result::ReadSource& source) {
  return source.answer.empty() && !is_usual(source) && source.source != "file listing";
}

/// What the program got from the system and not from tally, in order.
std::vector<std::string> real_sources(const Stat& stat) {
  std::set<std::string> names;
  for (const result::Run& run : stat.runs)
    if (run.nondeterminism)
      for (const result::ReadSource& read_source : *run.nondeterminism)
        if (may_change_work(read_source)) names.insert(read_source.source);
  return {names.begin(), names.end()};
}

/// The notice that says why an incomplete result is one; empty: no notice does.
std::string why_incomplete(const Stat& stat) {
  for (const std::string& notice : stat.notices)
    for (const std::string_view begin : {"incomplete: ", "no function '", "no program ran "})
      if (stat.incomplete && notice.starts_with(begin)) return notice;
  return "";
}

Comparable of_stat(const Stat& stat) {
  Comparable comparable{.command = stat.command,
                        .target = stat.target,
                        .environment = stat.environment,
                        .runs = stat.runs.size(),
                        .incomplete = stat.incomplete,
                        .repeatable = is_repeatable(stat),
                        .is_single_threaded = is_single_threaded(stat),
                        .sources = real_sources(stat),
                        .settings = settings_of(stat),
                        .failure = failure_of(stat)};
  comparable.note = why_incomplete(stat);
  add_events(stat, comparable);
  add_metrics(stat, comparable);
  if (stat.mix) add_mix(stat, comparable);
  RegionSums regions;
  for (std::size_t run = 0; run < stat.runs.size(); ++run)
    for (const result::ProgramRegions& program : stat.runs[run].regions) regions.add(program, run);
  regions.move_to(comparable);
  return comparable;
}

Comparable of_regions(const result::ProgramRegions& program) {
  Comparable comparable{.command = program.command};
  RegionSums regions;
  regions.add(program, 0);
  regions.move_to(comparable);
  for (Measure& measure : comparable.measures)
    measure.how_to_repeat = "the regions in a result of `tally stat -r 5 -o FILE.json`";
  return comparable;
}

constexpr const char* repeats_with_stat =
    "several runs: compare results of `tally stat -r 5`, or use `tally bench` with repeats = 5 and profile = true";

/// Windows of one run follow each other and are no repetitions: their sums are compared.
Comparable of_windows(const result::Windows& windows) {
  Comparable comparable{.command = windows.head.command, .incomplete = windows.incomplete};
  std::set<std::string> programs;
  for (const result::WindowSeries& series : windows.series) programs.insert(series.program);
  for (const std::string& program : programs)
    for (std::size_t e = 0; e < windows.head.events.size(); ++e) {
      const EventCount& event = windows.head.events[e];
      Measure measure = measure_of(event.name.text(), event.unit, event.count);
      if (programs.size() > 1) measure.subject = program;
      if (windows.head.places[e]) {
        Value sum = 0;
        bool is_partial = false;
        for (const result::WindowSeries& series : windows.series) {
          if (series.program != program) continue;
          const auto& counts = series.counts[*windows.head.places[e]];
          sum += std::accumulate(counts.begin(), counts.end(), Value{0});
          is_partial =
              is_partial || std::any_of(series.partial.begin(), series.partial.end(), [](auto n) { return n != 0; });
        }
        measure.value = sum;
        if (is_partial && measure.trust != Trust::absent) {
          measure.trust = worst(measure.trust, Trust::partial);
          measure.reason = "a window is partial";
        }
      }
      measure.how_to_repeat = repeats_with_stat;
      comparable.measures.push_back(std::move(measure));
    }
  return comparable;
}

/// "curve load lap random 48 K": what identifies a measured point.
std::string point_name(const result::MemoryPoint& point) {
  std::vector<std::string> words;
  for (const std::string* const word : {&point.task, &point.quantity, &point.mode, &point.order, &point.store,
                                        &point.load, &point.fence, &point.pages_asked})
    if (!word->empty()) words.push_back(*word);
  words.push_back(size_text(static_cast<double>(point.region_bytes)));
  if (point.block_bytes != 0) words.push_back(fmt::format("block {}", point.block_bytes));
  if (point.stride_bytes != 0) words.push_back(fmt::format("stride {}", point.stride_bytes));
  if (point.regions != 1) words.push_back(fmt::format("regions {}", point.regions));
  if (point.threads != 1) words.push_back(fmt::format("threads {}", point.threads));
  if (point.node) words.push_back(fmt::format("node {}", *point.node));
  return join(words, " ");
}

Measure time_of(std::string subject, std::optional<double> ns, std::optional<double> low, std::optional<double> high,
                std::string why_partial) {
  Measure measure{.subject = std::move(subject), .name = "time", .is_fraction = true, .fraction_unit = "ns"};
  measure.trust = !ns ? Trust::absent : why_partial.empty() ? Trust::counted : Trust::partial;
  measure.reason = std::move(why_partial);
  if (ns) measure.value = *ns;
  if (low && high) measure.interval = ValueInterval{*low, *high};
  measure.how_to_repeat = "a longer measurement";
  return measure;
}

Comparable of_memory(const result::Memory& memory) {
  Comparable comparable{.target = "tally memory " + memory.task,
                        .environment = memory.environment,
                        .incomplete = !memory.complete,
                        .note =
                            "times of memory vary from process to process by more than within one, which the "
                            "intervals are of: measure again before you trust a small change"};
  for (const result::MemoryLevel& level : memory.levels)
    if (level.ns > 0)
      comparable.measures.push_back(
          time_of(level.name, level.ns, level.ns_low, level.ns_high, level.contended ? "the machine was busy" : ""));
  for (const result::MemoryPoint& point : memory.points)
    if (point.ns)
      comparable.measures.push_back(time_of(point_name(point), point.ns, point.ns_low, point.ns_high,
                                            point.flags.empty() ? "" : join(point.flags, ", ")));
  return comparable;
}

constexpr const char* unknown = "unknown";

}  // namespace

std::vector<Setting> settings_of(const Stat& stat) {
  const std::vector<std::string> words = own_words(stat);
  const auto text = [](const std::string& value, const char* otherwise) { return value.empty() ? otherwise : value; };
  const auto repeatable = is_repeatable(stat);
  return {{"backend", stat.backend},
          {"--cpu-model", text(stat.cpu_model, "the real processor")},
          {"--environment", text(stat.program_environment, "tally's own")},
          {"--clock", text(stat.clock, "real")},
          {"--repeatable", !repeatable   ? unknown
                           : *repeatable ? "on"
                                         : "off"},
          {"--model", text(stat.machine_model, "none"), true},
          {"--precision", option_value(words, "--precision", "fast"), true},
          {"--prefetch", option_value(words, "--prefetch", "off"), true},
          {"version of tally", stat.environment.tally_version, true}};
}

std::vector<ChangedSetting> changed_settings(const std::vector<Setting>& before, const std::vector<Setting>& after) {
  std::vector<ChangedSetting> changed;
  for (std::size_t i = 0; i < std::min(before.size(), after.size()); ++i) {
    const auto& [name, old_value, is_of_models] = before[i];
    const std::string& new_value = after[i].value;
    if (old_value != new_value && old_value != unknown && new_value != unknown)
      changed.push_back(
          {name, fmt::format("{} ({} → {})", name, printable(old_value), printable(new_value)), is_of_models});
  }
  return changed;
}

Result<Comparable> comparable_of(result::AnyResult any) {
  if (const auto* const stat = std::get_if<Stat>(&any)) return of_stat(*stat);
  if (const auto* const regions = std::get_if<result::ProgramRegions>(&any)) return of_regions(*regions);
  if (const auto* const windows = std::get_if<result::Windows>(&any)) return of_windows(*windows);
  if (const auto* const memory = std::get_if<result::Memory>(&any)) return of_memory(*memory);
  if (auto* const profile = std::get_if<result::Profile>(&any)) {
    Comparable comparable = of_stat(profile->stat);
    for (Measure& measure : comparable.measures)
      if (measure.how_to_repeat.empty()) measure.how_to_repeat = repeats_with_stat;
    comparable.profile = std::make_shared<const result::Profile>(WholeFunctions(*profile).get());
    return comparable;
  }
  return fail(Code::bad_usage, "results of this kind cannot be compared",
              "`tally compare --help` lists those that can");
}

bool is_event(const std::string& name, const std::string& event) {
  return name == event || split_event_name(name).base == event;
}

void set_threads(Comparable& comparable, std::vector<result::ProfileThread> threads) {
  comparable.is_single_threaded = threads.size() == 1;
  comparable.threads = std::move(threads);
}

Result<void> check_values(const Comparable& comparable) {
  const auto fits = [](const Measure& measure, Value value) {
    constexpr Value most = std::numeric_limits<std::int64_t>::max();
    return measure.is_fraction || (0 <= value && value <= most);
  };
  for (const Measure& measure : comparable.measures) {
    if ((!measure.value || fits(measure, *measure.value)) &&
        std::all_of(measure.runs.begin(), measure.runs.end(), [&](Value value) { return fits(measure, value); }))
      continue;
    return fail(Code::bad_usage, fmt::format("the value of '{}' is out of range", printable(measure.name)));
  }
  return {};
}

}  // namespace tally::output
