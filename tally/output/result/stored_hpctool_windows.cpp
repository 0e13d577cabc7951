// Files of HPCTool's sampling mode: each row is a window of one program.
#include <algorithm>

#include "tally/output/result/json_reading.hpp"
#include "tally/output/result/stored_hpctool.hpp"

namespace tally::result {
namespace {

// HPCTool's own rows of 50,000 instructions are up to 205 too long; a shorter period has the same skid.
constexpr double full = 0.9, too_long = 1.2;

std::int64_t usual_length(const std::vector<HpctoolRow>& rows) {
  std::vector<std::int64_t> lengths;
  for (const HpctoolRow& row : rows) lengths.push_back(row[0]);
  const auto middle = lengths.begin() + static_cast<std::ptrdiff_t>(lengths.size() / 2);
  std::nth_element(lengths.begin(), middle, lengths.end());
  return *middle;
}

WindowsHead hpctool_head(const std::vector<HpctoolRow>& rows, const HpctoolNames& names) {
  WindowsHead head;
  std::size_t next = 0;
  for (std::size_t i = 0; i < names.size(); ++i) {
    EventCount event;
    event.event = names[i];
    event.name = split_event_name(names[i]);
    // An event may really not occur; instructions and cycles always do.
    const bool dead =
        i < 3 && std::all_of(rows.begin(), rows.end(), [&](const HpctoolRow& row) { return row[i] == 0; });
    event.count = dead ? absent("0 in every row: this counter did not count")
                       : partial(0, Source::none, "copied from the file, which does not name the backend");
    event.count.value.reset();
    head.events.push_back(std::move(event));
    head.places.push_back(dead ? std::nullopt : std::optional(next++));
  }
  head.triggers = {{split_event_name(names[0]), 0}};
  return head;
}

std::vector<std::int64_t> numbers(const Json& json) {
  std::vector<std::int64_t> all;
  for (const Json& one : json) all.push_back(number<std::int64_t>(one));
  return all;
}

// Whether the rows have these totals.
bool have_totals(const std::vector<HpctoolRow>& rows, const std::vector<std::int64_t>& totals) {
  std::vector<std::uint64_t> sums(std::tuple_size_v<HpctoolRow>);
  for (const HpctoolRow& row : rows)
    for (std::size_t i = 0; i < row.size(); ++i) sums[i] += static_cast<std::uint64_t>(row[i]);
  return std::equal(sums.begin(), sums.end(), totals.begin(), totals.end(),
                    [](std::uint64_t sum, std::int64_t total) { return sum == static_cast<std::uint64_t>(total); });
}

// May throw Json::exception.
HpctoolOrigins read_origins(const Json& json) {
  HpctoolOrigins origins;
  for (const Json& one : json.at("threads"))
    origins.threads.push_back({number<std::uint32_t>(one.at("series")), number<std::int64_t>(one.at("process")),
                               number<std::int64_t>(one.at("thread")), one.at("program").get<std::string>()});
  for (const std::int64_t index : numbers(json.at("thread"))) origins.thread.push_back(static_cast<std::size_t>(index));
  origins.time_ns = numbers(json.at("time_ns"));
  origins.triggers = numbers(json.at("trigger"));
  return origins;
}

}  // namespace

bool are_hpctool_windows(std::string_view text) {
  const auto rows = hpctool_rows(text, "");
  if (!rows || rows->size() < 3) return false;
  const auto usual = static_cast<double>(usual_length(*rows));
  const auto is_full = [&](const HpctoolRow& row) { return static_cast<double>(row[0]) >= full * usual; };
  const auto is_longer = [&](const HpctoolRow& row) { return static_cast<double>(row[0]) > too_long * usual; };
  return !is_full(rows->back()) && std::none_of(rows->begin(), rows->end(), is_longer) &&
         2 * std::count_if(rows->begin(), rows->end(), is_full) >= static_cast<std::ptrdiff_t>(rows->size());
}

std::optional<HpctoolOrigins> hpctool_origins(const std::vector<HpctoolRow>& rows, std::string_view description) {
  try {
    const Json json = parse_json<Json>(description);
    const Json& described = json.at("rows");
    HpctoolOrigins origins = read_origins(described);
    origins.trigger_count = json.at("every").size();
    const bool is_whole = origins.thread.size() == rows.size() && origins.time_ns.size() == rows.size() &&
                          origins.triggers.size() == rows.size() &&
                          std::all_of(origins.thread.begin(), origins.thread.end(),
                                      [&](std::size_t index) { return index < origins.threads.size(); }) &&
                          std::all_of(origins.triggers.begin(), origins.triggers.end(), [&](std::int64_t trigger) {
                            return trigger < static_cast<std::int64_t>(origins.trigger_count);
                          });
    if (is_whole && have_totals(rows, numbers(described.at("totals")))) return origins;
  } catch (const Json::exception&) {
  }
  return std::nullopt;
}

Result<Windows> read_hpctool_windows(std::string_view text, const std::string& name, std::string_view description) {
  const auto rows = hpctool_rows(text, name);
  if (!rows) return fail(rows.error());
  const auto origins = hpctool_origins(*rows, description);
  WindowsHead head = hpctool_head(*rows, hpctool_names(description));
  if (origins) head.triggers.resize(std::max(origins->trigger_count, head.triggers.size()), head.triggers.front());
  WindowsCollector collector(std::move(head));
  const auto usual = static_cast<double>(usual_length(*rows));
  std::vector<std::uint64_t> numbers(origins ? origins->threads.size() : 1);
  std::vector<std::int64_t> counts;
  for (std::size_t at = 0; at < rows->size(); ++at) {
    const HpctoolRow& row = (*rows)[at];
    Window window;
    window.number = ++numbers[origins ? origins->thread[at] : 0];
    window.length = row[0];
    if (origins) {
      const HpctoolOrigins::Thread& thread = origins->threads[origins->thread[at]];
      window.series = thread.series;
      window.pid = thread.pid;
      window.tid = thread.tid;
      window.program = thread.program;
      window.time = Nanoseconds(origins->time_ns[at]);
      if (origins->triggers[at] >= 0) window.trigger = static_cast<std::size_t>(origins->triggers[at]);
    } else if (static_cast<double>(row[0]) >= full * usual) {
      window.trigger = 0;
    }
    counts.clear();
    for (std::size_t i = 0; i < row.size(); ++i)
      if (collector.head().places[i]) counts.push_back(row[i]);
    window.counts = counts;
    collector.add(window);
  }
  Windows made = collector.take();
  made.notices = hpctool_notices(*rows);
  made.notices.emplace_back("HPCTool's columns contain neither times nor threads");
  return made;
}

}  // namespace tally::result
