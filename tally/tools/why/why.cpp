#include "tally/tools/why/why.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "tally/core/base/text.hpp"
#include "tally/linux/process/finishing.hpp"
#include "tally/tools/command/command.hpp"
#include "tally/tools/why/added_instructions.hpp"
#include "tally/tools/why/path_experiment.hpp"
#include "tally/tools/why/start_differences.hpp"
#include "tally/tools/windows/window_names.hpp"

namespace tally::why {
namespace {

using Read = backend::RecordedPath::Read;
using Step = backend::RecordedPath::Step;

/// Runs that must agree before a cause is accepted, at least; more if the runs seldom part.
constexpr int trials = 3;
/// Runs of one command in which it must part from itself, if its difference is not so rare that it cannot be explained.
constexpr int runs_until_parting = 12;
/// How often the commands run again to find a difference that not every run has.
constexpr int attempts = 6;

// After it, the clock shows another second.
constexpr auto a_second = std::chrono::milliseconds(1010);

std::string instructions(std::uint64_t number) { return thousands(static_cast<std::int64_t>(number)); }

/// A cause that runs can do without.
enum class Removed { nothing, addresses, random_numbers };

/// What was found to be the cause.
struct Cause {
  std::string text;  ///< "cause: …"
  std::vector<std::string> details = {};
  Removed removed = Removed::nothing;
};

class Explanation {
 public:
  Explanation(const StoredRun& before, const StoredRun& after, const output::PathDifference& difference, Rerun first,
              Rerun second, std::vector<StartDifference> differences, linux::Signals& signals)
      : before_(before),
        after_(after),
        difference_(difference),
        first_(std::move(first)),
        second_(std::move(second)),
        differences_(std::move(differences)),
        signals_(signals) {
    part_.thread = stored(before).paths[difference.before];
  }

  /// Runs the commands again and returns the lines of the report. Errors: those of Rerun::run().
  Result<std::vector<std::string>> explain() {
    auto explained = differences_.empty() ? explain_parting() : explain_commands();
    if (!explained) return fail(explained.error());
    return std::move(lines_);
  }

 private:
  /// Of commands that differ: without what differs from run to run, as far as they part without it; and what each
  /// difference accounts for.
  Result<void> explain_commands() {
    const Rerun first = first_, second = second_;
    remove(Removed::addresses);
    auto found = find(0, longest());
    if (!found) return fail(found.error());
    if (!*found || (*found)->parting.is_earlier) {
      first_ = first;
      second_ = second;
    }
    if (auto explained = explain_parting(); !explained) return explained;
    remove(Removed::addresses);
    const auto added = added_by_differences(first_, second_, differences_, signals_);
    if (!added) return fail(added.error());
    lines_.insert(lines_.end(), added->begin(), added->end());
    lines_.back() += "; in the stored runs: " + added_text(stored(before_), stored(after_));
    return {};
  }

  Result<void> explain_parting() {
    auto found = find(difference_.from, std::max(difference_.to, difference_.from + 1));
    if (!found) return fail(found.error());
    if (!*found || (*found)->parting.is_earlier) {
      const bool is_earlier = found->has_value();
      found = find(0, longest());
      if (!found) return fail(found.error());
      if (!*found || (*found)->parting.is_earlier) {
        add_not_reproduced(is_earlier);
        return {};
      }
      lines_.emplace_back("ran both commands again: that difference did not come back, but they part elsewhere");
    } else {
      describe_reproduction(**found);
    }
    while (true) {
      describe_parting(**found);
      auto cause = find_cause(**found);
      if (!cause) return fail(cause.error());
      lines_.push_back(cause->text);
      for (std::string& line : cause->details) lines_.push_back("  " + std::move(line));
      if (cause->removed == Removed::nothing) return {};
      // What comes after it may have another cause.
      remove(cause->removed);
      found = find(0, longest());
      if (!found) return fail(found.error());
      if (!*found) {
        lines_.emplace_back("without that, both commands take the same path");
        add_input_note();
        return {};
      }
      lines_.push_back(cause->removed == Removed::addresses ? "without randomised addresses, the commands part again:"
                                                            : "with --repeatable, the commands part again:");
    }
  }

  static const result::Run& stored(const StoredRun& run) { return run.stat.runs.front(); }

  /// Instructions of the longer thread.
  std::uint64_t longest() const {
    return std::max(stored(before_).paths[difference_.before].instructions,
                    stored(after_).paths[difference_.after].instructions);
  }

  /// Runs both commands until two of their runs part in the range. Returns the last ones that part before it if all do.
  /// In every second attempt both start in different seconds.
  Result<std::optional<PartedRuns>> find(std::uint64_t from, std::uint64_t to) {
    std::optional<PartedRuns> found;
    for (int i = 0; i < attempts && (!found || found->parting.is_earlier); ++i) {
      part_.from = from;
      auto parted =
          find_parting(first_, second_, part_, to, i % 2 == 1 ? a_second : std::chrono::milliseconds(0), signals_);
      if (!parted) return fail(parted.error());
      if (*parted) found = *std::move(parted);
      // Elsewhere in each run: as far back as can be recorded.
      if (i + 2 == attempts && found && found->parting.is_earlier)
        from = to > recorded_step_limit ? to - recorded_step_limit : 0;
    }
    return found;
  }

  void remove(Removed removed) {
    for (Rerun* const one : {&first_, &second_}) {
      one->fix_addresses();
      if (removed == Removed::random_numbers) one->make_repeatable();
    }
  }

  void add_not_reproduced(bool is_earlier) {
    const std::string begin = "the runs could not be reproduced: ";
    if (is_earlier) return lines_.push_back(begin + "run again, the commands part before these instructions");
    lines_.push_back(begin +
                     fmt::format("{} times both commands took the same path through these instructions", attempts));
    lines_.emplace_back(
        "the difference is rare, or what made it no longer exists (a file, a directory, a value of the environment)");
    add_input_note();
  }

  void add_input_note() {
    const std::vector<std::string>& streams = before_.stat.start->streams;
    if (!streams.empty() && (streams[0] == "pipe" || streams[0] == "file"))
      lines_.push_back(fmt::format(
          "standard input was a {}, whose content is not stored: both commands read the same now; if the stored runs "
          "did not, that is a cause, too",
          printable(streams[0])));
  }

  /// Whether a run again shows the hashes that are stored of the first and last instruction of the range.
  bool shows_stored(const RecordedRun& run, const result::ThreadPath& path) const {
    if (run.path == nullptr || part_.from != difference_.from || part_.every != 1 || path.interval == 0) return false;
    const auto stored_hash = [&](std::uint64_t at) {
      const std::uint64_t index = at / path.interval;
      return at % path.interval != 0 || index == 0 || index > path.hashes.size() ? path.end : path.hashes[index - 1];
    };
    return !run.path->hashes.empty() && run.path->hashes.back() == stored_hash(difference_.to);
  }

  void describe_reproduction(const PartedRuns& runs) {
    const bool first = shows_stored(runs.before, stored(before_).paths[difference_.before]);
    const bool second = shows_stored(runs.after, stored(after_).paths[difference_.after]);
    if (part_.from < difference_.from) {
      lines_.emplace_back("ran both commands again: they part earlier than the stored runs");
      return;
    }
    if (part_.from != difference_.from || part_.every != 1) return;
    if (first && second)
      lines_.emplace_back("ran both commands again: both took their stored paths");
    else if (first || second)
      lines_.push_back(
          fmt::format("ran both commands again: only the {} took its stored path, and they part as follows",
                      first ? "first" : "second"));
    else
      lines_.emplace_back("ran both commands again: neither took its stored path, but they part in the same range");
  }

  std::string place(const backend::PathRecording& parts, const Step& step) {
    if (step.file >= parts.files.size()) return fmt::format("{:#x} (no file)", step.offset);
    result::Window window;
    window.file = &parts.files[step.file];
    window.offset = step.offset;
    names_.name(window);
    const std::string path = window.file->path;
    const std::string object = printable(path.substr(path.rfind('/') + 1));
    std::string text = window.function.empty() ? object : fmt::format("{} ({}", window.function, object);
    if (window.function.empty()) return text;
    return text + (window.line.empty() ? ")" : fmt::format(", {})", window.line));
  }

  /// The functions that the paths came through before they parted: the last instruction in each, newest first.
  std::vector<std::string> functions_before(const PartedRuns& runs) {
    constexpr std::size_t shown = 2;
    const backend::RecordedPath& path = *runs.before.path;
    std::map<std::pair<std::uint32_t, std::uint64_t>, std::string> functions;
    const auto function = [&](const Step& step) -> const std::string& {
      const auto [known, is_new] = functions.try_emplace({step.file, step.offset});
      if (is_new) {
        const std::string text = place(*runs.before.parts, step);
        known->second = text.substr(0, text.find(" ("));
      }
      return known->second;
    };
    std::vector<std::string> found;
    for (std::size_t i = runs.parting.steps; i-- > 1 && found.size() < shown;) {
      const std::string& earlier = function(path.steps[i - 1]);
      // Stubs of linkage tables have no names of their own.
      if (earlier != function(path.steps[i]) && !earlier.starts_with('['))
        found.push_back(place(*runs.before.parts, path.steps[i - 1]));
    }
    return found;
  }

  void describe_parting(const PartedRuns& runs) {
    const Parting& at = runs.parting;
    lines_.push_back(
        fmt::format("after {} instructions of {}:", instructions(at.instructions), output::thread_text(part_.thread)));
    if (at.last) lines_.push_back("  both were in         " + place(*runs.before.parts, *at.last));
    for (const std::string& earlier : functions_before(runs)) lines_.push_back("  before that, in      " + earlier);
    const auto next = [&](const RecordedRun& run, const std::optional<Step>& step) {
      return step ? place(*run.parts, *step) : std::string("the end of the thread");
    };
    lines_.push_back("  first continued in   " + next(runs.before, at.before));
    lines_.push_back("  second continued in  " + next(runs.after, at.after));
  }

  std::string read_text(const RecordedRun& run, const Read& read, std::uint64_t until) {
    std::string text = fmt::format("{}, read in {}", read.source, place(*run.parts, read.where));
    if (read.caller.file != backend::RecordedPath::no_file)
      text += fmt::format(", called by {}", place(*run.parts, read.caller));
    const std::uint64_t at = static_cast<std::uint64_t>(std::max<std::int64_t>(read.instructions, 0));
    return text + fmt::format(", {} instructions before", instructions(until > at ? until - at : 0));
  }

  /// The last read that differs, and that the filter accepts.
  template <class Filter>
  const Read* last_read(const RecordedRun& run, const std::vector<std::size_t>& reads, const Filter& accepts) const {
    for (auto i = reads.rbegin(); i != reads.rend(); ++i)
      if (const Read& read = run.path->reads[*i]; accepts(read)) return &read;
    return nullptr;
  }

  /// Whether a number of runs of a command take the same path through the range. With `clock_differs`, the last one
  /// starts in another second than the first: programs seed with seconds.
  Result<bool> agree(const Rerun& rerun, int runs, bool clock_differs) {
    std::optional<RecordedRun> one;
    for (int i = 0; i < runs; ++i) {
      if (clock_differs && i == runs - 1) std::this_thread::sleep_for(a_second);
      auto run = record(rerun, part_, signals_);
      if (!run) return fail(run.error());
      if (!one)
        one = *std::move(run);
      else if (parting(*one, *run, part_))
        return false;
    }
    return true;
  }

  /// Whether each of `trials` runs of a command leaves the path of `with`.
  Result<bool> always_parts(const Rerun& rerun, const RecordedRun& with) {
    for (int i = 0; i < trials; ++i) {
      const auto run = record(rerun, part_, signals_);
      if (!run) return fail(run.error());
      if (!parting(with, *run, part_)) return false;
    }
    return true;
  }

  Result<Cause> find_cause(const PartedRuns& runs) {
    const auto differing = differing_reads(runs.before, runs.after, runs.parting.instructions);
    for (const StartDifference& difference : differences_) {
      const auto parts = parts_by(difference, runs);
      if (!parts) return fail(parts.error());
      if (*parts) return cause_in(difference, runs, differing);
    }
    const auto until = runs_until_first_parts(runs.before);
    if (!until) return fail(until.error());
    // Only a command that never parts from itself can part from another because that is another.
    if (!*until && !differences_.empty()) {
      const auto parts = always_parts(second_, runs.before);
      if (!parts) return fail(parts.error());
      if (*parts) {
        Cause cause = cause_in_reads("cause: the commands differ; each always takes its own path", runs, differing);
        for (const StartDifference& difference : differences_) cause.details.push_back(difference.text);
        return cause;
      }
    }
    return cause_in_runs(runs, differing, trials * until->value_or(runs_until_parting));
  }

  /// How many runs of the first command it takes until one parts from `with`. Nothing after a few: after `trials` if a
  /// difference between the commands may explain it as well.
  Result<std::optional<int>> runs_until_first_parts(const RecordedRun& with) {
    const int most = differences_.empty() ? runs_until_parting : trials;
    for (int i = 1; i <= most; ++i) {
      const auto run = record(first_, part_, signals_);
      if (!run) return fail(run.error());
      if (parting(with, *run, part_)) return std::optional(i);
    }
    return std::optional<int>();
  }

  /// Whether the first command always leaves its path at that instruction with this difference, and never without it.
  Result<bool> parts_by(const StartDifference& difference, const PartedRuns& runs) {
    Rerun changed = first_;
    if (!changed.take(difference, second_)) return false;
    for (int i = 0; i < 2 * trials; ++i) {
      const auto run = record(i < trials ? changed : first_, part_, signals_);
      if (!run) return fail(run.error());
      const auto at = parting(runs.before, *run, part_);
      if ((at && !at->is_earlier && at->instructions == runs.parting.instructions) != (i < trials)) return false;
    }
    return true;
  }

  Cause cause_in(const StartDifference& difference, const PartedRuns& runs, const std::vector<std::size_t>& differing) {
    using enum StartDifference::Kind;
    const std::string begin = differences_.size() > 1 ? "cause of this first parting: " : "cause: ";
    if (difference.kind == variable)
      return {begin + "the environment variable" + difference.text.substr(difference.text.find(':') + 1)};
    if (difference.kind == repeatable || difference.kind == clock) return {begin + difference.text};
    Cause cause = cause_in_reads(begin + difference.text, runs, differing);
    if (!cause.details.empty()) cause.details.push_back(difference.text);
    return cause;
  }

  /// What both commands read and found different, if there is such; else `otherwise`.
  Cause cause_in_reads(const std::string& otherwise, const PartedRuns& runs,
                       const std::vector<std::size_t>& differing) {
    const Read* const read = last_read(runs.before, differing, [](const Read& one) { return one.value != 0; });
    if (read == nullptr) return {otherwise};
    return {"cause: " + read_text(runs.before, *read, runs.parting.instructions),
            {"each command always reads the same, and the two read different values"}};
  }

  /// Runs of the same command differ: takes sources away until `agreeing` runs do not.
  Result<Cause> cause_in_runs(const PartedRuns& runs, const std::vector<std::size_t>& differing, int agreeing) {
    const std::uint64_t at = runs.parting.instructions;
    if (!first_.is_repeatable()) {
      const bool clock_differs =
          last_read(runs.before, differing, [](const Read& one) { return one.source == "clock"; }) != nullptr;
      Rerun fixed = first_;
      fixed.fix_addresses();
      const auto same = first_.has_fixed_addresses() ? Result<bool>(false) : agree(fixed, agreeing, clock_differs);
      if (!same) return fail(same.error());
      if (*same)
        return Cause{
            "cause: addresses: the kernel places the program's memory at random (ASLR)",
            {fmt::format("tested: {} runs without randomised addresses took the same path; --repeatable fixes them",
                         agreeing)},
            Removed::addresses};
      fixed.make_repeatable();
      const auto random = agree(fixed, agreeing, clock_differs);
      if (!random) return fail(random.error());
      if (*random) {
        const Read* const read =
            last_read(runs.before, differing, [](const Read& one) { return is_random(one.source); });
        return Cause{
            "cause: " + (read != nullptr ? read_text(runs.before, *read, at)
                                         : std::string("random numbers of the kernel (AT_RANDOM)")),
            {fmt::format("tested: {} runs with fixed random numbers (--repeatable) took the same path", agreeing)},
            Removed::random_numbers};
      }
    }
    if (const Read* const race = race_near(runs))
      return Cause{"cause: " + read_text(runs.before, *race, at) + ": threads run in another order", {}};
    const auto is_candidate = [&](const Read& one) {
      return !is_random(one.source) && !is_of_linker(runs.before, one);
    };
    if (const Read* const read = last_read(runs.before, differing, is_candidate))
      return Cause{"cause: " + read_text(runs.before, *read, at),
                   {"the last of what was read before and differs from run to run"}};
    if (runs.before.threads > 1) return Cause{"cause: threads run in another order (a race between threads)", {}};
    return Cause{"cause: unknown: nothing was read before that differs", {}};
  }

  /// A futex call, soon after the paths parted, that depends on another thread.
  const Read* race_near(const PartedRuns& runs) const {
    constexpr std::int64_t near = 1000;
    const auto at = static_cast<std::int64_t>(runs.parting.instructions);
    for (const RecordedRun* const run : {&runs.before, &runs.after})
      for (const Read& read : run->path->reads)
        if (read.source == "thread race" && read.instructions >= at && read.instructions < at + near) return &read;
    return nullptr;
  }

  const StoredRun& before_;
  const StoredRun& after_;
  const output::PathDifference difference_;
  Rerun first_, second_;
  const std::vector<StartDifference> differences_;
  linux::Signals& signals_;
  PathPart part_;
  windows::WindowNames names_;
  std::vector<std::string> lines_;
};

int print_lines(const std::vector<std::string>& lines) { return command::print(join(lines, "\n") + "\n"); }

}  // namespace

int explain_difference(const StoredRun& before, const StoredRun& after, StatReader read,
                       const std::vector<std::string>& values) {
  const result::Run &first = before.stat.runs.front(), &second = after.stat.runs.front();
  std::vector<std::string> lines;
  auto differences = start_differences(before.stat, after.stat, read);
  const auto add_stored = [&] {
    const auto more = stored_lines(before.stat, after.stat, differences);
    if (!more.empty()) lines.emplace_back("the results differ in:");
    for (const std::string& line : more) lines.push_back("  " + line);
  };
  if (first.paths.empty() || second.paths.empty()) {
    add_stored();
    lines.emplace_back(
        "these results have no path hashes: measure both with `tally stat --path-hash` to see where they part");
    return print_lines(lines);
  }
  const auto paths = output::compare_paths(first, second);
  if (!paths) return command::report_error(paths.error());
  for (const std::string& thread : paths->only_before) lines.push_back("only in the first: " + thread);
  for (const std::string& thread : paths->only_after) lines.push_back("only in the second: " + thread);
  for (const result::Run* const run : {&first, &second})
    for (const result::ThreadPath& path : run->paths)
      if (!path.complete)
        lines.push_back(fmt::format("incomplete in the {}: {} was killed, or ran partly without the engine",
                                    run == &first ? "first" : "second", output::thread_text(path)));
  if (!paths->first) {
    lines.push_back(
        fmt::format("the paths of {} are equal", plural(static_cast<std::int64_t>(paths->equal), "thread", "threads")));
    return print_lines(lines);
  }
  const output::PathDifference& difference = *paths->first;
  lines.push_back(fmt::format("the paths of {} part between {} and {} instructions",
                              output::thread_text(first.paths[difference.before]), instructions(difference.from),
                              instructions(difference.to)));
  if (paths->different > 1)
    lines.push_back(
        fmt::format("{} more differ", plural(static_cast<std::int64_t>(paths->different) - 1, "thread", "threads")));
  add_stored();
  // Both commands read the same files now.
  std::erase_if(differences, [](const auto& each) { return each.kind == StartDifference::Kind::file; });
  auto a = Rerun::prepare(before.stat, before.file, read, values);
  auto b = Rerun::prepare(after.stat, after.file, read, values);
  if (!a || !b) {
    (void)print_lines(lines);
    return command::report_error(a ? b.error() : a.error());
  }
  std::string commands = shell_words(a->command());
  if (b->command() != a->command()) commands += fmt::format(" and {}", shell_words(b->command()));
  command::say({"running both commands again, several times: " + commands});
  const auto input = linux::ReplayedInput::of_standard_input();
  for (const auto& [rerun, which] : {std::pair{&*a, "first"}, std::pair{&*b, "second"}}) {
    rerun->set_input(input);
    for (const std::string& deviation : rerun->deviations())
      lines.push_back(fmt::format("run again, the {} is not as it was: {}", which, deviation));
  }
  auto signals = linux::Signals::watch();
  if (!signals) return command::report_error(signals.error());
  auto explained =
      Explanation(before, after, difference, *std::move(a), *std::move(b), std::move(differences), *signals).explain();
  if (const auto signal = signals->interrupted_by()) linux::die_of(*signal);
  if (!explained) {
    (void)print_lines(lines);
    return command::report_error(explained.error());
  }
  lines.insert(lines.end(), explained->begin(), explained->end());
  return print_lines(lines);
}

}  // namespace tally::why
