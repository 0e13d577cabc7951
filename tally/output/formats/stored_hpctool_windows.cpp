// Files of HPCTool's sampling mode: each row is a window of one program.
#include <algorithm>

#include "tally/output/formats/stored_hpctool.hpp"

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

Result<Windows> read_hpctool_windows(std::string_view text, const std::string& name, std::string_view description) {
  const auto rows = hpctool_rows(text, name);
  if (!rows) return fail(rows.error());
  WindowsCollector collector(hpctool_head(*rows, hpctool_names(description)));
  const auto usual = static_cast<double>(usual_length(*rows));
  Window window;
  std::vector<std::int64_t> counts;
  for (const HpctoolRow& row : *rows) {
    ++window.number;
    window.length = row[0];
    window.trigger.reset();
    if (static_cast<double>(row[0]) >= full * usual) window.trigger = 0;
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
