#include "tally/tools/launch/launch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <climits>
#include <cstdlib>

#include "tally/core/base/text.hpp"
#include "tally/engine/cpus/cpu_model.hpp"
#include "tally/linux/process/conditions.hpp"
#include "tally/linux/process/finishing.hpp"
#include "tally/linux/process/program_file.hpp"
#include "tally/linux/process/received_signals.hpp"
#include "tally/tools/command/command_page.hpp"
#include "tally/tools/command/option_groups.hpp"
#include "tally/tools/command/perf_habits.hpp"

namespace tally::launch {

namespace {

/// Checks the value of --environment.
std::string wrong_environment(const std::string& value) {
  const std::vector<std::string> words = split(value, ',');
  const auto is_name = [](const std::string& word) {
    return !word.empty() && std::all_of(word.begin(), word.end(), [](char c) {
      return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
    });
  };
  if (value == "own" || (words.front() == "fixed" && std::all_of(words.begin(), words.end(), is_name))) return "";
  return fmt::format("'{}' is neither own, nor fixed, nor fixed,NAME,… with the names of variables to keep",
                     printable(value));
}

std::vector<std::string> cpu_model_names() {
  std::vector<std::string> names{"host"};
  for (const cpus::CpuModel& model : cpus::models()) names.emplace_back(model.name);
  return names;
}

/// The tools whose marks are illegal instructions natively.
struct MarkTools {
  std::vector<std::string> names, described;
  MarkTools() {
#define TALLY_ILLEGAL_MARKS(name, examples) names.emplace_back(#name), described.emplace_back(#name " (" examples ")");
#include "tally/engine/channel/mark_dialects.inc"
  }
};

}  // namespace

void add_launch_options(Page& page, backend::Conditions& conditions) {
  const MarkTools marks;
  const GroupScope group(page, running_group);
  page.add_flag("--wait-all", conditions.wait_all,
                "also count descendants that outlive the program, until all have ended");
  page.add_flag(
      "--repeatable", conditions.repeatable,
      "make runs repeatable: no address randomisation, fixed hash seeds, no rseq; with the engine also a fixed "
      "stack, one processor, 4 GB of memory and fixed random numbers (never for a run whose secrets matter)");
  page.add_option("--environment", conditions.environment,
                  "the program's environment: own (default: tally's), fixed (a few variables with fixed values), or "
                  "fixed,NAME,… to keep these variables")
      .value_name("ENVIRONMENT")
      .words({"own", "fixed"})
      .check(wrong_environment);
  page.add_option("--clock", conditions.clock,
                  "engine only: the clock that the program reads: real (default), or counted: it advances by 1 ns for "
                  "each instruction, from a fixed date")
      .value_name("CLOCK")
      .one_of({"real", "counted"});
  page.add_option("--cpu-model", conditions.cpu_model,
                  "engine only: the processor that the program sees: host (default), x86-64 to x86-64-v4, haswell, "
                  "zen4 and more; not the simulated one, which is --model")
      .value_name("CPU")
      .words_of(cpu_model_names);
  page.add_flag(
      "--as-valgrind", conditions.as_valgrind,
      "engine only: answer the client requests of valgrind.h as valgrind does: RUNNING_ON_VALGRIND returns 1, "
      "VALGRIND_PRINTF prints, VALGRIND_NON_SIMD_CALL calls; without it they do what they do natively");
  page.add_option("--marks", conditions.marks,
                  fmt::format("engine only: also honour this tool's marks: {}, which are illegal instructions natively",
                              fmt::join(marks.described, ", ")))
      .value_name("TOOL")
      .one_of(marks.names);
  page.add_flag(
      "--strict", conditions.strict,
      "engine only: end a program, with exit code 125, instead of letting it continue natively and uncounted");
  page.add_option("--pin", conditions.processor, "run the program on this CPU only, as `taskset -c` does")
      .value_name("CPU")
      .check(whole_number(0, INT_MAX));
}

void add_pmu_option(Page& page, backend::Conditions& conditions) {
  const GroupScope group(page, running_group);
  page.add_flag("--pmu", conditions.pmu,
                "engine only: hardware counters that the program opens itself (perf_event_open) count, as under tally "
                "run");
}

void add_engine_tuning(Page& page, backend::EngineTuning& tuning) {
  page.add_option("--block-size", tuning.block_size, "maximum number of instructions in a block of the engine")
      .check(whole_number(0, 1'000'000))
      .hidden();
  page.add_option("--cache-limit", tuning.cache_limit, "number of blocks that the engine keeps before it discards all")
      .check(whole_number(0, 1'000'000))
      .hidden();
  page.add_option("--hot-from", tuning.hot_from, "number of executions after which the engine translates a block again")
      .check(whole_number(0, 1'000'000'000))
      .hidden();
}

Result<std::vector<std::string>> command_of(const Page& page, bool may_be_missing, std::string_view example) {
  std::vector<std::string> words = page.remaining();
  if (!words.empty() && words.front() == "--") {
    words.erase(words.begin());
  } else if (!words.empty() && words.front().size() > 1 && words.front().starts_with("-")) {
    const std::vector<std::string> usage = split(page.usage(), ' ');  // "tally stat [options] …"
    const std::string instead = usage.size() > 1 ? perf_option_hint(usage[1], words.front()) : "";
    return fail(Code::bad_usage, fmt::format("unknown option '{}'", printable(words.front())),
                instead.empty() ? page.options_hint(words.front()) : instead);
  }
  if (words.empty() && may_be_missing) return words;
  if (words.empty()) {
    return fail(Code::bad_usage, "missing PROGRAM", fmt::format("for example: {}", example));
  }
  return words;
}

Result<std::vector<int>> ids_of(const std::string& list, std::string_view what) {
  std::vector<int> found;
  for (const std::string& text : split(list, ',')) {
    const auto number = parse_integer(trimmed(text));
    if (list.empty()) break;
    if (!number || *number < 1 || *number > INT_MAX) {
      return fail(Code::bad_usage, fmt::format("'{}' is not a {} ID", printable(text), what),
                  fmt::format("for example: -{} 1234,1235", what.front()));
    }
    found.push_back(static_cast<int>(*number));
  }
  return found;
}

Result<void> check_launch(const backend::Order& order) {
  if (!order.target.command.empty()) {
    const auto program = linux::find_program(order.target.command.front(), linux::search_path());
    if (!program) return fail(program.error());
  }
  if (!order.conditions.processor) return {};
  return linux::check_processor(*order.conditions.processor);
}

bool is_quiet(bool quiet) {
  const char* word = secure_getenv("TALLY_QUIET");
  return quiet || (word && *word && std::string_view(word) != "0");
}

Result<void> fits_format(std::string_view format, Result<void> (*fits)(const std::vector<EventName>& events),
                         const std::vector<event::Event>& events,
                         const std::function<backend::Outlook(const event::Event&)>& outlook) {
  if (fits == nullptr) return {};
  std::vector<EventName> names;
  for (const event::Event& event : events) names.push_back(event::event_name(event));
  if (auto fit = fits(names); !fit) return fit;
  for (const event::Event& event : events) {
    const backend::Outlook of = outlook(event);
    if (of.trust != Trust::absent) continue;
    return fail(
        Code::bad_usage,
        fmt::format("the format {} cannot represent that {} is absent ({})", format, event::name(event), of.reason),
        "it holds only integers; the other formats give the reason");
  }
  return {};
}

int final_exit_code(const result::Stat& stat, int written, linux::Signals& signals) {
  int code = written == exit_ok ? stat.exit_code.value_or(exit_cannot_measure) : written;
  signals.settle();
  if (const auto signal = linux::finishing_interrupted_by()) linux::die_of(*signal);
  // If the program survived an interrupt and ended by itself, its exit code is the result.
  const bool survived =
      stat.interrupted_by && !stat.incomplete && !stat.command.empty() && stat.signal != stat.interrupted_by;
  if (const auto signal = signals.interrupted_by(); signal && !survived) linux::die_of(*signal);
  if (code == 0 && stat.incomplete) code = exit_cannot_measure;
  return code;
}

}  // namespace tally::launch
