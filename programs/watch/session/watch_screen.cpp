#include "programs/watch/session/watch_screen.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <ctime>

#include "programs/watch/live/beat.hpp"
#include "programs/watch/screen/view.hpp"
#include "programs/watch/session/watch_run.hpp"
#include "tally/tools/command/command.hpp"

namespace tally::session {
namespace {

using screen::Wish;

std::string clock_of(Nanoseconds time) {
  const auto seconds = static_cast<std::time_t>(time.count() / 1'000'000'000);
  std::tm parts{};
  localtime_r(&seconds, &parts);
  return fmt::format("{:02}:{:02}:{:02}", parts.tm_hour, parts.tm_min, parts.tm_sec);
}

screen::Chosen chosen_by(const WatchOptions& options) {
  screen::Chosen chosen;
  chosen.sort = static_cast<std::size_t>(options.asked.shown.sort);
  chosen.filter = options.asked.shown.filter;
  const auto& kinds = options.asked.shown.kinds;
  if (kinds.front() == result::WatchKind::process) chosen.page = screen::Page::processes;
  if (kinds.front() == result::WatchKind::group) chosen.page = screen::Page::groups;
  for (std::size_t at = 0; !options.columns.empty() && at < watch::column_count; ++at) {
    const bool is_wanted = std::find(options.columns.begin(), options.columns.end(), at) != options.columns.end();
    if (!is_wanted) chosen.hidden.insert(at);
  }
  return chosen;
}

// Reads processes and groups only while their page is shown, because reading them takes time.
void select_what_to_read(const screen::Chosen& chosen, watch::Shown& shown) {
  using result::WatchKind;
  shown.kinds = {WatchKind::core, WatchKind::socket, WatchKind::system};
  if (chosen.page == screen::Page::processes) shown.kinds.push_back(WatchKind::process);
  if (chosen.page == screen::Page::groups) shown.kinds.push_back(WatchKind::group);
  shown.sort = static_cast<watch::Id>(chosen.sort);
  shown.filter = chosen.filter;
}

// The page on the terminal, and its state.
struct Screen {
  screen::Terminal terminal;
  screen::Around around;
  screen::Chosen chosen;
  bool others_write = false;  // a command also writes to this terminal

  void draw(const result::WatchTable& table) {
    const auto [width, height] = terminal.size();
    around.clock = clock_of(table.time);
    terminal.draw(screen::lines_of(table, around, chosen, width, height), others_write);
  }

  // Handles all pending keys. Returns the last request among them.
  Wish take_keys(const result::WatchTable& table) {
    Wish wish = Wish::nothing;
    while (const auto key = terminal.key()) {
      const Wish one = screen::take(*key, table, chosen);
      if (one == Wish::pause) chosen.paused = !chosen.paused;
      if (one != Wish::nothing) wish = one;
      if (one == Wish::quit || one == Wish::record) break;
    }
    return wish;
  }
};

void toggle_record(Screen& show, Record& record, const watch::Watcher& watcher, const WatchOptions& options) {
  if (record.is_open()) {
    record.close();
    show.chosen.note = "recorded to " + record.path();
    show.around.recording.clear();
    return;
  }
  const auto seconds = watcher.reading().wall.count() / 1'000'000'000;
  const auto opened = record.open(
      options.record.empty() ? fmt::format("tally-watch-{}.jsonl", seconds) : options.record, header_of(watcher));
  show.chosen.note = opened ? "records to " + record.path() : opened.error().message;
  show.around.recording = opened ? record.path() : "";
}

}  // namespace

int watch_on_screen(watch::Watcher& watcher, const WatchOptions& options, screen::Terminal terminal) {
  auto signals = linux::Signals::watch();
  if (!signals) return command::report_error(signals.error());
  auto concurrent = ConcurrentCommand::start(options.command, *signals);
  if (!concurrent) {
    {
      const screen::Terminal ends = std::move(terminal);
    }
    return command::report_error(concurrent.error());
  }
  std::optional<Screen> show(
      Screen{std::move(terminal), {watcher.header(), "", "", ""}, chosen_by(options), !options.command.empty()});
  Record record;
  if (!options.record.empty()) toggle_record(*show, record, watcher, options);
  const auto interval = std::chrono::milliseconds(options.interval_ms);
  result::WatchTable table = watcher.next();
  // The first table is almost empty, so the second one follows soon.
  Nanoseconds due = watcher.reading().time + std::min<Nanoseconds>(interval, std::chrono::milliseconds(250));
  bool is_over = false;
  std::int64_t done = 0;
  while (!is_over && (options.readings == 0 || done < options.readings)) {
    show->draw(table);
    const int sources[] = {signals->fd(), 0};
    const int woken = watch::wait_until(due, sources, true);
    if (woken == 0) is_over = concurrent->is_over(*signals);
    if (woken == watch::woken_by_time) {
      select_what_to_read(show->chosen, watcher.shown());
      result::WatchTable later = watcher.next();
      if (auto added = record.add(later); !added) {
        show->chosen.note = added.error().message;
        show->around.recording.clear();
      }
      if (!show->chosen.paused) table = std::move(later);
      due = std::max(due + interval, linux::now());
      ++done;
      continue;
    }
    const screen::Page page = show->chosen.page;
    const Wish wish = show->take_keys(table);
    if (wish == Wish::quit) break;
    if (wish == Wish::record) toggle_record(*show, record, watcher, options);
    // A new page is read at once, and shown after 200 ms at the latest.
    if (show->chosen.page != page && !show->chosen.paused) {
      select_what_to_read(show->chosen, watcher.shown());
      due = std::min(due, linux::now() + std::chrono::milliseconds(200));
    }
  }
  show.reset();
  return concurrent->finish(*signals, is_over, options.at_end);
}

int replay_on_screen(const result::Recording& recording, const WatchOptions& options, screen::Terminal terminal) {
  auto signals = linux::Signals::watch();
  if (!signals) return command::report_error(signals.error());
  std::optional<Screen> show(Screen{std::move(terminal), {recording.header, "", "", ""}, chosen_by(options), false});
  std::size_t at = 0;
  const std::size_t last = recording.tables.size() - 1;
  Nanoseconds shown_since = linux::now();
  for (;;) {
    const result::WatchTable& table = recording.tables[at];
    show->around.replaying = fmt::format("{}/{} {}", at + 1, last + 1, options.replay);
    show->draw(table);
    const bool goes_on = !show->chosen.paused && at < last;
    const Nanoseconds due =
        goes_on ? shown_since + recording.tables[at + 1].interval : linux::now() + std::chrono::hours(1);
    const int sources[] = {signals->fd(), 0};
    const int woken = watch::wait_until(due, sources, true);
    std::size_t next = woken == watch::woken_by_time && goes_on ? at + 1 : at;
    if (woken == 0) {
      signals->settle();
      if (signals->interrupted_by()) break;
    } else if (woken != watch::woken_by_time) {
      const Wish wish = show->take_keys(table);
      if (wish == Wish::quit) break;
      // Stepping pauses the replay; the space key continues it.
      if (wish == Wish::forward || wish == Wish::back) show->chosen.paused = true;
      if (wish == Wish::forward) next = std::min(at + 1, last);
      if (wish == Wish::back) next = at == 0 ? 0 : at - 1;
      if (wish == Wish::record) show->chosen.note = "this is a recording";
    }
    if (next != at) shown_since = linux::now();
    at = next;
  }
  show.reset();
  if (const auto signal = signals->interrupted_by()) linux::die_of(*signal);
  return command::exit_ok;
}

}  // namespace tally::session
