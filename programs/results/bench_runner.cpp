#include "programs/results/bench_runner.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <regex>

#include "programs/results/bench_files.hpp"
#include "programs/results/bench_frameworks.hpp"
#include "programs/results/gate_functions.hpp"
#include "programs/results/history_growth.hpp"
#include "programs/results/loop_differences.hpp"
#include "programs/results/tally_file.hpp"
#include "tally/core/base/text.hpp"
#include "tally/linux/files/input.hpp"
#include "tally/linux/files/output_file.hpp"
#include "tally/linux/process/scratch_folder.hpp"
#include "tally/linux/process/tool.hpp"
#include "tally/output/analysis/comparison.hpp"
#include "tally/output/analysis/gates.hpp"
#include "tally/output/analysis/row_growth.hpp"
#include "tally/output/kinds/stat_format.hpp"
#include "tally/output/registry/choose_format.hpp"
#include "tally/tools/command/command.hpp"
#include "tally/tools/comparison/baseline.hpp"
#include "tally/tools/comparison/gate_options.hpp"
#include "tally/tools/history/history_file.hpp"
#include "tally/tools/report/stored_files.hpp"

namespace tally::results {
namespace {

namespace fs = std::filesystem;
using namespace command;
using Outcome = BenchOutcome;
using Row = BenchOutcome::Row;

/// The lines of a message in one.
std::string one_line(std::string_view message) {
  std::vector<std::string> lines = split(message, '\n');
  for (std::string& line : lines) line = trimmed(line);
  return std::regex_replace(join(lines, "; "), std::regex(":; "), ": ");
}

/// Whether a program that ends with this code was killed by a signal, as shells report it.
bool is_of_signal(int code) { return code > 128 && code <= 128 + 64; }

std::string exit_text(int code) {
  return fmt::format("exit code {}", code) + (is_of_signal(code) ? fmt::format(" ({})", signal_name(code - 128)) : "");
}

// What a comparison suggests, in the words of a suite.
std::string in_suite_words(std::string text) {
  text = std::regex_replace(text, std::regex("(\\(|: )-r ([0-9,]+)"), "$1repeats = $2");
  text = std::regex_replace(text, std::regex("count with --wait-all"), "write wait-all = true");
  return std::regex_replace(text, std::regex(" \\(`tally compare --force` ignores it\\)"), "");
}

/// A run of a framework's benchmark that was counted before.
struct First {
  bool is_stored = false;
  bool may_decide = false;  ///< a second one that agrees is enough
};

class Runner {
 public:
  explicit Runner(const BenchRun& run) : options_(run) {}

  Result<Outcome> run(const Benchmark& of_suite) const {
    Outcome outcome{.benchmark = &of_suite, .rows = {}, .text = {}, .markdown = {}, .growth = {}};
    Benchmark benchmark = of_suite;
    benchmark.repeats = std::max<std::int64_t>(benchmark.repeats, 1);
    const std::string result = result_in(options_.output, benchmark);
    if (const auto removed = remove_results(options_.output, benchmark); !removed) return fail(removed.error());
    if (const auto counted = count_repeats(benchmark, outcome); !counted) return fail(counted.error());
    if (outcome.has_run && of_suite.repeats == 0) {
      const auto single = read(options_.output, benchmark);
      if (!single) return fail(single.error());
      if (can_vary(*single)) {
        benchmark.repeats = repeats_that_decide;
        if (const auto kept = keep_profile(benchmark); !kept) return fail(kept.error());
        const First first{benchmark.framework != nullptr, reads_own_only(benchmark, *single)};
        if (const auto counted = count_repeats(benchmark, outcome, first); !counted) return fail(counted.error());
        if (first.may_decide && outcome.has_run && !is_decided(benchmark, outcome))
          if (const auto counted = count_repeats(benchmark, outcome, {true, false}); !counted)
            return fail(counted.error());
      }
    }
    if (!outcome.has_run) return outcome;
    if (const auto stored = store(benchmark, result); !stored) return fail(stored.error());
    const auto after = read(options_.output, benchmark);
    if (!after) return fail(after.error());
    outcome.can_vary = after->runs < 2 && can_vary(*after);
    for (const output::Measure& measure : after->measures)
      if (outcome.partial.empty()) outcome.partial = in_suite_words(output::missing_work(measure));
    if (has_baseline(benchmark)) {
      compare(outcome, *after);
      return outcome;
    }
    outcome.rows = rows_without_baseline(benchmark, *after);
    if (!outcome.partial.empty()) {
      outcome.text = "partial: " + outcome.partial;
      for (Row& row : outcome.rows) row.verdict = "partial";
    }
    if (options_.baseline.empty()) return outcome;
    if (outcome.partial.empty()) outcome.text = "new: the baseline has no result of it, so no gate is checked";
    if (const auto failed = linux::read_file(failure_file(options_.baseline, benchmark))) {
      outcome.code = undecided_exit_code(options_.undecided);
      for (Row& row : outcome.rows) row.verdict = "baseline failed";
      outcome.text = fmt::format("undecided: the baseline has no result of it ({})", one_line(trimmed(*failed)));
    } else if (is_listed(options_.baseline, benchmark)) {
      outcome.code = exit_bad_usage;
      for (Row& row : outcome.rows) row.verdict = "baseline incomplete";
      outcome.text = fmt::format(
          "failed: the baseline lists it and has no result of it: `tally bench` was interrupted, or '{}' was lost; {}",
          printable(result_in(options_.baseline, benchmark)), recount_hint());
    }
    return outcome;
  }

  std::vector<std::string> unknown_functions(const Benchmark& benchmark) const {
    const auto has_function = [](const output::Gate& limit) { return !limit.function.empty(); };
    if (!has_baseline(benchmark) || std::ranges::none_of(gates_of(benchmark), has_function)) return {};
    const auto before = read(options_.baseline, benchmark);
    return before ? missing_functions(gates_of(benchmark), *before, benchmark.name) : std::vector<std::string>{};
  }

 private:
  /// Whether another run may count something else.
  static bool can_vary(const output::Comparable& result) {
    return !result.is_single_threaded || !result.sources.empty();
  }

  /// Whether only sources that the framework reads itself may make the next run differ. The benchmark may read them,
  /// too.
  static bool reads_own_only(const Benchmark& benchmark, const output::Comparable& result) {
    return benchmark.framework != nullptr && result.is_single_threaded &&
           std::ranges::all_of(result.sources, [&](const std::string& source) {
             const auto own = std::ranges::find(benchmark.framework->own_sources, source, &OwnSource::source);
             return own != benchmark.framework->own_sources.end() && own->certain == 0;
           });
  }

  bool has_baseline(const Benchmark& benchmark) const {
    std::error_code error;
    return !options_.baseline.empty() && fs::exists(result_in(options_.baseline, benchmark), error);
  }

  /// Whether the stored runs are enough: nobody knows whether only the framework read what differs, so two runs that
  /// agree do not decide that the count changed.
  bool is_decided(const Benchmark& benchmark, Outcome trial) const {
    if (!has_baseline(benchmark)) return true;
    if (const auto after = read(options_.output, benchmark)) compare(trial, *after);
    return trial.code == exit_ok && trial.text.empty() && std::ranges::all_of(trial.rows, [](const Row& row) {
             return row.verdict == "passed" || row.verdict == "same";
           });
  }

  /// Moves the result of a single run to the profile of several runs, if it is a profile.
  Result<void> keep_profile(const Benchmark& benchmark) const {
    if (!benchmark.is_profile) return {};
    const fs::path profile = profile_in(options_.output, benchmark);
    if (auto ready = linux::make_folder(profile.parent_path().string()); !ready) return ready;
    std::error_code error;
    fs::rename(result_in(options_.output, benchmark), profile, error);
    return error ? fail(Code::cannot_write,
                        fmt::format("cannot write '{}': {}", printable(profile.string()), error.message()))
                 : Result<void>{};
  }

  /// Writes the result, and with several repeats the profile unless there is one; if the benchmark fails, the reason
  /// instead.
  Result<void> count_repeats(const Benchmark& benchmark, Outcome& outcome, First first = {}) const {
    const std::string result = result_in(options_.output, benchmark), profile = profile_in(options_.output, benchmark);
    const bool has_both = benchmark.is_profile && benchmark.repeats > 1;
    if (has_both)
      if (const auto ready = linux::make_folder(fs::path(profile).parent_path().string()); !ready)
        return fail(ready.error());
    std::error_code error;
    Result<void> counted;
    outcome.has_run = true;
    if (has_both && !fs::exists(profile, error)) counted = count(benchmark, true, profile, outcome);
    if (counted && outcome.has_run)
      counted = benchmark.framework != nullptr ? count_loops(benchmark, result, outcome, first)
                                               : count(benchmark, benchmark.is_profile && !has_both, result, outcome,
                                                       has_both ? options_of(benchmark) : std::vector<std::string>());
    if (counted && outcome.has_run) return {};
    if (const auto removed = remove_results(options_.output, benchmark); !counted || !removed)
      return counted ? removed : counted;
    auto written = linux::Output::open_file(failure_file(options_.output, benchmark));
    if (written) written->write(outcome.text + "\n");
    return {};
  }

  /// The options that count the functions of gates, if the profile is of a program with several threads or processes:
  /// one run does not decide what these count.
  std::vector<std::string> options_of(const Benchmark& benchmark) const {
    const auto profile = read_comparable(profile_in(options_.output, benchmark));
    if (!profile || profile->profile == nullptr || profile->is_single_threaded) return {};
    return function_options(gates_of(benchmark), *profile->profile);
  }

  /// Runs `tally stat` or `tally profile`, and sets has_run, code and text.
  Result<void> count(const Benchmark& benchmark, bool is_profile, const std::string& result, Outcome& outcome,
                     const std::vector<std::string>& more = {}, const LoopLength& length = {}) const {
    const std::string input = input_of(benchmark, options_.folder);
    std::error_code error;
    if (!fs::exists(input, error)) {
      outcome.has_run = false;
      outcome.rows = {{"-", {}, {}, {}, {}, "not counted"}};
      outcome.text = fmt::format("failed: there is no file '{}' for its standard input", printable(input));
      return {};
    }
    const auto limit = benchmark.timeout_of(is_profile || benchmark.framework != nullptr ? 1 : benchmark.repeats);
    fs::remove(result, error);  // of an earlier run
    const auto counted = linux::run_tool(count_command(benchmark, is_profile, result, more, length), limit, input);
    if (!counted) return fail(counted.error());
    if (counted->was_stopped && !counted->timed_out) return fail(Code::cannot_measure, "interrupted");
    outcome.has_run = counted->exit_code == 0 && !counted->was_stopped;
    if (outcome.has_run) return {};
    outcome.code = counted->was_stopped ? exit_cannot_measure : counted->exit_code;
    const std::string how = counted->was_stopped ? fmt::format("timeout of {} s", limit->count() / 1'000'000'000)
                                                 : exit_text(counted->exit_code);
    outcome.rows = {{"-", {}, {}, {}, {}, counted->was_stopped ? "timeout" : how}};
    // Its last line is often the reason; if tally could not count, or not write the result, the message says it.
    std::vector<std::string> lines = split(trimmed(counted->output), '\n');
    const auto is_of_tally = [](const std::string& line) { return line.starts_with("tally: "); };
    const auto message = std::ranges::find_if(lines, is_of_tally);
    // tally writes the result of a program that ran, with --strict also if counting ended.
    const bool is_own = message != lines.end() && (outcome.code == exit_cannot_measure || !fs::exists(result, error));
    std::string reason = is_own ? message->substr(7) : "";
    if (reason.ends_with(':'))  // a list follows
      for (auto line = message + 1; line != lines.end() && line->starts_with(' '); ++line) reason += "\n" + *line;
    reason = one_line(reason);
    bool is_within = false;  // further lines of a message are indented
    std::erase_if(lines, [&](const std::string& line) {
      return is_within = is_of_tally(line) || (is_within && line.starts_with(' '));
    });
    constexpr std::size_t most = 200;
    const std::string why = printable(trimmed(is_own || lines.empty() ? reason : lines.back()).substr(0, most));
    outcome.text = fmt::format("failed: {}{}{}", how, why.empty() ? "" : is_own ? "; " : "; its last line: ", why);
    const auto environment = benchmark.settings.find("environment");
    if (!is_own && !counted->was_stopped && !is_of_signal(counted->exit_code) &&
        environment != benchmark.settings.end() && environment->second == "fixed")
      outcome.text += "; its environment is fixed: environment = \"fixed,NAME\" keeps a variable that it needs";
    say({fmt::format("'{}' failed with {}; its output:", printable(benchmark.name), how)});
    (void)linux::Output::standard_error().write(counted->output);
    return {};
  }

  std::vector<std::string> count_command(const Benchmark& benchmark, bool is_profile, const std::string& result,
                                         const std::vector<std::string>& more, const LoopLength& length) const {
    std::vector<std::string> words{"env", "-C", (fs::path(options_.folder) / benchmark.directory).string()};
    if (benchmark.language != nullptr && !benchmark.language->variable.empty())
      words.push_back(fmt::format("{}={}", benchmark.language->variable, benchmark.language->value));
    words.push_back(tally_);
    const auto add = [&](const std::string& option, const std::string& value) {
      if (!value.empty()) words.insert(words.end(), {option, value});
    };
    words.insert(words.end(), {is_profile ? "profile" : "stat", "-q"});
    add("-o", fs::absolute(result).string());
    add("-e", join(benchmark.events, ","));
    add("--label", options_.label);
    for (std::string& word : benchmark.setting_options()) words.push_back(std::move(word));
    words.insert(words.end(), more.begin(), more.end());
    if (is_profile)
      words.emplace_back("--inlines");
    else
      add("-r", std::to_string(benchmark.framework == nullptr ? benchmark.repeats : 1));
    words.emplace_back("--");
    words.insert(words.end(), benchmark.command.begin(), benchmark.command.end());
    if (is_profile && benchmark.language != nullptr && !benchmark.language->profile_options.empty()) {
      const auto more_words = split(benchmark.language->profile_options, ' ');
      words.insert(words.end() - static_cast<std::ptrdiff_t>(benchmark.command.size()) + 1, more_words.begin(),
                   more_words.end());
    }
    for (std::string& word : loop_arguments(benchmark, report_of(result), length)) words.push_back(std::move(word));
    return words;
  }

  /// The file for the report of a framework's program, next to the result.
  static std::string report_of(const std::string& result) { return fs::absolute(result).string() + ".report"; }

  /// Counts a framework's benchmark in its number of repeats.
  Result<void> count_loops(const Benchmark& benchmark, const std::string& result, Outcome& outcome, First first) const {
    std::optional<result::Stat> all;
    if (first.is_stored) {
      auto stored = report::read_counts(result);
      if (!stored) return fail(stored.error());
      all = *std::move(stored);
    }
    const auto agree = [&] {
      return all->runs.size() == 2 &&
             std::ranges::equal(all->runs[0].counts, all->runs[1].counts, {}, value_of, value_of);
    };
    while (!all || std::ssize(all->runs) < benchmark.repeats) {
      if (first.may_decide && agree()) break;
      std::optional<result::Stat> stat;
      if (auto counted = count_loop(benchmark, result, outcome, stat); !counted || !outcome.has_run) return counted;
      if (all)
        all->runs.push_back(stat->runs.front());
      else
        all = std::move(stat);
    }
    if (all->runs.size() > 1) summarize_runs(*all);
    const auto format = output::choose_format(output::stat_formats(), "json", "", "json");
    if (!format) return fail(format.error());
    const auto text = (*format)->write(*all, {});
    if (!text) return fail(text.error());
    auto output = linux::Output::open_file(result);
    return output ? output->write(*text) : fail(output.error());
  }

  static std::optional<std::int64_t> value_of(const result::EventCount& count) { return count.count.value; }

  /// Counts a framework's benchmark once: in as many runs as it takes. Sets `loop` if it ran.
  Result<void> count_loop(const Benchmark& benchmark, const std::string& result, Outcome& outcome,
                          std::optional<result::Stat>& loop) const {
    const auto options = loop_options(benchmark, options_.folder);
    Result<bool> kept = options ? Result<bool>(false) : fail(options.error());
    std::string report;
    Result<void> counted;
    const auto run = [&](const std::vector<std::string>& more, const LoopLength& length) -> Result<result::Stat> {
      counted = count(benchmark, false, result, outcome, more, length);
      if (!counted) return fail(counted.error());
      report = linux::read_file(report_of(result)).value_or("");
      std::error_code error;
      fs::remove(report_of(result), error);
      return outcome.has_run ? report::read_counts(result) : fail(Code::cannot_measure, "the program failed");
    };
    const auto run_length = [&](const LoopLength& length) -> Result<LoopSample> {
      auto stat = run(options->front(), length);
      if (!stat) return fail(stat.error());
      const auto read = benchmark.framework->read_report(report);
      return read ? Result<LoopSample>({*std::move(stat), *read}) : fail(read.error());
    };
    const bool by_difference = benchmark.framework->measures_differences;
    const auto before = by_difference && !options_.baseline.empty()
                            ? report::read_counts(result_in(options_.baseline, benchmark))
                            : fail(Code::not_found, "");
    const LoopIterations iterations = before ? iterations_of(*before) : LoopIterations();
    for (std::size_t i = 0; kept && !*kept && i < options->size(); ++i) {
      int attempts = 5;
      do {
        auto stat = by_difference ? count_differences(benchmark, iterations, run_length) : run(options->at(i), {});
        if (!counted || !outcome.has_run) return counted;
        kept = !stat ? fail(stat.error()) : by_difference ? Result<bool>(true) : keep_loop(*stat, benchmark, report);
        if (kept && *kept) loop = *std::move(stat);
      } while (!kept && kept.error().message == benchmark.framework->ambiguous && --attempts > 0);
    }
    if (loop) return {};
    const Error why =
        kept ? Error{Code::cannot_measure, "the program did not reach the benchmark", "", 0} : kept.error();
    outcome.has_run = false;
    outcome.code = exit_cannot_measure;
    outcome.rows = {{"-", {}, {}, {}, {}, "not counted"}};
    outcome.text = one_line(why.message) + (why.hint.empty() ? "" : "; " + one_line(why.hint));
    return {};
  }

  /// Adds the result to the history.
  Result<void> store(const Benchmark& benchmark, const std::string& result) const {
    if (options_.history.empty()) return {};
    const auto stat = report::read_counts(result);
    if (!stat) return fail(stat.error());
    auto history =
        history::HistoryFile::open({.file = options_.history, .name = benchmark.name, .accepted = benchmark.accepted});
    if (!history) return fail(history.error());
    if (history->add(*stat, history::Origin::measured) == exit_ok) return {};
    return fail(Code::cannot_write, fmt::format("cannot add '{}' to the history", printable(benchmark.name)));
  }

  /// A stored result; of several runs with the functions of its profile.
  static Result<output::Comparable> read(const std::string& folder, const Benchmark& benchmark) {
    auto result = read_comparable(result_in(folder, benchmark));
    if (!result || result->profile != nullptr || !benchmark.is_profile) return result;
    std::error_code error;
    const std::string file = profile_in(folder, benchmark);
    if (!fs::exists(file, error)) return result;
    auto profile = read_comparable(file);
    if (!profile) return profile;
    result->profile = std::move(profile->profile);
    result->threads = std::move(profile->threads);
    return result;
  }

  /// The counts that gates limit; without gates the first one.
  std::vector<Row> rows_without_baseline(const Benchmark& benchmark, const output::Comparable& after) const {
    std::vector<Row> rows;
    const auto gates = gates_of(benchmark);
    for (const output::Measure& measure : after.measures) {
      const bool is_limited = std::any_of(gates.begin(), gates.end(), [&](const output::Gate& candidate) {
        return candidate.function.empty() == measure.subject.empty() &&
               output::check_event(candidate, {measure.name}, "");
      });
      if (is_limited || (gates.empty() && rows.empty() && measure.value)) rows.push_back(row_of(measure));
    }
    // Each gate is of a function.
    if (rows.empty() && !after.measures.empty()) rows.push_back(row_of(after.measures.front()));
    return rows;
  }

  /// Without a baseline.
  Row row_of(const output::Measure& measure) const {
    output::ComparedCount count = output::empty_row(measure);
    count.after = measure.value;
    count.trust = tally::name(measure.trust);
    return {.event = name_of(count),
            .before = "-",
            .after = output::count_text(count.after, count),
            .change = {},
            .limit = {},
            .verdict = options_.baseline.empty() ? "counted" : "new",
            .count = count};
  }

  static std::string name_of(const output::ComparedCount& count) {
    return count.subject.empty() ? count.event : count.event + "@" + count.subject;
  }

  static Row row_of(const output::ComparedCount& count, std::string limit, std::string verdict) {
    const std::string relative = output::relative_text(count);
    return {.event = name_of(count),
            .before = output::count_text(count.before, count),
            .after = output::count_text(count.after, count),
            .change = relative.empty() ? output::change_text(count) : relative,
            .limit = std::move(limit),
            .verdict = std::move(verdict),
            .count = count};
  }

  static std::vector<output::Gate> gates_of(const Benchmark& benchmark) {
    GateOptions options{.hard = benchmark.fail_above, .soft = benchmark.warn_above, .file = {}};
    std::erase_if(options.hard, is_growth_limit);
    std::erase_if(options.soft, is_growth_limit);
    return read_gates(options).value_or(std::vector<output::Gate>{});  // check_suite() has parsed them
  }

  std::string recount_hint() const {
    return fmt::format("count it again with this suite: tally bench -o {}",
                       printable(shell_words({options_.baseline})));
  }

  /// Compares with the baseline, and sets code, rows, text and markdown.
  void compare(Outcome& outcome, const output::Comparable& after) const {
    const auto refuse = [&](const Error& error, int code, const char* verdict) {
      outcome.code = code;
      outcome.rows = rows_without_baseline(*outcome.benchmark, after);
      if (outcome.rows.empty()) outcome.rows.emplace_back();
      for (Row& row : outcome.rows) row.verdict = verdict;
      outcome.text = one_line(error.message) + (error.hint.empty() ? "" : "; " + one_line(error.hint));
    };
    const std::string hint = recount_hint();
    auto before = read(options_.baseline, *outcome.benchmark);
    if (!before) return refuse({before.error().code, before.error().message, hint, 0}, exit_bad_usage, "unreadable");
    // Two runs of a framework's benchmark that agree were enough: after five that do not, they count as five.
    if (outcome.benchmark->framework != nullptr && reads_own_only(*outcome.benchmark, *before))
      for (output::Measure& measure : before->measures)
        if (measure.runs.size() == 2 && measure.runs.front() == measure.runs.back() && after.runs >= fewest_runs)
          measure.runs.resize(fewest_runs, measure.runs.front());
    if (const auto different = output::not_comparable(*before, after))
      return refuse({different->code, different->message, hint, 0}, exit_not_comparable, "not comparable");
    const auto judged = output::compare_and_judge(*before, after, gates_of(*outcome.benchmark));
    if (!judged) return refuse(judged.error(), exit_bad_usage, "wrong gate");
    const int undecided = undecided_exit_code(options_.undecided);
    outcome.code = outcome_of(*judged, undecided).second;
    for (const output::GateResult& result : judged->gates) {
      const std::string& text = result.gate.text;
      const std::string limit = text.substr(text.rfind('=') + 1);
      const bool warns = result.state == output::GateResult::State::failed && !result.gate.is_hard;
      const std::string verdict(warns ? "warning" : output::name(result.state));
      outcome.rows.push_back(result.count != nullptr
                                 ? row_of(*result.count, limit, verdict)
                                 : Row{text.substr(0, text.rfind('=')), "", "", "", limit, verdict});
    }
    if (judged->gates.empty() && !judged->comparison.counts.empty()) {
      const output::ComparedCount& first = judged->comparison.counts.front();
      outcome.rows.push_back(row_of(first, "", std::string(output::name(first.verdict))));
      if (first.verdict == output::Verdict::undecided) outcome.text = in_suite_words(one_line(first.reason));
    }
    if (const std::string verdict = judged->verdict(); !judged->gates.empty() && verdict != "passed: every gate")
      outcome.text = in_suite_words(verdict);
    if (outcome.code == exit_no) outcome.text += profile_hint(*outcome.benchmark, after.command);
    outcome.markdown = in_suite_words(output::comparison_markdown(*judged, {}));
    for (const output::ComparedCount& count : judged->comparison.counts)
      if (std::string function = output::largest_growth(judged->comparison, count.event); !function.empty())
        outcome.largest[count.event] = std::move(function);
  }

  const BenchRun& options_;
  std::string tally_ = tally_file();
};

}  // namespace

std::vector<std::string> unknown_functions(const Benchmark& benchmark, const BenchRun& run) {
  return Runner(run).unknown_functions(benchmark);
}

Result<BenchOutcome> run_benchmark(const Benchmark& benchmark, const BenchRun& run) {
  return Runner(run).run(benchmark);
}

int exit_code_of(const std::vector<BenchOutcome>& outcomes) {
  for (const int code : {exit_no, exit_bad_usage, exit_cannot_measure, exit_not_comparable})
    if (std::ranges::any_of(outcomes, [code](const BenchOutcome& outcome) {
          return (outcome.has_run ? outcome.code : exit_cannot_measure) == code;
        }))
      return code;
  return exit_ok;
}

}  // namespace tally::results
