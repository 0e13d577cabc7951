#include "tally/tools/windows/window_options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "tally/core/base/text.hpp"
#include "tally/counting/measure/merged_windows.hpp"
#include "tally/hardware/event/list.hpp"
#include "tally/tools/command/option_groups.hpp"
#include "tally/tools/command/periods.hpp"
#include "tally/tools/windows/region_options.hpp"

namespace tally::windows {

namespace {

std::string check_location(const std::string& text) { return text.empty() ? "not a function or an address" : ""; }

}  // namespace

void add_window_options(command::Page& app, WindowOptions& options) {
  app.add_option("--every", options.every,
                 "end a window every N events (50000, 50k, 2M), or after this CPU time (1ms, 100us); may be repeated "
                 "with several --by: the first to be reached ends the window")
      .repeated()
      .value_name("N");
  app.add_option(
         "--by", options.by,
         "event that --every counts (default: instructions, for times task-clock). The engine supports instructions, "
         "branches, loads and stores, a PMU all its events, every machine the kernel's software events")
      .repeated()
      .value_name("EVENT");
  app.add_option("--frequency", options.frequency,
                 "instead of --every: HZ windows per second and thread, about: the kernel adapts the number of --by "
                 "events (default: task-clock) in a window; not with the engine")
      .value_name("HZ");
  app.add_flag("--merged", options.merged,
               "windows of processes instead of threads: joins parts of the threads, each an eighth of a window, in "
               "the order in which they ended");
  app.add_option("--start-at", options.start,
                 "engine only: start the windows of a thread when it first executes LOCATION. Threads and children "
                 "started later are counted from their start")
      .check(check_location)
      .value_name("LOCATION")
      .in(command::regions_group);
  app.add_option("--stop-at", options.stop,
                 "engine only: end the windows of a thread when it next executes LOCATION; the program continues")
      .check(check_location)
      .value_name("LOCATION")
      .in(command::regions_group);
  add_entry_options(app, options.trap, options.per_entry);
}

namespace {

Result<event::Event> event_of(const std::string& name) {
  auto event = event::parse_lists({name}, {}, event::Mode::user);
  if (!event) return fail(event.error());
  if (event->size() != 1)
    return fail(Code::bad_usage, fmt::format("--by {} names more than one event", printable(name)),
                "use one --by EVENT per --every");
  return event->front();
}

Result<backend::WindowTrigger> trigger_of(const std::string& every, std::optional<std::string> by) {
  const auto period = command::period_of(every, "--every");
  if (!period) return fail(period.error());
  auto event = event_of(by.value_or(period->is_time ? "task-clock" : "instructions"));
  if (!event) return fail(event.error());
  if (auto fits = command::check_period(*period, *event, "--every " + every); !fits) return fail(fits.error());
  return backend::WindowTrigger{*std::move(event), period->number, 0};
}

// Windows with a given number per second.
Result<void> choose_frequency(const WindowOptions& options, backend::Order::Windows& windows) {
  if (!options.every.empty() || options.by.size() > 1)
    return fail(Code::bad_usage, "--frequency cannot be used with --every, and needs a single --by",
                "for example: tally sample --frequency 1000 --by page-faults -- ./prog");
  const auto frequency = command::period_of(options.frequency, "--frequency");
  if (!frequency) return fail(frequency.error());
  if (frequency->is_time)
    return fail(Code::bad_usage,
                fmt::format("--frequency {}: expected a number, not a time", printable(options.frequency)),
                fmt::format("for windows of a fixed time use --every {}", printable(options.frequency)));
  auto event = event_of(options.by.empty() ? "task-clock" : options.by.front());
  if (!event) return fail(event.error());
  windows.triggers.push_back({*std::move(event), 0, frequency->number});
  return {};
}

Result<void> choose_triggers(const WindowOptions& options, backend::Order::Windows& windows) {
  if (options.every.empty())
    return fail(Code::bad_usage, "missing --every N: the length of a window",
                "for example: tally sample --every 50000 -- ./prog");
  if (options.by.size() > options.every.size() ||
      (options.every.size() > 1 && options.by.size() < options.every.size()))
    return fail(
        Code::bad_usage,
        fmt::format("{} --every and {} --by: each --every needs its own --by", options.every.size(), options.by.size()),
        "for example: --every 50000 --by instructions --every 1000 --by calls");
  if (options.every.size() > backend::window_trigger_limit)
    return fail(Code::bad_usage, fmt::format("more than {} --every", backend::window_trigger_limit),
                "record the others in another run");
  for (std::size_t i = 0; i < options.every.size(); ++i) {
    auto trigger =
        trigger_of(options.every[i], i < options.by.size() ? std::optional<std::string>(options.by[i]) : std::nullopt);
    if (!trigger) return fail(trigger.error());
    windows.triggers.push_back(*std::move(trigger));
  }
  return {};
}

// Windows that only their bounds end.
Result<void> choose_entries(const WindowOptions& options, backend::Order::Windows& windows) {
  if (options.trap.empty() && (options.start.empty() || options.stop.empty()))
    return fail(Code::bad_usage, "--per-entry needs --trap, or --start-at and --stop-at",
                "for example: tally sample --trap int2e --per-entry -- ./prog");
  if (!options.every.empty() || !options.by.empty() || !options.frequency.empty() || options.merged)
    return fail(Code::bad_usage, "--per-entry cannot be used with --every, --by, --frequency or --merged",
                "omit --per-entry to divide entries into windows");
  auto event = event_of("instructions");
  if (!event) return fail(event.error());
  windows.triggers.push_back({*std::move(event), 0, 0});
  return {};
}

Result<void> choose_bounds(const WindowOptions& options, backend::Order::Windows& windows) {
  if (!options.trap.empty() && !(options.start.empty() && options.stop.empty()))
    return fail(Code::bad_usage, "--trap cannot be used with --start-at and --stop-at", "omit --trap");
  windows.trap = trap_of(options.trap);
  const auto choose = [](const std::string& text, std::optional<backend::CodeRegion::Point>& to) -> Result<void> {
    if (text.empty()) return {};
    auto point = point_of(text);
    if (!point) return fail(point.error());
    to = *std::move(point);
    return {};
  };
  if (auto start = choose(options.start, windows.bounds.start); !start) return start;
  return choose(options.stop, windows.bounds.stop);
}

// Threads count parts of a process's window.
Result<void> choose_parts(backend::Order::Windows& windows) {
  backend::WindowTrigger& trigger = windows.triggers.front();
  if (windows.triggers.size() > 1 || trigger.frequency != 0)
    return fail(Code::bad_usage, "--merged needs a single --every",
                "for example: tally sample --merged --every 100k -- ./prog");
  const std::uint64_t part = measure::MergedWindows::part_of(trigger.every);
  // The minimum of check_period().
  constexpr std::uint64_t least_ns = 10'000;
  trigger.every = event::is_clock(trigger.event) ? std::max(part, least_ns) : part;
  return {};
}

}  // namespace

Result<void> choose_windows(const WindowOptions& options, backend::Order::Windows& windows, std::uint64_t& merged) {
  const bool has_length = !options.every.empty() || !options.by.empty() || !options.frequency.empty();
  const bool per_entry = options.per_entry || (!options.trap.empty() && !has_length);
  auto chosen = per_entry                   ? choose_entries(options, windows)
                : options.frequency.empty() ? choose_triggers(options, windows)
                                            : choose_frequency(options, windows);
  if (!chosen) return chosen;
  windows.repeats = per_entry || !options.trap.empty();
  if (options.merged) {
    merged = windows.triggers.front().every;
    if (auto parts = choose_parts(windows); !parts) return parts;
  }
  return choose_bounds(options, windows);
}

}  // namespace tally::windows
