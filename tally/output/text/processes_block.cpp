#include "tally/output/text/processes_block.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "tally/core/base/text.hpp"
#include "tally/output/kit/grid.hpp"
#include "tally/output/kit/process_end.hpp"

namespace tally::output {
namespace {

constexpr std::size_t most_columns = 4;
// The events that rows show first if there are many.
constexpr std::string_view preferred[] = {"instructions", "branches", "loads", "stores"};

using EventCounts = std::vector<result::EventCount>;

// The counts of every process, and of every thread if requested, in the order of their rows.
std::vector<const EventCounts*> blocks_of(const result::Stat& stat, const Style& style) {
  std::vector<const EventCounts*> blocks;
  for (const result::Run& run : stat.runs) {
    for (const result::Process& process : run.processes) {
      if (!has_only_threads(process)) blocks.push_back(&process.counts);
      if (!style.per_thread) continue;
      for (const result::Thread& thread : process.threads) blocks.push_back(&thread.counts);
    }
  }
  return blocks;
}

// The events that are absent from every row for the same reason: event → reason. They are reported once, below all
// rows.
std::map<std::string, std::string> absent_everywhere(const std::vector<const EventCounts*>& blocks) {
  std::map<std::string, std::string> absent;
  if (blocks.empty()) return absent;
  for (const result::EventCount& event_count : *blocks.front()) {
    const bool everywhere = std::all_of(blocks.begin(), blocks.end(), [&](const EventCounts* block) {
      return std::any_of(block->begin(), block->end(), [&](const result::EventCount& other) {
        return other.name == event_count.name && other.count.trust == Trust::absent &&
               other.count.reason == event_count.count.reason;
      });
    });
    if (everywhere) absent[event_count.name.text()] = event_count.count.reason;
  }
  return absent;
}

std::string absent_text(const EventCounts& order, const std::map<std::string, std::string>& absent) {
  std::map<std::string, std::vector<std::string>> events;
  for (const result::EventCount& count : order) {
    const std::string name = count.name.text();
    if (const auto found = absent.find(name); found != absent.end()) events[found->second].push_back(name);
  }
  std::string text;
  for (const auto& [reason, names] : events) {
    text += fmt::format("\n absent by process: {} ({})\n", join(names, ", "), printable(reason));
  }
  return text;
}

// The events whose counts the rows show: few enough to fit a line.
std::vector<EventName> columns_of(const std::vector<const EventCounts*>& blocks,
                                  const std::map<std::string, std::string>& absent) {
  std::vector<EventName> events;
  for (const result::EventCount& count : *blocks.front()) {
    if (!absent.contains(count.name.text())) events.push_back(count.name);
  }
  if (events.size() <= most_columns) return events;
  const auto is_preferred = [](const EventName& name) {
    return name.mode == Mode::user &&
           std::find(std::begin(preferred), std::end(preferred), name.base) != std::end(preferred);
  };
  std::stable_partition(events.begin(), events.end(), is_preferred);
  events.resize(most_columns);
  return events;
}

const result::EventCount* find(const EventCounts& counts, const EventName& event) {
  const auto found = std::find_if(counts.begin(), counts.end(), [&](const auto& one) { return one.name == event; });
  return found == counts.end() ? nullptr : &*found;
}

// Collects the rows.
class ProcessRows {
 public:
  ProcessRows(const result::Stat& stat, std::vector<EventName> events, Footnotes& notes)
      : events_(std::move(events)), notes_(notes), grid_(headings(stat)), several_runs_(stat.runs_asked > 1) {}

  void add(std::size_t run, const result::Process& process) {
    add({number_of(run), std::to_string(process.pid), std::to_string(process.parent_pid), ""}, process.counts,
        end_text(process), printable(process.command));
  }

  void add(std::size_t run, const result::Process& process, const result::Thread& thread) {
    add({number_of(run), std::to_string(process.pid), "", std::to_string(thread.tid)}, thread.counts, "",
        "thread " + printable(thread.name));
  }

  std::string text(std::size_t terminal) const { return grid_.text(terminal); }

 private:
  std::vector<Column> headings(const result::Stat&) const {
    std::vector<Column> columns{
        {"run", Align::right}, {"pid", Align::right, 0, true}, {"parent", Align::right}, {"tid", Align::right}};
    for (const EventName& event : events_) columns.push_back({event.text(), Align::right});
    for (const char* heading : {"trust", "end"}) columns.push_back({heading});
    columns.push_back(key_column("command"));
    return columns;
  }

  std::string number_of(std::size_t run) const { return several_runs_ ? std::to_string(run) : ""; }

  void add(std::vector<std::string> cells, const EventCounts& counts, const std::string& end,
           const std::string& command) {
    // The grades of the counts, in the order of the columns; absent ones are in their own cells.
    std::vector<std::string> grades;
    for (const EventName& event : events_) {
      const result::EventCount* one = find(counts, event);
      const std::string grade = one ? notes_.cell(one->count) : "";
      cells.push_back(one && one->count.value ? value_text(*one->count.value, one->unit) : one ? grade : "-");
      if (one && one->count.value && std::find(grades.begin(), grades.end(), grade) == grades.end())
        grades.push_back(grade);
    }
    cells.push_back(join(grades, ", "));
    cells.push_back(end);
    cells.push_back(command);
    grid_.add(std::move(cells));
  }

  std::vector<EventName> events_;
  Footnotes& notes_;
  Grid grid_;
  bool several_runs_;
};

}  // namespace

std::string processes_block(const result::Stat& stat, const Style& style, Footnotes& notes) {
  const std::vector<const EventCounts*> blocks = blocks_of(stat, style);
  if (blocks.empty()) return {};
  const auto absent = absent_everywhere(blocks);
  const std::vector<EventName> events = columns_of(blocks, absent);
  // Reasons are printed below the table even if only one row has them: otherwise the columns after them would not
  // align.
  for (const EventCounts* block : blocks) {
    for (const result::EventCount& event_count : *block) {
      for (int twice = 0; twice < 2; ++twice) notes.announce(event_count.count);
    }
  }
  ProcessRows rows(stat, events, notes);
  for (std::size_t i = 0; i < stat.runs.size(); ++i) {
    for (const result::Process& process : stat.runs[i].processes) {
      const bool has_own_row = !has_only_threads(process);
      if (has_own_row) rows.add(i + 1, process);
      // The counts of a single thread are those of its process.
      if (!style.per_thread || (has_own_row && process.threads.size() < 2)) continue;
      for (const result::Thread& thread : process.threads) rows.add(i + 1, process, thread);
    }
  }
  std::string text = "\n" + rows.text(style.terminal);
  const std::size_t all = blocks.front()->size() - absent.size();
  text += absent_text(*blocks.front(), absent);
  if (all > events.size()) {
    text += fmt::format("\n {} of {} events; `--format csv` or json has all of them\n", events.size(), all);
  }
  if (const std::string below = notes.text(); !below.empty()) text += "\n" + below;
  return text;
}

}  // namespace tally::output
