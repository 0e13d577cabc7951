#include "programs/callgrind/valgrind_files.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <set>
#include <utility>

#include "programs/callgrind/profile_selection.hpp"
#include "programs/callgrind/profile_skipping.hpp"
#include "programs/callgrind/valgrind_log.hpp"
#include "programs/callgrind/valgrind_names.hpp"
#include "programs/callgrind/valgrind_simulation.hpp"
#include "tally/core/base/pattern.hpp"
#include "tally/core/base/text.hpp"
#include "tally/core/base/version.hpp"
#include "tally/linux/files/output_file.hpp"
#include "tally/output/analysis/in_line.hpp"
#include "tally/output/analysis/profile_names.hpp"
#include "tally/output/analysis/profile_parts.hpp"
#include "tally/output/data/valgrind_file.hpp"
#include "tally/tools/command/command.hpp"

namespace tally::callgrind {
namespace {

using Tool = ValgrindOptions::Tool;
using result::Process;

const char* environment_variable(const std::string& name) { return secure_getenv(name.c_str()); }

std::string output_template(const ValgrindOptions& options) {
  if (!options.output.empty()) return options.output;
  return options.tool == Tool::callgrind ? "callgrind.out.%p" : "cachegrind.out.%p";
}

/// Writes the files and messages of one run.
class Writer {
 public:
  Writer(const result::Profile& profile, const ValgrindOptions& options,
         const std::optional<backend::Simulation>& simulation)
      : profile_(profile), options_(options), simulation_(simulation) {}

  Result<void> write() {
    if (profile_.stat.runs.empty() || profile_.stat.runs.front().processes.empty())
      return fail(Code::cannot_measure, "no process was counted: the program ran natively",
                  "`tally stat -- PROGRAM` gives the reason");
    const std::vector<Process> processes = included_processes();
    if (processes.empty() && !options_.traces_children)
      command::say({"no file: the program executed another one; --trace-children=yes profiles that"});
    for (const Process& process : processes) begin_log(process);
    // The started process ends last, and its file replaces those of its children that have the same name.
    for (std::size_t i = processes.size(); i-- > 0;) add_process(processes[i]);
    for (const auto& [name, text] : texts_) note(write_file(name, text));
    for (const auto& [name, text] : logs_) note(write_log(name, text));
    return failure_ ? fail(*failure_) : Result<void>();
  }

 private:
  void note(const Result<void>& result) {
    if (!result && !failure_) failure_ = result.error();
  }

  /// The processes that have files. A process that executes programs has those of its last one, as with valgrind.
  std::vector<Process> included_processes() const {
    std::vector<Process> all;
    for (const Process& process : profile_.stat.runs.front().processes) {
      const auto same = std::find_if(all.begin(), all.end(), [&](const Process& p) { return p.pid == process.pid; });
      if (same == all.end())
        all.push_back(process);
      else
        *same = process;
    }
    std::erase_if(all, [&](const Process& process) {
      if (process.end == result::End::executed) return true;
      if (process.image == 0) return false;
      return !options_.traces_children || std::any_of(options_.skipped_children.begin(),
                                                      options_.skipped_children.end(), [&](const std::string& pattern) {
                                                        return matches_pattern(pattern, process.command) ||
                                                               matches_pattern(pattern, "/" + process.command);
                                                      });
    });
    return all;
  }

  bool is_first(const Process& process) const {
    return process.pid == profile_.stat.runs.front().processes.front().pid;
  }

  /// Whether rows of this owner belong to the process. A program that executes itself has those of both.
  static bool is_of(const result::CodeOwner& owner, const Process& process) {
    constexpr std::size_t longest = 15;  // the kernel cuts the names of programs
    return owner.pid == process.pid &&
           (process.command == owner.command ||
            (owner.command.size() == longest && process.command.starts_with(owner.command)));
  }

  bool executed_itself(const Process& process) const {
    const std::vector<Process>& all = profile_.stat.runs.front().processes;
    return std::any_of(all.begin(), all.end(), [&](const Process& other) {
      return other.pid == process.pid && other.image != process.image && other.command == process.command;
    });
  }

  std::string& log_of(const Process& process) {
    // The names were checked before the run.
    const std::string name =
        options_.log_file.empty()
            ? ""
            : file_name_of("--log-file", options_.log_file, process.pid, environment_variable).value_or("");
    const auto [entry, is_new] = log_places_.try_emplace(name, logs_.size());
    if (is_new) logs_.emplace_back(name, "");
    return logs_[entry->second].second;
  }

  void begin_log(const Process& process) {
    std::string& log = log_of(process);
    const bool has_head = is_first(process) || process.image > 0 || (log.empty() && !options_.log_file.empty());
    if (has_head && !options_.quiet) {
      std::vector<std::string> lines{
          fmt::format("{} of tally {}: exact counts, without valgrind",
                      options_.tool == Tool::callgrind ? "callgrind" : "cachegrind", version()),
          "Command: " + command_of(process)};
      if (!options_.log_file.empty()) lines.push_back(fmt::format("Parent PID: {}", process.parent_pid));
      lines.emplace_back();
      log += log_lines(process.pid, lines);
    }
    if (!is_first(process)) return;
    for (const std::string& text : options_.notes) log += log_warning(process.pid, text);
    for (const std::string& text : simulation_notes(options_)) log += log_warning(process.pid, text);
    warn_of_missing_functions(process);
    if (options_.verbose) log += log_lines(process.pid, profile_.stat.notices);
  }

  std::string command_of(const Process& process) const {
    return process.image > 0 ? process.command : join(profile_.stat.command, " ");
  }

  std::vector<std::int64_t> totals_of(const std::vector<result::EventCount>& counts) const {
    std::vector<std::int64_t> totals;
    for (const result::EventCount& count : counts) totals.push_back(count.count.value.value_or(0));
    return totals;
  }

  void add_process(const Process& process) {
    const std::string name =
        file_name_of("--callgrind-out-file", output_template(options_), process.pid, environment_variable).value_or("");
    texts_.erase(name);
    if (divides_parts(options_)) return add_parts(process, name);
    result::Profile own = of_owners(
        profile_, [&](const result::CodeOwner& owner) { return is_of(owner, process); }, totals_of(process.counts));
    own = finished(std::move(own), process);
    if (options_.tool == Tool::cachegrind)
      texts_[name] = output::cachegrind_file(output::InLineProfile(own).get(), descriptions(":         "));
    else
      add_part(own, process, name, {.number = 1, .trigger = "Program termination"});
    warn_of_collection(process);
    summarize(own, process);
  }

  /// The profile of a process or a part as its file has it.
  result::Profile finished(result::Profile own, const Process& process) {
    own.stat.command = process.image > 0 ? std::vector{process.command} : profile_.stat.command;
    return with_columns(without_skipped(in_collection(std::move(own))), columns_of(options_));
  }

  /// A file for each part that the program's client requests ended, or all parts in one. The summary has their sums.
  void add_parts(const Process& process, const std::string& name) {
    for (std::size_t i = 0; i < profile_.parts.size(); ++i) {
      const result::CodePart& part = profile_.parts[i];
      if (part.pid != process.pid || belongs_to_another(i, process)) continue;
      const result::Profile own = finished(output::profile_of_part(profile_, i), process);
      const bool is_apart = !part.is_last && !options_.combines_dumps;
      add_part(own, process, is_apart ? fmt::format("{}.{}", name, part.number) : name, part);
    }
    warn_of_collection(process);
    const auto is_collected = [&](const result::CodeOwner& owner) {
      return is_of(owner, process) && owner.part != result::CodeOwner::no_part;
    };
    const result::Profile own = finished(of_owners(profile_, is_collected, {}), process);
    forget_functions();  // the sum of all parts is in no file
    summarize(own, process);
  }

  /// Whether the part has counts of another program that the process executed.
  bool belongs_to_another(std::size_t part, const Process& process) const {
    bool is_counted = false, is_own = false;
    for (const result::CodeOwner& owner : profile_.owners) {
      if (owner.part != part) continue;
      is_counted = true;
      is_own |= is_of(owner, process);
    }
    return is_counted && !is_own;
  }

  /// With --combine-dumps, a file has one head, and each further part begins with its number.
  void put(const std::string& name, const std::string& text) {
    std::string& file = texts_[name];
    if (!options_.combines_dumps || file.empty())
      file = text;
    else
      file += text.substr(text.find("\npart: "));
  }

  void add_part(const result::Profile& own, const Process& process, const std::string& name,
                const result::CodePart& part) {
    if (options_.separates_threads) return add_threads(own, process, name, part);
    put(name, callgrind_text(own, process, 0, part));
  }

  /// The counts between the switches of --toggle-collect.
  result::Profile in_collection(result::Profile own) {
    if (collects_all(options_) || (is_simulated(options_) && divides_parts(options_))) return own;
    // Client requests switch instrumentation, and collection without --toggle-collect: see add_parts().
    const bool is_divided = divides_parts(options_);
    if (is_divided && options_.toggles.empty()) return own;
    const bool instruments = is_divided || options_.instruments_at_start.value_or(true);
    const Collection collection{instruments && options_.collects_at_start.value_or(options_.toggles.empty()),
                                instruments ? options_.toggles : std::vector<std::string>{}};
    Collected collected = callgrind::collected(std::move(own), collection);
    divided_.insert(collected.divided.begin(), collected.divided.end());
    jumping_.insert(collected.jumping.begin(), collected.jumping.end());
    return std::move(collected.profile);
  }

  /// The counts of functions that --fn-skip and --obj-skip name are those of their callers.
  result::Profile without_skipped(result::Profile own) {
    const FunctionChoice choice{options_.skipped_functions, options_.skipped_objects};
    if (!choice.any() || !follows_calls(options_)) return own;
    Skipped skipped = without_functions(std::move(own), choice);
    kept_.insert(skipped.kept.begin(), skipped.kept.end());
    return std::move(skipped.profile);
  }

  /// Names the functions whose lines the files of the process do not have, once for all of them.
  void warn_of_collection(const Process& process) {
    const auto names = [](const std::set<std::string>& all) {
      return join(std::vector<std::string>(all.begin(), all.end()), ", ");
    };
    if (!divided_.empty())
      log_of(process) += log_warning(
          process.pid, fmt::format("{} also ran without collection: the file has the collected counts of the function "
                                   "at its first line",
                                   names(divided_)));
    if (!jumping_.empty())
      log_of(process) += log_warning(
          process.pid, fmt::format("{} jumped to other functions (tail calls): the file has the counts of both at the "
                                   "first line of the function that jumped",
                                   names(jumping_)));
    if (!kept_.empty())
      log_of(process) += log_warning(
          process.pid,
          fmt::format("{} cannot be skipped completely: unknown functions jumped there (tail calls)", names(kept_)));
    forget_functions();
  }

  void forget_functions() {
    for (std::set<std::string>* const names : {&divided_, &jumping_, &kept_}) names->clear();
  }

  /// Explains why nothing is collected or skipped for a name.
  void warn_of_missing_functions(const Process& process) {
    for (const auto& [option, patterns] :
         {std::pair{"--toggle-collect", &options_.toggles}, {"--fn-skip", &options_.skipped_functions}})
      for (const std::string& pattern : *patterns) {
        if (std::any_of(profile_.functions.begin(), profile_.functions.end(),
                        [&](const auto& function) { return output::matches_any({pattern}, function); }))
          continue;
        std::vector<std::string> names;
        for (const result::ProfileFunction& function : profile_.functions) names.push_back(function.name);
        warn_of_missing(process, option, pattern, "no function of this name ran",
                        output::similar_functions(names, pattern),
                        "it may be inlined: `tally profile --inlines` lists inlined functions");
      }
    for (const std::string& path : options_.skipped_objects) {
      const std::vector<result::ProfileObject>& objects = profile_.objects;
      if (std::any_of(objects.begin(), objects.end(), [&](const auto& object) { return is_file_at(object, path); }))
        continue;
      std::vector<std::string> names;
      for (const result::ProfileObject& object : objects) names.push_back(object.name);
      warn_of_missing(process, "--obj-skip", path, "no code of this file ran", nearest(path, names),
                      "it is the path of a program or library");
    }
    for (const std::string& text : profile_.stat.notices)
      if (text.starts_with("--toggle-collect")) log_of(process) += log_warning(process.pid, text);
  }

  void warn_of_missing(const Process& process, const char* option, const std::string& value, const char* what,
                       const std::vector<std::string>& similar, const char* if_none) {
    log_of(process) += log_warning(
        process.pid, fmt::format("{}={}: {}; {}", option, printable(value), what,
                                 similar.empty() ? if_none : "did you mean " + printable(join(similar, " or ")) + "?"));
  }

  /// A file for each thread, in the order of their IDs, which the kernel assigns in ascending order.
  void add_threads(const result::Profile& own, const Process& process, const std::string& name,
                   const result::CodePart& part) {
    std::vector<std::int64_t> threads;
    for (const result::CodeOwner& owner : own.owners)
      if (is_of(owner, process)) threads.push_back(owner.tid);
    std::sort(threads.begin(), threads.end());
    threads.erase(std::unique(threads.begin(), threads.end()), threads.end());
    texts_[name] = "";  // valgrind creates this file, too
    for (std::size_t i = 0; i < threads.size(); ++i) {
      const result::Profile thread =
          of_owners(own, [&](const result::CodeOwner& owner) { return owner.tid == threads[i]; }, {});
      put(fmt::format("{}-{:02}", name, i + 1), callgrind_text(thread, process, static_cast<int>(i) + 1, part));
    }
  }

  std::string callgrind_text(const result::Profile& own, const Process& process, int thread,
                             const result::CodePart& part) const {
    output::CallgrindLayout layout;
    layout.creator = fmt::format("tally-{}", version());
    layout.pid = process.pid;
    layout.part = static_cast<int>(part.number);
    layout.thread = thread;
    layout.descriptions = descriptions(": ");
    layout.descriptions.push_back("Trigger: " + part.trigger);
    layout.instructions = options_.dump_instructions;
    layout.lines = options_.dump_lines;
    // Each part numbers its names, so a file of several parts has none.
    layout.compressed = options_.compresses_names && !options_.combines_dumps;
    return output::callgrind_file(output::InLineProfile(own).get(), layout);
  }

  std::vector<std::string> descriptions(const char* separator) const {
    const bool known = simulation_.has_value() && options_.simulates_caches();
    const models::HierarchyShape caches = known ? simulation_->machine.caches : models::HierarchyShape{};
    return {fmt::format("I1 cache{}{}", separator, cache_text(caches.l1i)),
            fmt::format("D1 cache{}{}", separator, cache_text(caches.l1d)),
            fmt::format("LL cache{}{}", separator, cache_text(caches.llc))};
  }

  void summarize(const result::Profile& own, const Process& process) {
    std::string& log = log_of(process);
    for (const result::EventCount& count : process.counts)
      if (count.count.trust == Trust::partial || count.count.trust == Trust::absent)
        log += log_warning(process.pid, fmt::format("{} is {}: {}", count.name.base, word_of(count.count.trust),
                                                    printable(count.count.reason)));
    if (executed_itself(process))
      log += log_warning(process.pid,
                         fmt::format("{} executed itself: the file also has the counts before that", process.command));
    if (options_.quiet) return;
    std::vector<NamedCount> counts;
    for (const result::Event& event : own.stat.events)
      counts.push_back({event.total.name.base, event.total.count.value.value_or(0)});
    std::vector<std::string> lines{""};
    if (options_.tool == Tool::callgrind) {
      for (std::string& line : collected_lines(counts)) lines.push_back(std::move(line));
      lines.emplace_back();
    }
    for (std::string& line : summary_lines(counts, options_.tool == Tool::cachegrind)) lines.push_back(std::move(line));
    log += log_lines(process.pid, lines);
  }

  static const char* word_of(Trust trust) { return trust == Trust::partial ? "partial" : "absent"; }

  static Result<void> write_file(const std::string& name, const std::string& text) {
    auto file = linux::Output::open_file(name);
    return file ? file->write(text) : fail(file.error());
  }

  Result<void> write_log(const std::string& name, const std::string& text) const {
    if (!name.empty()) return write_file(name, text);
    if (text.empty()) return {};
    if (options_.log_fd == 1) return linux::Output::standard_output().write(text);
    if (options_.log_fd == 2) return linux::Output::standard_error().write(text);
    auto file = linux::Output::open_to_append(fmt::format("/proc/self/fd/{}", options_.log_fd));
    return file ? file->write(text) : fail(file.error());
  }

  const result::Profile& profile_;
  const ValgrindOptions& options_;
  const std::optional<backend::Simulation>& simulation_;
  std::map<std::string, std::string> texts_;               // by file name
  std::vector<std::pair<std::string, std::string>> logs_;  // by file name, in the order of the processes
  std::map<std::string, std::size_t> log_places_;
  std::set<std::string> divided_, jumping_;  // see Collected
  std::set<std::string> kept_;               // see Skipped
  std::optional<Error> failure_;
};

}  // namespace

Result<void> check_file_names(const ValgrindOptions& options) {
  const char* const name = options.tool == Tool::callgrind ? "--callgrind-out-file" : "--cachegrind-out-file";
  if (const auto fits = file_name_of(name, output_template(options), 0, environment_variable); !fits)
    return fail(fits.error());
  if (options.log_file.empty()) return {};
  const auto fits = file_name_of("--log-file", options.log_file, 0, environment_variable);
  return fits ? Result<void>() : fail(fits.error());
}

Result<void> write_valgrind_files(const result::Profile& profile, const ValgrindOptions& options,
                                  const std::optional<backend::Simulation>& simulation) {
  return Writer(profile, options, simulation).write();
}

}  // namespace tally::callgrind
