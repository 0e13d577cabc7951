#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "tally/cli/commands.hpp"
#include "tally/core/base/text.hpp"
#include "tally/linux/files/input.hpp"
#include "tally/linux/files/memory_file.hpp"
#include "tally/linux/files/output_file.hpp"
#include "tally/linux/files/terminal_width.hpp"
#include "tally/linux/process/scratch_folder.hpp"
#include "tally/linux/process/tool.hpp"
#include "tally/output/kit/grid.hpp"
#include "tally/tools/command/command_page.hpp"
#include "tally/tools/command/progress.hpp"
#include "tally/tools/comparison/bench_check.hpp"
#include "tally/tools/comparison/bench_suite.hpp"
#include "tally/tools/comparison/gate_options.hpp"
#include "tally/tools/history/history_file.hpp"

namespace tally::cli {
namespace {

namespace fs = std::filesystem;

/// The lines of a message in one.
std::string one_line(std::string_view message) {
  std::vector<std::string> lines = split(message, '\n');
  for (std::string& line : lines) line = trimmed(line);
  return join(lines, "; ");
}

struct BenchOptions {
  std::vector<std::string> files, only;
  std::string output = "tally-results", baseline, history, label, comment, undecided = "3";
  bool list = false;
};

constexpr const char* bench_footer =
    "SUITE is a TOML file. Each [[benchmark]] has a name, a command (a list of words) and, if you like, directory, "
    "events, profile, repeats, repeatable, fail-above and warn-above; [defaults] has the same keys for all of them. "
    "tally runs each benchmark with `tally stat`, or with `tally profile` if it has `profile = true`, writes the "
    "results to DIR/NAME.json, and compares them with those of --baseline by `tally compare`.\n"
    "\n"
    "Exit code: 0 every gate passed, 1 a gate failed, 2 bad usage, 3 a gate is undecided or a result is not "
    "comparable, 125 a benchmark failed.\n"
    "\n"
    "Examples:\n"
    "  tally bench\n"
    "  tally bench -o new --baseline old --comment comment.md\n"
    "  tally bench suite.toml --only parse --history bench.db\n";

void describe(Page& page, BenchOptions& options) {
  page.head("Count the programs of a suite, and compare them with earlier results.", "tally bench [options] [SUITE]");
  page.add_option("SUITE", options.files, "the suite (default: tally-bench.toml)");
  page.add_option("-o,--output", options.output, "write the results to this directory (default: tally-results)")
      .value_name("DIR");
  comparison::add_baseline_option(page, options.baseline);
  history::add_history_option(page, options.history);
  page.add_option("--label", options.label, "store this text with the results").value_name("LABEL");
  page.add_option("--comment", options.comment, "write the comparisons as Markdown to FILE").value_name("FILE");
  comparison::add_undecided_option(page, options.undecided);
  page.add_option("--only", options.only, "run only this benchmark; may be repeated").value_name("NAME").repeated();
  page.add_flag("--list", options.list, "list the benchmarks, and exit");
  page.footer(bench_footer);
}

// The result of a benchmark that is missing: renamed, or removed.
constexpr const char* missing_text = "undecided: it is only in the baseline; remove its file there if that is intended";

// What became of a benchmark.
struct Outcome {
  const comparison::Benchmark* benchmark = nullptr;
  int code = exit_ok;  // of tally stat, if that failed; else of tally compare
  bool has_run = false;
  std::string text, markdown;  // the verdict in one line; the comparison
};

class Runner {
 public:
  Runner(const BenchOptions& options, std::string folder) : options_(options), folder_(std::move(folder)) {}

  Result<Outcome> run(const comparison::Benchmark& benchmark) {
    Outcome outcome{.benchmark = &benchmark, .text = {}, .markdown = {}};
    const auto counted = linux::run_tool(count_command(benchmark));
    if (!counted) return fail(counted.error());
    outcome.code = counted->exit_code;
    if (counted->was_stopped) return fail(Code::cannot_measure, "interrupted");
    if (counted->exit_code != 0) {
      outcome.text = fmt::format("failed: exit code {}", counted->exit_code);
      say({fmt::format("'{}' failed with exit code {}; its output:", printable(benchmark.name), counted->exit_code)});
      (void)linux::Output::standard_error().write(counted->output);
      return outcome;
    }
    outcome.has_run = true;
    if (const auto stored = store(benchmark); !stored) return fail(stored.error());
    const std::string before = path_in(options_.baseline, benchmark);
    if (options_.baseline.empty()) return outcome;
    if (std::error_code error; !fs::exists(before, error)) {
      outcome.text = "no baseline";
      return outcome;
    }
    return compared(std::move(outcome), before);
  }

 private:
  static std::string path_in(const std::string& folder, const comparison::Benchmark& benchmark) {
    return (fs::path(folder) / (benchmark.name + ".json")).string();
  }

  /// `tally stat` or `tally profile` of a benchmark.
  std::vector<std::string> count_command(const comparison::Benchmark& benchmark) const {
    const std::string result = fs::absolute(path_in(options_.output, benchmark)).string();
    std::vector<std::string> words{"env", "-C", (fs::path(folder_) / benchmark.directory).string(), tally_};
    const auto add = [&](const std::string& option, const std::string& value) {
      if (!value.empty()) words.insert(words.end(), {option, value});
    };
    words.insert(words.end(), {benchmark.is_profile ? "profile" : "stat", "-q"});
    add("-o", result);
    add("-e", join(benchmark.events, ","));
    add("--label", options_.label);
    if (benchmark.is_repeatable) words.emplace_back("--repeatable");
    if (!benchmark.is_profile) add("-r", std::to_string(benchmark.repeats));
    words.emplace_back("--");
    words.insert(words.end(), benchmark.command.begin(), benchmark.command.end());
    return words;
  }

  /// Adds the result to the history.
  Result<void> store(const comparison::Benchmark& benchmark) const {
    if (options_.history.empty()) return {};
    const std::string result = path_in(options_.output, benchmark);
    const auto end = linux::run_tool({tally_, "compare", result, result, "-o", "/dev/null", "--history",
                                      options_.history, "--name", benchmark.name});
    if (!end) return fail(end.error());
    if (end->exit_code == exit_ok) return {};
    return fail(end->exit_code == exit_bad_usage ? Code::bad_usage : Code::cannot_write, trimmed(end->output));
  }

  Result<Outcome> compared(Outcome outcome, const std::string& before) const {
    std::vector<std::string> words{
        tally_, "compare", before, path_in(options_.output, *outcome.benchmark), "--undecided", options_.undecided};
    for (const auto& [option, gates] :
         {std::pair{"--fail-above", &outcome.benchmark->fail_above}, {"--warn-above", &outcome.benchmark->warn_above}})
      for (const std::string& gate : *gates) words.insert(words.end(), {option, gate});
    const auto scratch = linux::ScratchFolder::make();
    if (!scratch) return fail(scratch.error());
    const std::string comment = scratch->path() + "/comment.md";
    words.insert(words.end(), {"-o", comment});
    const auto end = linux::run_tool(words);
    if (!end) return fail(end.error());
    outcome.code = end->exit_code;
    // Its message: "tally: " and the verdict.
    const std::string message = trimmed(end->output);
    outcome.text = one_line(message.starts_with("tally: ") ? message.substr(7) : message);
    if (const auto text = linux::read_regular_file(comment)) outcome.markdown = *text;
    return outcome;
  }

  const BenchOptions& options_;
  std::string folder_;
  std::string tally_ = linux::own_folder() + "/tally";
};

// The benchmarks of the baseline that are not in the suite, in order of their names.
std::vector<std::string> only_in_baseline(const std::string& folder, const std::vector<comparison::Benchmark>& suite) {
  std::vector<std::string> names;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, error)) {
    const std::string name = entry.path().stem().string();
    if (entry.path().extension() == ".json" &&
        std::none_of(suite.begin(), suite.end(), [&](const comparison::Benchmark& one) { return one.name == name; }))
      names.push_back(name);
  }
  std::sort(names.begin(), names.end());
  return names;
}

int exit_code_of(const std::vector<Outcome>& outcomes) {
  const auto any = [&](auto&& is) { return std::any_of(outcomes.begin(), outcomes.end(), is); };
  if (any([](const Outcome& one) { return !one.has_run; })) return exit_cannot_measure;
  for (const int code : {exit_bad_usage, exit_cannot_measure, exit_no, exit_not_comparable})
    if (any([code](const Outcome& one) { return one.code == code; })) return code;
  return exit_ok;
}

std::string table_of(const std::vector<Outcome>& outcomes, const std::vector<std::string>& missing) {
  output::Grid rows({{"benchmark"}, {"result"}});
  for (const Outcome& one : outcomes) rows.add({one.benchmark->name, one.text.empty() ? "counted" : one.text});
  for (const std::string& name : missing) rows.add({name, missing_text});
  return "\n" + rows.text(linux::terminal_columns(linux::Stream::output)) + "\n";
}

// One comment of all comparisons: those that failed first. At most 60,000 characters, which GitHub accepts.
std::string comment_of(std::vector<Outcome> outcomes, const std::vector<std::string>& missing) {
  constexpr std::size_t most = 60'000;
  std::stable_sort(outcomes.begin(), outcomes.end(),
                   [](const Outcome& a, const Outcome& b) { return (a.code != exit_ok) > (b.code != exit_ok); });
  std::string text;
  for (const std::string& name : missing) text += fmt::format("### {}\n\n{}\n\n", printable(name), missing_text);
  std::size_t omitted = 0;
  for (const Outcome& one : outcomes) {
    const std::string body = one.markdown.empty() ? one.text.empty() ? "counted\n" : one.text + "\n" : one.markdown;
    std::string section = fmt::format("### {}\n\n{}\n", printable(one.benchmark->name), body);
    if (text.size() + section.size() + 100 > most)
      ++omitted;
    else
      text += section;
  }
  return omitted == 0 ? text : text + fmt::format("{} benchmarks are omitted because the comment is long.\n", omitted);
}

Result<std::vector<comparison::Benchmark>> chosen_benchmarks(const BenchOptions& options, const std::string& path) {
  const auto text = linux::read_file(path);
  if (!text) return fail(text.error());
  auto suite = comparison::parse_suite(*text, path);
  if (!suite) return suite;
  for (const std::string& name : options.only)
    if (std::none_of(suite->begin(), suite->end(), [&](const comparison::Benchmark& one) { return one.name == name; }))
      return fail(Code::bad_usage, fmt::format("the suite has no benchmark '{}'", printable(name)),
                  "`tally bench --list` lists them");
  if (!options.only.empty())
    std::erase_if(*suite, [&](const comparison::Benchmark& one) {
      return std::find(options.only.begin(), options.only.end(), one.name) == options.only.end();
    });
  return suite;
}

// Errors: bad_usage if the directory is missing.
Result<void> check_baseline(const std::string& folder) {
  if (std::error_code error; folder.empty() || fs::is_directory(folder, error)) return {};
  return fail(Code::bad_usage, fmt::format("the baseline '{}' is not a directory with results", printable(folder)),
              fmt::format("make one: tally bench -o {}; or omit --baseline", printable(shell_words({folder}))));
}

int list(const std::vector<comparison::Benchmark>& suite) {
  std::string text;
  for (const comparison::Benchmark& one : suite)
    text += fmt::format("{}  {}\n", printable(one.name), shell_words(one.command));
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
  if (options.files.size() > 1)
    return report_error({Code::bad_usage, "more than one SUITE", "run `tally bench` once for each", 0});
  const std::string path = options.files.empty() ? "tally-bench.toml" : options.files.front();
  if (std::error_code error; options.files.empty() && !fs::exists(path, error))
    return report_error({Code::bad_usage, fmt::format("there is no '{}' here, and no SUITE is named", path),
                         "write one: echo 'benchmark = [{name = \"small\", command = [\"true\"]}]' > tally-bench.toml",
                         0});
  const auto suite = chosen_benchmarks(options, path);
  if (!suite) return report_error(suite.error());
  if (options.list) return list(*suite);
  if (const auto sound = comparison::check_suite(*suite); !sound) return report_error(sound.error());
  if (const auto sound = check_baseline(options.baseline); !sound) return report_error(sound.error());
  if (const auto history = history::HistoryFile::open({.file = options.history, .name = ""}); !history)
    return report_error(history.error());
  if (std::error_code error; !options.baseline.empty() && fs::equivalent(options.output, options.baseline, error))
    return report_error(
        {Code::bad_usage, "-o and --baseline name the same directory", "use another directory for one of them", 0});
  if (const auto made = linux::make_folder(options.output); !made) return report_error(made.error());
  Runner runner(options, fs::absolute(path).parent_path().string());
  Progress progress("tally bench");
  std::vector<Outcome> outcomes;
  for (const comparison::Benchmark& one : *suite) {
    progress.show(static_cast<double>(outcomes.size()) / static_cast<double>(suite->size()), printable(one.name));
    auto outcome = runner.run(one);
    if (!outcome) progress.clear();
    if (!outcome) return report_error(outcome.error());
    outcomes.push_back(*std::move(outcome));
  }
  progress.clear();
  std::vector<std::string> missing;
  if (!options.baseline.empty() && options.only.empty()) missing = only_in_baseline(options.baseline, *suite);
  if (!options.comment.empty())
    if (const int written = write_text(options.comment, comment_of(outcomes, missing)); written != exit_ok)
      return written;
  if (const int printed = print(table_of(outcomes, missing)); printed != exit_ok) return printed;
  const int code = exit_code_of(outcomes);
  return code == exit_ok && !missing.empty() ? comparison::undecided_exit_code(options.undecided) : code;
}

}  // namespace tally::cli
