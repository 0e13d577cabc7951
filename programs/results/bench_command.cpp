#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "programs/progress/progress.hpp"
#include "programs/results/bench_check.hpp"
#include "programs/results/bench_files.hpp"
#include "programs/results/bench_frameworks.hpp"
#include "programs/results/bench_runner.hpp"
#include "programs/results/bench_suite.hpp"
#include "programs/results/read_history.hpp"
#include "programs/results/result_commands.hpp"
#include "tally/core/base/text.hpp"
#include "tally/engine/cpus/cpu_model.hpp"
#include "tally/linux/files/input.hpp"
#include "tally/linux/files/terminal_width.hpp"
#include "tally/linux/process/received_signals.hpp"
#include "tally/linux/process/scratch_folder.hpp"
#include "tally/tools/command/command_page.hpp"
#include "tally/tools/command/common_options.hpp"
#include "tally/tools/comparison/gate_options.hpp"
#include "tally/tools/history/history_file.hpp"
#include "tally/tools/launch/launch.hpp"
#include "tally/tools/launch/model_options.hpp"

namespace tally::results {
namespace {

namespace fs = std::filesystem;

struct BenchOptions {
  std::vector<std::string> files, only;
  std::vector<std::string> removed, no_longer;  ///< of the suite; only in that of `directory`
  BenchRun run;
  std::string comment, directory, format = "table";
  bool list = false;
};

constexpr const char* bench_footer =
    "SUITE is a TOML file. Each [[benchmark]] has a name, a command (a list of words) and, if you like, directory, "
    "stdin, timeout, events, profile, repeats, fail-above, warn-above, accept and the options that decide counts: "
    "repeatable, environment, clock, cpu-model, model and others; [defaults] has the same keys for all of them. "
    "tally runs each benchmark with `tally stat`, or with `tally profile` if it has `profile = true`, writes the "
    "results to DIR/NAME.json, and compares them with those of --baseline by `tally compare`. With framework = "
    "\"google-benchmark\", \"catch2\", \"criterion\" or \"pytest\" it counts each benchmark of the program by itself.\n"
    "\n"
    "Exit code: 0 every gate passed, 1 a gate failed, 2 bad usage, 3 a gate is undecided or a result is not "
    "comparable, 125 a benchmark failed, and no gate did.\n"
    "\n"
    "Examples:\n"
    "  tally bench\n"
    "  tally bench -o new --baseline old --comment comment.md\n"
    "  tally bench suite.toml --only parse --history bench.db\n";

void describe(Page& page, BenchOptions& options) {
  page.head("Count the programs of a suite, and compare them with earlier results.", "tally bench [options] [SUITE]");
  page.add_option("SUITE", options.files, "the suite (default: tally-bench.toml)");
  page.add_option("-C,--directory", options.directory,
                  "run the suite here, not in its own directory: on another version of the programs; leaves out "
                  "benchmarks that the suite of the same name there lacks")
      .value_name("DIR");
  page.add_option("-o,--output", options.run.output, "write the results to this directory (default: tally-results)")
      .value_name("DIR");
  comparison::add_baseline_option(page, options.run.baseline);
  history::add_history_option(page, options.run.history);
  page.add_option("--label", options.run.label, "store this text with the results").value_name("LABEL");
  page.add_option("--comment", options.comment, "write the comparisons as Markdown to FILE").value_name("FILE");
  page.add_option("--format", options.format, "what to print: table or json")
      .one_of({"table", "json"})
      .value_name("FORMAT");
  comparison::add_undecided_option(page, options.run.undecided);
  page.add_option("--only", options.only, "run only this benchmark; may be repeated").value_name("NAME").repeated();
  page.add_flag("--list", options.list, "list the benchmarks, and exit");
  page.footer(bench_footer);
}

// Leaves out what the suite of the same name in another directory lacks, and returns the names of those that only that
// one has. Without that suite everything stays.
std::vector<std::string> leave_out_new(std::vector<Benchmark>& suite, const fs::path& other) {
  const auto text = linux::read_file(other.string());
  const auto there = text ? parse_suite(*text, other.string()) : fail(text.error());
  if (!there) say({fmt::format("counts all benchmarks, as if the suite there had them: {}", there.error().message)});
  if (!there) return {};
  std::vector<std::string> names, only_there;
  for (const Benchmark& benchmark : *there)
    if (std::ranges::find(suite, benchmark.name, &Benchmark::name) == suite.end()) only_there.push_back(benchmark.name);
  std::erase_if(suite, [&](const Benchmark& benchmark) {
    const bool is_new = std::ranges::find(*there, benchmark.name, &Benchmark::name) == there->end();
    if (is_new) names.push_back(printable(benchmark.name));
    return is_new;
  });
  if (!names.empty())
    say({fmt::format("not in '{}', so not counted: {}", printable(other.string()), join(names, ", "))});
  return only_there;
}

// One that is only known by its name, for the names of its files.
Benchmark benchmark_of_name(const std::string& name) {
  Benchmark benchmark;
  benchmark.name = name;
  return benchmark;
}

// Removes earlier results, and writes which benchmarks are counted now, and which the suite no longer has.
int clear_results(const BenchOptions& options, const std::vector<Benchmark>& suite) {
  for (const Benchmark& benchmark : suite)
    if (const auto removed = remove_results(options.run.output, benchmark); !removed)
      return report_error(removed.error());
  if (const auto written = write_list(options.run.output, suite, !options.only.empty()); !written)
    return report_error(written.error());
  for (const std::string& name : options.no_longer) {
    const Benchmark benchmark = benchmark_of_name(name);
    if (const auto removed = remove_results(options.run.output, benchmark); !removed)
      return report_error(removed.error());
    const std::string file = failure_file(options.run.output, benchmark);
    if (const int code = write_text(file, "not counted: it is not in the suite\n"); code != exit_ok) return code;
  }
  return exit_ok;
}

// Errors: bad_usage if the suite has a benchmark that it says is removed: deleting it later would go unnoticed.
Result<void> check_removed(const std::vector<std::string>& removed, const std::vector<Benchmark>& suite) {
  for (const std::string& name : removed)
    if (std::ranges::find(suite, name, &Benchmark::name) != suite.end())
      return fail(Code::bad_usage, fmt::format("'removed' names '{}', which the suite has", printable(name)),
                  "delete the name from the list, or delete the benchmark");
  return {};
}

// Names without a result in the baseline are harmless: most were removed earlier.
void mention_unneeded(const std::vector<std::string>& removed, const std::vector<std::string>& only_before) {
  for (const std::string& name : removed) {
    if (std::ranges::find(only_before, benchmark_of_name(name).file_name()) == only_before.end())
      say(
          {fmt::format("'removed' names '{}', of which the baseline has no result: delete the name if it is wrong, or "
                       "was removed earlier",
                       printable(name))});
  }
}

Result<std::vector<Benchmark>> chosen_benchmarks(BenchOptions& options, const std::string& path) {
  const auto text = linux::read_file(path);
  if (!text) return fail(text.error());
  auto suite = parse_suite(*text, path, &options.removed);
  if (!suite) return suite;
  const auto has_name = [](const Benchmark& benchmark, const std::string& name) {
    return benchmark.name == name || benchmark.entry == name ||
           (benchmark.entry.empty() && benchmark.framework != nullptr && name.starts_with(benchmark.name + "."));
  };
  const auto keep_named = [&] {
    if (options.only.empty()) return;
    std::erase_if(*suite, [&](const Benchmark& benchmark) {
      return std::ranges::none_of(options.only, [&](const auto& name) { return has_name(benchmark, name); });
    });
  };
  if (const auto sound = check_removed(options.removed, *suite); !sound) return fail(sound.error());
  if (!options.directory.empty())
    options.no_longer = leave_out_new(*suite, fs::path(options.directory) / fs::path(path).filename());
  keep_named();
  suite = list_benchmarks(*std::move(suite), options.run.folder);
  if (!suite) return suite;
  if (options.directory.empty())
    if (const auto sound = check_removed(options.removed, *suite); !sound) return fail(sound.error());
  keep_named();
  for (const std::string& name : options.only)
    if (std::ranges::none_of(*suite, [&](const Benchmark& benchmark) { return has_name(benchmark, name); }))
      return fail(Code::bad_usage, fmt::format("the suite has no benchmark '{}'", printable(name)),
                  "`tally bench --list` lists them");
  return suite;
}

// Checks the values of settings as `tally stat` does. A machine file is relative to the benchmark's directory.
Result<void> check_settings(const std::vector<std::string>& options) {
  backend::Conditions conditions;
  ModelOptions models;
  std::string backend;
  Page page;
  page.head("", "tally stat");
  add_launch_options(page, conditions);
  add_model_options(page, models);
  add_backend_option(page, backend, "");
  if (const auto read = page.parse(options); !read) return fail(read.error());
  if (conditions.presents_cpu())
    if (const auto cpu = cpus::named(conditions.cpu_model); !cpu) return fail(cpu.error());
  if (models.model.find('/') != std::string::npos) return {};
  return models.choose();
}

// Errors: bad_usage if the directory is missing or has no result: all gates would pass.
Result<void> check_baseline(const std::string& folder, const std::vector<Benchmark>& suite) {
  std::error_code error;
  const auto has_result = [&](const Benchmark& benchmark) {
    return fs::exists(result_in(folder, benchmark), error) || fs::exists(failure_file(folder, benchmark), error);
  };
  if (folder.empty() || std::any_of(suite.begin(), suite.end(), has_result)) return {};
  // With --only, those of others show that it is one.
  if (!only_in_baseline(folder, suite).empty()) return {};
  return fail(Code::bad_usage,
              fmt::format("the baseline '{}' is not a directory with results of this suite", printable(folder)),
              fmt::format("make one: tally bench -o {}; or omit --baseline", printable(shell_words({folder}))));
}

// Replaces the comment of an earlier run, which a CI system would show again if this run fails.
int begin_comment(const std::string& path) {
  std::error_code error;
  const auto status = fs::status(path, error);
  if (path == "-" || (fs::exists(status) && !fs::is_regular_file(status))) return exit_ok;
  // "": without --comment. A directory that does not exist yet may be that of -o.
  if (const fs::path folder = fs::path(path).parent_path();
      path.empty() || (!folder.empty() && !fs::exists(folder, error)))
    return exit_ok;
  return write_text(path,
                    "**tally: nothing was compared**: `tally bench` ended early. Its messages in the log say why.\n");
}

int list(const std::vector<Benchmark>& suite) {
  std::string text;
  for (const Benchmark& one : suite) text += fmt::format("{}  {}\n", printable(one.name), shell_words(one.command));
  return print(text);
}

}  // namespace

void describe_bench(Page& page) {
  static BenchOptions unused;
  describe(page, unused);
}

int run_bench(const std::vector<std::string>& arguments) {
  BenchOptions options;
  Page page;
  describe(page, options);
  if (const auto code = page.read(arguments)) return *code;
  if (!options.list)
    if (const int begun = begin_comment(options.comment); begun != exit_ok) return begun;
  if (options.files.size() > 1)
    return report_error({Code::bad_usage, "more than one SUITE", "run `tally bench` once for each", 0});
  const std::string path = options.files.empty() ? "tally-bench.toml" : options.files.front();
  if (std::error_code error; options.files.empty() && !fs::exists(path, error))
    return report_error({Code::bad_usage, fmt::format("there is no '{}' here, and no SUITE is named", path),
                         "write one: echo 'benchmark = [{name = \"small\", command = [\"true\"]}]' > tally-bench.toml",
                         0});
  options.run.folder = options.directory.empty() ? fs::absolute(path).parent_path().string() : options.directory;
  if (std::error_code error; !fs::is_directory(options.run.folder, error))
    return report_error({Code::bad_usage, fmt::format("there is no directory '{}'", printable(options.run.folder)),
                         "use -C with a directory that has another version of the programs", 0});
  const auto suite = chosen_benchmarks(options, path);
  if (!suite) return report_error(suite.error());
  if (options.list) return list(*suite);
  if (const auto sound = check_suite(*suite, check_settings); !sound) return report_error(sound.error());
  if (const auto sound = check_baseline(options.run.baseline, *suite); !sound) return report_error(sound.error());
  if (options.run.history.empty() && has_growth_limit(*suite)) {
    if (!options.run.baseline.empty())
      return report_error({Code::bad_usage, "a limit over several results, such as 2%/20, needs a history",
                           "for example: tally bench --history bench.db", 0});
    say({"limits over several results, such as 2%/20, are not checked without --history"});
  }
  if (const auto history = history::HistoryFile::open({.file = options.run.history, .name = ""}); !history)
    return report_error(history.error());
  if (std::error_code error;
      !options.run.baseline.empty() && fs::equivalent(options.run.output, options.run.baseline, error))
    return report_error(
        {Code::bad_usage, "-o and --baseline name the same directory", "use another directory for one of them", 0});
  for (const Benchmark& benchmark : *suite)
    if (const auto notes = unknown_functions(benchmark, options.run); !notes.empty()) say(notes);
  if (const auto made = linux::make_folder(options.run.output); !made) return report_error(made.error());
  std::vector<linux::Descriptor> locks;  // until the end; a call that waits, for its output, holds none
  for (const std::string& folder : {options.run.output, options.run.baseline}) {
    auto locked = folder.empty() ? linux::Descriptor() : lock_results(folder, folder == options.run.output);
    if (!locked) return report_error(locked.error());
    locks.push_back(*std::move(locked));
  }
  if (const int cleared = clear_results(options, *suite); cleared != exit_ok) return cleared;
  // A signal ends the running benchmark, too; its own action follows when this is destroyed.
  const auto signals = linux::Signals::watch();
  if (!signals) return report_error(signals.error());
  Progress progress("tally bench");
  std::vector<BenchOutcome> outcomes;
  for (const Benchmark& one : *suite) {
    progress.show(static_cast<double>(outcomes.size()) / static_cast<double>(suite->size()), printable(one.name));
    auto outcome = run_benchmark(one, options.run);
    if (!outcome) progress.clear();
    if (!outcome) return report_error(outcome.error());
    outcomes.push_back(*std::move(outcome));
  }
  progress.clear();
  if (!options.run.history.empty()) {
    const auto history = history::read_history(options.run.history);
    if (!history) return report_error(history.error());
    add_growth(outcomes, *history, comparison::undecided_exit_code(options.run.undecided));
  }
  std::vector<std::string> missing;
  if (!options.run.baseline.empty() && options.only.empty()) {
    missing = only_in_baseline(options.run.baseline, *suite);
    mention_unneeded(options.removed, missing);
    for (const std::string& name : options.removed) std::erase(missing, benchmark_of_name(name).file_name());
  }
  const int written = options.comment.empty() ? exit_ok : write_text(options.comment, bench_comment(outcomes, missing));
  int code = exit_code_of(outcomes);
  if (code == exit_ok && !missing.empty()) code = comparison::undecided_exit_code(options.run.undecided);
  if (code != exit_no && written != exit_ok) code = written;
  const int printed =
      print(options.format == "json" ? bench_json(outcomes, missing, code)
                                     : bench_table(outcomes, missing, linux::terminal_columns(linux::Stream::output)));
  return code == exit_no || printed == exit_ok ? code : printed;
}

}  // namespace tally::results
