#include "tally/tools/why/native_times.hpp"

#include <fmt/format.h>

#include "tally/counting/backend/choose/choose_backend.hpp"
#include "tally/counting/measure/result_metrics.hpp"
#include "tally/tools/command/command_page.hpp"

namespace tally::why {
namespace {

constexpr const char* from_native_run = "from a second, native run";

std::vector<std::size_t> software_indexes(const std::vector<event::Event>& events) {
  std::vector<std::size_t> indexes;
  for (std::size_t i = 0; i < events.size(); ++i) {
    if (event::definition(events[i].id).kind == event::Kind::software) indexes.push_back(i);
  }
  return indexes;
}

measure::StatOptions native_options(const measure::StatOptions& options, const std::vector<std::size_t>& indexes) {
  measure::StatOptions native;
  native.target = options.target;
  native.conditions = options.conditions;
  for (const std::size_t index : indexes) native.events.push_back(options.events[index]);
  native.input = options.input;
  native.runs = options.runs;
  native.keep_going = options.keep_going;
  return native;
}

void mark(result::EventCount& count) {
  std::string& reason = count.count.reason;
  reason = reason.empty() ? from_native_run : fmt::format("{}; {}", reason, from_native_run);
}

// Why the counts of the native runs are not used; empty if they are.
std::string why_not(const result::Stat& stat, const Result<result::Stat>& native) {
  if (!native) return native.error().message;
  if (native->interrupted_by) return "it was interrupted";
  if (native->exit_code != stat.exit_code) {
    const auto text = [](std::optional<int> code) {
      return code ? fmt::format("exit code {}", *code) : "no exit code";
    };
    return fmt::format("it ended with {}, the run under the engine with {}", text(native->exit_code),
                       text(stat.exit_code));
  }
  return native->incomplete || native->runs.size() != stat.runs.size() ? "it is incomplete" : "";
}

}  // namespace

void add_native_times_option(command::Page& page, bool& native_times) {
  page.add_flag("--native-times", native_times,
                "with the engine: run the program a second time, natively, and report its times, page faults and peak "
                "memory from that run");
}

Result<void> check_native_times(const measure::StatOptions& options, const backend::Backend& backend) {
  const auto refused = [](const std::string& message, const std::string& hint) {
    return fail(Code::bad_usage, message, hint);
  };
  if (options.target.attachment.any())
    return refused("--native-times cannot be used with running processes: it runs the command a second time",
                   "use it with a command");
  if (options.count()->timing.any())
    return refused(
        "--native-times cannot be used with -I, --delay and --timeout: a native run is elsewhere at that time",
        "omit one of the two");
  if (!backend.traits().is_engine)
    return refused("--native-times: the program already runs natively: no event here needs the engine",
                   "omit --native-times");
  if (!options.input.stream().empty())
    return refused(fmt::format("--native-times: standard input is {}, so the second run would read nothing",
                               options.input.stream()),
                   "use a file instead");
  if (software_indexes(options.events).empty())
    return refused("--native-times: no time, page faults or memory are counted",
                   "add, for example, -e duration_time, or omit --native-times");
  return {};
}

void replace_counts(result::Stat& stat, const std::vector<std::size_t>& indexes, const result::Stat& native) {
  for (std::size_t i = 0; i < indexes.size(); ++i) {
    result::Event& row = stat.events[indexes[i]];
    row = native.events[i];
    mark(row.total);
    for (std::size_t run = 0; run < stat.runs.size(); ++run) {
      result::EventCount& count = stat.runs[run].counts[indexes[i]];
      count = native.runs[run].counts[i];
      mark(count);
    }
  }
}

void add_native_times(result::Stat& stat, const measure::StatOptions& options, const linux::HostMachine& machine,
                      linux::Signals& signals) {
  if (stat.interrupted_by || stat.incomplete) {
    stat.notices.emplace_back("no native run was made, because the run under the engine is incomplete");
    return;
  }
  const std::vector<std::size_t> indexes = software_indexes(options.events);
  const measure::StatOptions own = native_options(options, indexes);
  auto choice = backend::choose("none", own, machine);
  const auto native =
      choice ? measure::stat(*choice->backend, own, signals) : Result<result::Stat>(fail(choice.error()));
  if (const std::string why = why_not(stat, native); !why.empty()) {
    stat.notices.push_back("the native run is not used: " + why);
    return;
  }
  replace_counts(stat, indexes, *native);
  stat.metrics = measure::metrics(options, stat, stat.runs_asked > 1);
}

}  // namespace tally::why
