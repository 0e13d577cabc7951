#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

#include "tally/core/base/text.hpp"
#include "tally/output/kinds/stat_format.hpp"
#include "tally/output/kit/csv_rows.hpp"

namespace tally::output {
namespace {

constexpr std::size_t others = 4;
const std::vector<std::string> hpctool_fields{"ins", "l_cycle", "ref_cycle", "event1", "event2", "event3", "event4"};
constexpr std::array<std::string_view, 3> fixed{"instructions", "cycles", "ref-cycles"};

// The indices of the seven events in the order of the columns.
Result<std::vector<std::size_t>> places(const std::vector<EventName>& events) {
  std::vector<std::size_t> result;
  std::vector<std::string> missing;
  for (const std::string_view name : fixed) {
    const auto found =
        std::find_if(events.begin(), events.end(), [&](const EventName& event) { return event.base == name; });
    if (found == events.end()) missing.emplace_back(name);
    result.push_back(static_cast<std::size_t>(found - events.begin()));
  }
  const std::string hint =
      fmt::format("for example: -e {},branches,branch-misses,cache-references,cache-misses", fmt::join(fixed, ","));
  if (!missing.empty()) {
    return fail(Code::bad_usage, "the format hpctool needs " + join(missing, " and ") + " too", hint);
  }
  for (std::size_t i = 0; i < events.size(); ++i) {
    if (std::find(result.begin(), result.begin() + fixed.size(), i) == result.begin() + fixed.size()) {
      result.push_back(i);
    }
  }
  if (result.size() == fixed.size() + others) return result;
  return fail(Code::bad_usage,
              fmt::format("the format hpctool has columns for exactly {} events in addition to {}; {} were requested",
                          others, fmt::join(fixed, ", "), result.size() - fixed.size()),
              hint);
}

std::vector<EventName> names(const result::Stat& stat) {
  std::vector<EventName> list;
  for (const result::Event& row : stat.events) list.push_back(row.total.name);
  return list;
}

}  // namespace

std::string hpctool_header() { return csv_row(hpctool_fields, ","); }

Result<std::vector<std::size_t>> hpctool_places(const std::vector<EventName>& events) { return places(events); }

Result<void> fits_hpctool(const std::vector<EventName>& events) {
  const auto found = places(events);
  if (!found) return fail(found.error());
  return {};
}

Result<std::string> hpctool(const result::Stat& stat, const Style& style) {
  if (style.per_process || style.per_thread) {
    return fail(Code::bad_usage, "the format hpctool cannot represent processes and threads", "use `--format csv`");
  }
  const auto order = places(names(stat));
  if (!order) return fail(order.error());
  std::string text = style.header ? csv_row(hpctool_fields, ",") + "\r\n" : "";
  for (const result::Run& run : stat.runs) {
    std::vector<std::string> cells;
    for (const std::size_t place : *order) {
      const result::EventCount& one = run.counts[place];
      if (!one.count.value) {
        return fail(Code::bad_usage,
                    fmt::format("the format hpctool cannot represent that {} is absent ({})", one.name.text(),
                                one.count.reason),
                    "it holds only integers; the other formats give the reason");
      }
      cells.push_back(std::to_string(*one.count.value));
    }
    text += csv_row(cells, ",") + "\r\n";
  }
  return text;
}

std::vector<std::pair<std::string, std::string>> hpctool_columns(const result::Stat& stat) {
  std::vector<std::pair<std::string, std::string>> columns;
  const std::vector<EventName> events = names(stat);
  const auto order = places(events);
  for (std::size_t i = 0; order && i < order->size(); ++i)
    columns.emplace_back(hpctool_fields[i], events[(*order)[i]].text());
  return columns;
}

Result<Style> append_hpctool(std::string_view existing, Style style) {
  const std::string found(existing.substr(0, existing.find_first_of("\r\n")));
  const std::string expected = csv_row(hpctool_fields, ",");
  if (found != expected) {
    return fail(Code::bad_usage,
                fmt::format("cannot append: the file begins with '{}'", printable(found.substr(0, 200))),
                fmt::format("this format writes '{}'; use another file", expected));
  }
  style.header = false;
  return style;
}

}  // namespace tally::output
