#include "tally/cli/window_options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "tally/cli/periods.hpp"
#include "tally/cli/region_options.hpp"
#include "tally/core/base/text.hpp"
#include "tally/counting/measure/merged_windows.hpp"
#include "tally/hardware/event/list.hpp"

namespace tally::cli {

namespace {

std::string is_some_place(const std::string& text) { return text.empty() ? "it is no place" : ""; }

}  // namespace

void add_window_options(Page& app, WindowOptions& options) {
  app.add_option("--every", options.every,
                 "end a window every N events (50000, 50k, 2M) or after a time on a processor (1ms, 100us); may "
                 "be repeated, each with its --by: the first that is full ends the window")
      .repeated()
      .value_name("N");
  app.add_option("--by", options.by,
                 "which events --every counts (instructions; task-clock for a time): under the engine "
                 "instructions, branches, loads, stores, with a PMU any, and the kernel's own on every machine")
      .repeated()
      .value_name("EVENT");
  app.add_option("--frequency", options.frequency,
                 "instead of --every: about so many windows a second of each thread, by the event of --by "
                 "(task-clock), whose number in a window the kernel chooses anew; natively")
      .value_name("HZ");
  app.add_flag("--merged", options.merged,
               "windows of processes, not of threads: the threads' parts, each an eighth of a window, are joined in "
               "the order in which they ended, when the program has ended");
  app.add_option("--start-at", options.start,
                 "a thread's windows begin when it first comes to this function, function+0x10, or 0xADDRESS as the "
                 "program's file has it, each with FILE: before it for a library; what it starts from then on is "
                 "counted from its beginning; under the engine")
      .check(is_some_place)
      .value_name("PLACE");
  app.add_option("--stop-at", options.stop,
                 "and end when it then first comes there; the program runs on to its end; under the engine")
      .check(is_some_place)
      .value_name("PLACE");
}

namespace {

Result<event::Event> event_of(const std::string& name) {
  auto event = event::parse_lists({name}, {}, event::Mode::user);
  if (!event) return fail(event.error());
  if (event->size() != 1)
    return fail(Code::bad_usage, fmt::format("--by {} is more than one event", printable(name)),
                "each --every has one");
  return event->front();
}

Result<backend::WindowTrigger> trigger_of(const std::string& every, std::optional<std::string> by) {
  const auto period = period_of(every, "--every");
  if (!period) return fail(period.error());
  auto event = event_of(by.value_or(period->is_time ? "task-clock" : "instructions"));
  if (!event) return fail(event.error());
  if (auto fits = check_period(*period, *event, "--every " + every); !fits) return fail(fits.error());
  return backend::WindowTrigger{*std::move(event), period->number, 0};
}

// Windows by how many there are in a second.
Result<void> choose_frequency(const WindowOptions& options, backend::WindowOrder& order) {
  if (!options.every.empty() || options.by.size() > 1)
    return fail(Code::bad_usage, "--frequency ends windows instead of --every, by one event",
                "for example: tally sample --frequency 1000 --by page-faults -- ./prog");
  const auto frequency = period_of(options.frequency, "--frequency");
  if (!frequency) return fail(frequency.error());
  if (frequency->is_time)
    return fail(Code::bad_usage, fmt::format("--frequency {} is a time", printable(options.frequency)),
                fmt::format("--every {} ends windows by it", printable(options.frequency)));
  auto event = event_of(options.by.empty() ? "task-clock" : options.by.front());
  if (!event) return fail(event.error());
  order.triggers.push_back({*std::move(event), 0, frequency->number});
  return {};
}

Result<void> choose_triggers(const WindowOptions& options, backend::WindowOrder& order) {
  if (options.every.empty())
    return fail(Code::bad_usage, "--every is missing: how many instructions a window has",
                "for example: tally sample --every 50000 -- ./prog");
  if (options.by.size() > options.every.size() ||
      (options.every.size() > 1 && options.by.size() < options.every.size()))
    return fail(Code::bad_usage,
                fmt::format("{} --every and {} --by: each --every needs the event that it counts", options.every.size(),
                            options.by.size()),
                "for example: --every 50000 --by instructions --every 1000 --by calls");
  if (options.every.size() > backend::window_trigger_limit)
    return fail(Code::bad_usage, fmt::format("more than {} --every", backend::window_trigger_limit),
                "take another run for the others");
  for (std::size_t i = 0; i < options.every.size(); ++i) {
    auto trigger =
        trigger_of(options.every[i], i < options.by.size() ? std::optional<std::string>(options.by[i]) : std::nullopt);
    if (!trigger) return fail(trigger.error());
    order.triggers.push_back(*std::move(trigger));
  }
  return {};
}

Result<void> choose_bounds(const WindowOptions& options, backend::WindowOrder& order) {
  const auto choose = [](const std::string& text, std::optional<backend::CodeRegion::Point>& to) -> Result<void> {
    if (text.empty()) return {};
    auto point = point_of(text);
    if (!point) return fail(point.error());
    to = *std::move(point);
    return {};
  };
  if (auto start = choose(options.start, order.bounds.start); !start) return start;
  return choose(options.stop, order.bounds.stop);
}

// Threads count parts of what a process's window has.
Result<void> choose_parts(backend::WindowOrder& order) {
  backend::WindowTrigger& trigger = order.triggers.front();
  if (order.triggers.size() > 1 || trigger.frequency != 0)
    return fail(Code::bad_usage, "--merged joins parts of one length: it takes one --every",
                "for example: tally sample --merged --every 100k -- ./prog");
  const std::uint64_t part = measure::MergedWindows::part_of(trigger.every);
  // What check_period() takes.
  constexpr std::uint64_t least_ns = 10'000;
  trigger.every = is_clock(trigger.event) ? std::max(part, least_ns) : part;
  return {};
}

}  // namespace

Result<void> choose_windows(const WindowOptions& options, backend::WindowOrder& order, std::uint64_t& merged) {
  auto chosen = options.frequency.empty() ? choose_triggers(options, order) : choose_frequency(options, order);
  if (!chosen) return chosen;
  if (options.merged) {
    merged = order.triggers.front().every;
    if (auto parts = choose_parts(order); !parts) return parts;
  }
  return choose_bounds(options, order);
}

}  // namespace tally::cli
