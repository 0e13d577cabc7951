#include "programs/results/bench_frameworks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <optional>
#include <utility>

#include "tally/core/base/text.hpp"
#include "tally/core/count/statistics.hpp"
#include "tally/linux/files/code_files.hpp"
#include "tally/linux/process/program_file.hpp"
#include "tally/linux/process/tool.hpp"
#include "tally/linux/symbol/elf_functions.hpp"
#include "tally/linux/symbol/names.hpp"

namespace tally::results {
namespace {

namespace fs = std::filesystem;

std::vector<const Framework*> frameworks() { return {&google_benchmark(), &catch2(), &criterion(), &pytest()}; }

std::string directory_of(const Benchmark& benchmark, const std::string& folder) {
  return (fs::path(folder) / benchmark.directory).string();
}

// The names of benchmarks are those of files, too, and GitHub accepts no file in an artifact with these characters.
std::string name_of(const Benchmark& entry, const std::string& listed) {
  std::string name = entry.name + "." + listed;
  for (char& character : name)
    if (static_cast<unsigned char>(character) < ' ' ||
        std::string_view("/\\").find(character) != std::string_view::npos)
      character = '.';
  return name;
}

std::optional<Count> count_of(const TimedLoop& loop, const EventName& name, const Framework& framework) {
  const auto event = std::ranges::find(loop.counts->events, name, &RegionEvent::event);
  if (event == loop.counts->events.end()) return std::nullopt;
  Count count = event->total;
  const std::int64_t number = loop.iterations;
  if (!count.value || !event->most || !event->least)
    count.value.reset();
  else if (loop.has_equal_entries)
    count.value = *event->least;
  else if (const auto each = count_of_iteration(loop, *event))
    count.value = *each * framework.scale;
  else
    count.value = (*event->most * framework.scale + number / 2) / number;
  return count;
}

}  // namespace

const Framework* framework_named(std::string_view name) {
  for (const Framework* const framework : frameworks())
    if (framework->name == name) return framework;
  return nullptr;
}

std::string framework_names() {
  std::vector<std::string> names;
  for (const Framework* const framework : frameworks()) names.emplace_back(framework->name);
  return join(names, ", ");
}

std::string exact_pattern(std::string_view text) {
  std::string pattern = "^";
  for (const char c : text) {
    if (std::string_view("\\^$.|?*+()[]{}").find(c) != std::string_view::npos) pattern += '\\';
    pattern += c;
  }
  return pattern + "$";
}

std::vector<std::string> functions_of(const std::string& program) {
  std::vector<std::string> names;
  const auto file = linux::FileBytes::of(program);
  const auto elf = file ? symbol::read_elf(file->bytes()) : fail(file.error());
  if (elf)
    for (const symbol::Function& function : elf->functions) names.push_back(symbol::demangled(function.name));
  std::ranges::sort(names);
  names.erase(std::ranges::unique(names).begin(), names.end());
  return names;
}

const RegionCounts* entered_region(const std::vector<RegionResult>& regions) {
  const auto region =
      std::ranges::find_if(regions, [](const RegionResult& candidate) { return candidate.all.entries > 0; });
  return region == regions.end() ? nullptr : &region->all;
}

std::optional<std::int64_t> count_of_iteration(const TimedLoop& loop, const RegionEvent& event) {
  constexpr double most_error = 0.01;
  constexpr std::int64_t negligible = 1000;
  const auto entries = static_cast<std::int64_t>(loop.counts->entries);
  const std::int64_t divisor = entries * loop.iterations - loop.all_iterations;
  // Iterations that take so long that each entry is one: the constant is left in.
  if (loop.iterations == 1 && loop.all_iterations == entries && event.least && event.most &&
      (*event.most - *event.least) * negligible <= *event.least)
    return *event.least;
  if (loop.all_iterations == 0 || divisor <= 0 || !event.total.value || !event.most || !event.least)
    return std::nullopt;
  const std::int64_t largest = *event.most, total = *event.total.value;
  const double mean = static_cast<double>(largest * entries - total) / static_cast<double>(divisor);
  const auto each = static_cast<std::int64_t>(std::llround(mean));
  const std::int64_t constant = largest - each * loop.iterations;
  const std::int64_t more = total - each * loop.all_iterations - constant * entries;
  if (std::fabs(mean - static_cast<double>(each)) > most_error || constant < 0 || more < 0) return std::nullopt;
  const bool is_sound = *event.least == each + constant + more || (more > 0 && *event.least == 2 * each + constant);
  return is_sound ? std::optional(each) : std::nullopt;
}

std::vector<RegionResult> regions_of(const result::Stat& stat) {
  if (!stat.runs.empty())
    for (const result::ProgramRegions& program : stat.runs.front().regions)
      if (entered_region(program.regions) != nullptr) return program.regions;
  return {};
}

std::string profile_hint(const Benchmark& benchmark, const std::vector<std::string>& command) {
  if (benchmark.framework == nullptr) return "";
  const std::string where = benchmark.directory.empty() ? "" : fmt::format(" in '{}'", printable(benchmark.directory));
  return fmt::format("; its functions{}: tally profile --repeatable -- {}", where, printable(shell_words(command)));
}

bool has_others(const result::Stat& stat, const Framework& framework) {
  const result::Run& run = stat.runs.front();
  const std::vector<RegionResult> regions = regions_of(stat);
  const auto entered =
      std::ranges::find_if(regions, [](const RegionResult& candidate) { return candidate.all.entries > 0; });
  if (entered == regions.end()) return false;
  const std::int64_t others = run.process_count.value_or(1) - 1;
  return others > framework.own_processes ||
         run.thread_count.value_or(1) - others > std::max<std::int64_t>(1, std::ssize(entered->threads));
}

void keep_events_only(result::Stat& stat, const Benchmark& benchmark, bool is_single_threaded) {
  result::Run& run = stat.runs.front();
  run.counts.clear();
  for (const result::Event& event : stat.events) run.counts.push_back(event.total);
  if (is_single_threaded) run.process_count = run.thread_count = 1;
  run.regions.clear();
  run.processes.clear();
  if (run.nondeterminism)
    std::erase_if(*run.nondeterminism, [&](const result::ReadSource& read) {
      return std::ranges::any_of(benchmark.framework->own_sources, [&](const OwnSource& own) {
        return own.source == read.source && read.count <= own.certain;
      });
    });
  stat.metrics.clear();
  stat.of_parts = false;
  stat.command = benchmark.command;
  for (std::string& word : loop_arguments(benchmark, "", {})) stat.command.push_back(std::move(word));
}

void summarize_runs(result::Stat& stat) {
  stat.runs_asked = static_cast<int>(stat.runs.size());
  std::erase_if(stat.events, [&](result::Event& event) {
    std::vector<Count> series;
    for (const result::Run& run : stat.runs) {
      const auto count = std::ranges::find(run.counts, event.total.name, &result::EventCount::name);
      if (count == run.counts.end()) return true;
      series.push_back(count->count);
    }
    event.summary = summarize(series);
    event.total.count = median_count(*event.summary, series);
    return false;
  });
  for (result::Run& run : stat.runs)
    std::erase_if(run.counts, [&](const result::EventCount& count) {
      return std::ranges::none_of(stat.events, [&](const auto& event) { return event.total.name == count.name; });
    });
}

Result<std::vector<Benchmark>> list_benchmarks(std::vector<Benchmark> suite, const std::string& folder) {
  std::vector<Benchmark> all;
  for (Benchmark& entry : suite) {
    if (entry.framework == nullptr) {
      all.push_back(std::move(entry));
      continue;
    }
    std::vector<std::string> words{"env", "-C", directory_of(entry, folder)};
    words.insert(words.end(), entry.command.begin(), entry.command.end());
    for (std::string& word : entry.framework->list_arguments()) words.push_back(std::move(word));
    const auto listed = linux::run_tool(words, entry.timeout_of(1), input_of(entry, folder));
    if (!listed) return fail(listed.error());
    if (listed->was_stopped)
      return fail(Code::cannot_measure,
                  listed->timed_out
                      ? fmt::format("benchmark '{}': the program takes longer than its timeout to list them",
                                    printable(entry.name))
                      : "interrupted");
    if (const auto why = entry.framework->why_unusable(listed->output); !why.message.empty()) return fail(why);
    std::vector<std::string> names;
    if (listed->exit_code == 0) names = entry.framework->benchmarks_in(listed->output);
    for (std::string& name : names) {
      Benchmark benchmark = entry;
      benchmark.entry = entry.name;
      benchmark.name = name_of(entry, name);
      benchmark.listed = std::move(name);
      all.push_back(std::move(benchmark));
    }
    if (names.empty())
      return fail(Code::bad_usage,
                  fmt::format("benchmark '{}': the program lists no benchmarks of {} (exit code {})",
                              printable(entry.name), entry.framework->name, listed->exit_code),
                  fmt::format("try: {}", printable(shell_words({words.begin() + 3, words.end()}))));
  }
  for (auto benchmark = all.begin(); benchmark != all.end(); ++benchmark)
    if (std::find_if(all.begin(), benchmark,
                     [&](const Benchmark& other) { return other.file_name() == benchmark->file_name(); }) != benchmark)
      return fail(Code::bad_usage, fmt::format("two benchmarks are called '{}'", printable(benchmark->name)),
                  "use another name for one of them");
  return all;
}

std::string input_of(const Benchmark& benchmark, const std::string& folder) {
  return benchmark.input.empty() ? "/dev/null" : (fs::path(directory_of(benchmark, folder)) / benchmark.input).string();
}

Result<std::vector<std::vector<std::string>>> loop_options(const Benchmark& benchmark, const std::string& folder) {
  if (benchmark.framework == nullptr) return std::vector<std::vector<std::string>>{{}};
  const std::string& name = benchmark.command.front();
  const bool is_path = name.find('/') != std::string::npos;
  const auto program = is_path ? Result<std::string>((fs::path(directory_of(benchmark, folder)) / name).string())
                               : linux::find_program(name, linux::search_path());
  return benchmark.framework->stat_options(program.value_or(std::string()));
}

std::vector<std::string> loop_arguments(const Benchmark& benchmark, const std::string& file, const LoopLength& length) {
  return benchmark.framework == nullptr ? std::vector<std::string>{}
                                        : benchmark.framework->run_arguments(benchmark.listed, file, length);
}

Result<bool> keep_loop(result::Stat& stat, const Benchmark& benchmark, std::string_view report) {
  const Framework& framework = *benchmark.framework;
  const std::vector<RegionResult> regions = regions_of(stat);
  const auto loop = framework.timed_loop({regions, report, benchmark.listed});
  if (!loop) return fail(loop.error());
  if (loop->counts == nullptr) return false;
  // The number of iterations depends on time: the counts of an iteration must not depend on that number.
  if (framework.clock == "real" && benchmark.settings.find("clock")->second != "counted")
    for (const RegionEvent& event : loop->counts->events)
      if (!count_of_iteration(*loop, event))
        return fail(Code::cannot_measure,
                    fmt::format("its iterations differ in {}, and their number depends on time", event.event.text()),
                    "write clock = \"counted\"");
  std::erase_if(stat.events, [&](result::Event& event) {
    const auto count = count_of(*loop, event.total.name, framework);
    if (count) event.total.count = *count;
    event.summary.reset();
    return !count;
  });
  if (loop->has_children || has_others(stat, framework))
    for (result::Event& event : stat.events) {
      event.total.count.trust = Trust::partial;
      event.total.count.reason = "the program has threads or processes that do not run the loop themselves";
    }
  const auto region =
      std::ranges::find_if(regions, [&](const RegionResult& candidate) { return &candidate.all == loop->counts; });
  keep_events_only(stat, benchmark, region->threads.size() <= 1);
  stat.notices.push_back(loop->has_equal_entries
                             ? fmt::format("counts of {}, the smallest of {}", framework.counted, loop->counts->entries)
                             : fmt::format("counts of {} of the timed loop, from {}", framework.counted,
                                           plural(loop->iterations, "iteration", "iterations")));
  return true;
}

}  // namespace tally::results
