#include "tally/output/result/stored_windows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <utility>

#include "tally/core/base/text.hpp"
#include "tally/output/result/json_reading.hpp"
#include "tally/output/result/stored_hpctool.hpp"
#include "tally/output/result/window_check.hpp"

namespace tally::result {
namespace {

constexpr std::string_view csv_begin = "series,number,time_ns,length,program,process,thread,cpu,";
constexpr std::string_view csv_end = ",trigger,address,lost,trust";
constexpr std::string_view csv_named_end = ",trigger,address,function,line,lost,trust";
constexpr std::size_t before_events = 8;
std::size_t after_events(bool named) { return named ? 6 : 4; }

// Removes and returns the next line, without its end.
std::string_view take_line(std::string_view& text) {
  const std::size_t end = std::min(text.find('\n'), text.size());
  std::string_view line = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

// The fields of a line, with quotes as in RFC 4180, except line ends, which no name contains.
void fields_of(std::string_view line, std::vector<std::string_view>& fields, std::string& unquoted) {
  fields.clear();
  unquoted.clear();
  unquoted.reserve(line.size());
  while (true) {
    if (line.starts_with('"')) {
      const std::size_t from = unquoted.size();
      std::size_t at = 1;
      for (; at < line.size(); ++at) {
        if (line[at] == '"' && (at + 1 == line.size() || line[++at] != '"')) break;
        unquoted += line[at];
      }
      fields.push_back(std::string_view(unquoted).substr(from));
      line.remove_prefix(std::min(line.find(',', at), line.size()));
    } else {
      fields.push_back(line.substr(0, line.find(',')));
      line.remove_prefix(fields.back().size());
    }
    if (line.empty()) return;
    line.remove_prefix(1);
  }
}

template <class T>
bool read_number(std::string_view text, T& to) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), to);
  return error == std::errc() && end == text.data() + text.size();
}

bool read_address(std::string_view text, std::uint64_t& to) {
  to = 0;
  if (text.empty()) return true;
  if (!text.starts_with("0x")) return false;
  text.remove_prefix(2);
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), to, 16);
  return error == std::errc() && end == text.data() + text.size();
}

std::size_t trigger_place(WindowsHead& head, std::string_view event) {
  const auto found = std::find_if(head.triggers.begin(), head.triggers.end(),
                                  [&](const WindowTrigger& trigger) { return trigger.event.text() == event; });
  if (found != head.triggers.end()) return static_cast<std::size_t>(found - head.triggers.begin());
  head.triggers.push_back({split_event_name(event), 0});
  return head.triggers.size() - 1;
}

// Reads the first line of JSON Lines, or the description of a CSV. May throw Json::exception.
WindowsHead head_of(const Json& json) {
  WindowsHead head;
  head.command = json.at("command").get<std::vector<std::string>>();
  for (const Json& one : json.at("every"))
    head.triggers.push_back({split_event_name(text(one, "event")), number<std::uint64_t>(one.at("count")),
                             one.contains("frequency") ? number<std::uint64_t>(one.at("frequency")) : 0});
  head.provenance = read_provenance(json);
  head.merged = json.contains("merged");
  head.start = text(json, "start_at");
  head.stop = text(json, "stop_at");
  read_models(json, head);
  if (const auto sources = json.find("nondeterminism"); sources != json.end())
    head.nondeterminism = read_sources(*sources);
  std::size_t next = 0;
  for (const Json& one : json.at("events")) {
    EventCount event;
    event.name = split_event_name(text(one, "name"));
    event.event = text(one, "asked");
    if (text(one, "unit") == "nanoseconds") event.unit = Unit::nanoseconds;
    // The first line of JSON Lines has no trust: the last one has it.
    event.count.trust = one.contains("trust") ? trust(one.at("trust")) : Trust::partial;
    event.count.reason = one.contains("trust") ? text(one, "reason") : "the last line of the file is missing";
    event.count.source = parse_source(text(one, "source"));
    event.count.model = text(one, "model");
    if (event.count.trust == Trust::absent)
      head.places.emplace_back();
    else
      head.places.emplace_back(next++);
    head.events.push_back(std::move(event));
  }
  return head;
}

std::optional<WindowsHead> described(std::string_view description) {
  if (description.empty()) return std::nullopt;
  try {
    return head_of(parse_json<Json>(description));
  } catch (const Json::exception&) {
    return std::nullopt;
  }
}

tl::unexpected<Error> wrong_line(const std::string& name, std::size_t line, const std::string& what) {
  return fail(Code::bad_usage, fmt::format("'{}', line {}: {}", printable(name), line, what),
              "`tally sample -o FILE` writes files of windows");
}

// A column that is empty in the first row is empty in all: its event is absent.
WindowsHead csv_head(const std::vector<std::string>& names, const std::vector<std::string_view>& first) {
  WindowsHead head;
  std::size_t next = 0;
  const Trust believed =
      first.size() > names.size() ? trust_of(std::string(first.back())).value_or(Trust::absent) : Trust::absent;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const bool is_present = i + before_events < first.size() && !first[i + before_events].empty();
    EventCount event;
    event.event = names[i];
    event.name = split_event_name(names[i]);
    event.count.trust = is_present ? believed : Trust::absent;
    if (!is_present) event.count.reason = "its column is empty";
    head.events.push_back(std::move(event));
    head.places.push_back(is_present ? std::optional(next++) : std::nullopt);
  }
  return head;
}

bool same_names(const WindowsHead& head, const std::vector<std::string>& names) {
  return std::equal(head.events.begin(), head.events.end(), names.begin(), names.end(),
                    [](const EventCount& event, const std::string& name) { return event.name.text() == name; });
}

// The problem of a CSV row; empty if it is valid.
std::string csv_window(const std::vector<std::string_view>& fields, WindowsHead& head, Window& window,
                       std::vector<std::int64_t>& counts) {
  const std::size_t columns = before_events + head.events.size() + after_events(head.named);
  if (fields.size() != columns) return fmt::format("{} fields instead of {}", fields.size(), columns);
  std::int64_t time = 0;
  window.cpu = -1;
  const std::size_t last = columns - after_events(head.named), end = columns - 2;
  if (!read_number(fields[0], window.series) || !read_number(fields[1], window.number) ||
      !read_number(fields[2], time) || !read_number(fields[3], window.length) || !read_number(fields[5], window.pid) ||
      !read_number(fields[6], window.tid) || (!fields[7].empty() && !read_number(fields[7], window.cpu)) ||
      !read_address(fields[last + 1], window.address) || !read_number(fields[end], window.lost))
    return "not a row of windows";
  window.time = Nanoseconds(time);
  window.program = fields[4];
  window.trigger.reset();
  if (fields[last] != "end") window.trigger = trigger_place(head, fields[last]);
  window.partial = fields[end + 1] == name(Trust::partial);
  if (head.named) {
    window.function = fields[last + 2];
    window.line = fields[last + 3];
  }
  counts.clear();
  for (std::size_t i = 0; i < head.events.size(); ++i) {
    if (!head.places[i]) continue;
    counts.push_back(0);
    if (!read_number(fields[before_events + i], counts.back()))
      return fmt::format("'{}' is not a count of {}", printable(std::string(fields[before_events + i])),
                         head.events[i].name.text());
  }
  window.counts = counts;
  return {};
}

Result<Windows> read_csv(std::string_view text, const std::string& name, std::string_view description) {
  const bool named = text.substr(0, text.find_first_of("\r\n")).ends_with(csv_named_end);
  std::vector<std::string_view> fields;
  std::string unquoted;
  fields_of(take_line(text), fields, unquoted);
  // A quote that is not closed hides columns.
  if (fields.size() < before_events + after_events(named)) return wrong_line(name, 1, "columns are missing");
  const std::vector<std::string> names(fields.begin() + before_events,
                                       fields.end() - static_cast<std::ptrdiff_t>(after_events(named)));
  std::string_view first = text;
  fields_of(take_line(first), fields, unquoted);
  WindowsHead head = csv_head(names, fields);
  if (auto description_head = described(description); description_head && same_names(*description_head, names))
    head = *std::move(description_head);
  head.named = named;
  WindowsCollector collector(head);
  WindowCheck check;
  Window window;
  std::vector<std::int64_t> counts;
  for (std::size_t number = 2; !text.empty(); ++number) {
    const bool is_cut = text.find('\n') == std::string_view::npos;
    fields_of(take_line(text), fields, unquoted);
    if (fields.size() == 1 && fields[0].empty()) continue;
    const std::string wrong = csv_window(fields, collector.head(), window, counts);
    if (is_cut) {
      Windows made = collector.take();
      made.incomplete = true;
      made.notices.push_back("the file ends within a row; the rows before it are shown");
      return made;
    }
    if (!wrong.empty()) return wrong_line(name, number, wrong);
    if (const std::string problem = check.problem_of(window, collector.head()); !problem.empty())
      return wrong_line(name, number, problem);
    collector.add(window);
  }
  return collector.take();
}

// As text(), without a copy: refers to the object.
std::string_view word(const Json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end() || !found->is_string()) return {};
  return found->get_ref<const std::string&>();
}

// May throw Json::exception.
void json_window(const Json& json, WindowsHead& head, Window& window, std::vector<std::int64_t>& counts) {
  window.series = number<std::uint32_t>(json.at("series"));
  window.number = number<std::uint64_t>(json.at("number"));
  window.time = Nanoseconds(number<std::int64_t>(json.at("time_ns")));
  window.length = number<std::int64_t>(json.at("length"));
  window.program = json.at("program").get_ref<const std::string&>();
  window.pid = number<std::int64_t>(json.at("process"));
  window.tid = number<std::int64_t>(json.at("thread"));
  window.cpu = optional<int>(json, "cpu").value_or(-1);
  const auto& trigger = json.at("trigger").get_ref<const std::string&>();
  window.trigger.reset();
  if (trigger != "end") window.trigger = trigger_place(head, trigger);
  window.address = 0;
  (void)read_address(text(json, "address"), window.address);
  head.named = head.named || json.contains("function");
  window.function = word(json, "function");
  window.line = word(json, "line");
  window.lost = number<std::int64_t>(json.at("lost"));
  window.partial = text(json, "trust") == name(Trust::partial);
  counts.clear();
  const Json& values = json.at("counts");
  for (std::size_t i = 0; i < head.events.size(); ++i)
    if (head.places[i]) counts.push_back(number<std::int64_t>(values.at(head.events[i].name.text())));
  window.counts = counts;
}

Result<Windows> read_json_lines(std::string_view text, const std::string& name) {
  std::size_t line = 1;
  try {
    WindowsCollector collector(head_of(parse_json<Json>(take_line(text))));
    WindowCheck check;
    Window window;
    std::vector<std::int64_t> counts;
    while (!text.empty()) {
      ++line;
      const bool is_cut = text.find('\n') == std::string_view::npos;
      const std::string_view one = take_line(text);
      if (one.empty()) continue;
      const Json json = is_cut ? parse_json_or_discard<Json>(one) : parse_json<Json>(one);
      if (json.is_discarded()) {
        Windows made = collector.take();
        made.incomplete = true;
        made.notices.push_back("the file ends within a row; the rows before it are shown");
        return made;
      }
      if (json.contains("schema")) {
        WindowsHead last = head_of(json);
        if (last.places != collector.head().places) return wrong_line(name, line, "it describes other events");
        collector.head().events = std::move(last.events);
        collector.head().nondeterminism = std::move(last.nondeterminism);
        continue;
      }
      json_window(json, collector.head(), window, counts);
      if (const std::string problem = check.problem_of(window, collector.head()); !problem.empty())
        return wrong_line(name, line, problem);
      collector.add(window);
    }
    return collector.take();
  } catch (const Json::exception& wrong) {
    return wrong_line(name, line, parse_error_text({}, wrong.what()));
  }
}

// The description that tally wrote for such a file contains the backend, the triggers and the threads.
Result<Windows> read_described_hpctool(std::string_view text, const std::string& name, std::string_view description) {
  auto read = read_hpctool_windows(text, name, description);
  const auto description_head = described(description);
  if (!read || !description_head) return read;
  if (!hpctool_origins(*hpctool_rows(text, name), description)) {
    read->notices.emplace_back("the JSON file next to it describes other rows: only its column names are used");
    return read;
  }
  read->head.command = description_head->command;
  read->head.provenance = description_head->provenance;
  if (!description_head->triggers.empty()) read->head.triggers = description_head->triggers;
  for (EventCount& event : read->head.events)
    for (const EventCount& known : description_head->events)
      if (known.name == event.name) event = known;
  read->notices.clear();
  return read;
}

}  // namespace

WindowsForm windows_form(std::string_view text) {
  const std::string_view line = take_line(text);
  if (line.starts_with(csv_begin) && (line.ends_with(csv_end) || line.ends_with(csv_named_end)))
    return WindowsForm::csv;
  if (line.starts_with(R"({"schema":"tally-windows/)")) return WindowsForm::json_lines;
  return is_hpctool(line) ? WindowsForm::hpctool : WindowsForm::none;
}

Result<Windows> read_windows_text(std::string_view text, const std::string& name, std::string_view description) {
  switch (windows_form(text)) {
    case WindowsForm::csv: return read_csv(text, name, description);
    case WindowsForm::json_lines: return read_json_lines(text, name);
    case WindowsForm::hpctool: return read_described_hpctool(text, name, description);
    default: return wrong_line(name, 1, "it does not start like a file of windows");
  }
}

}  // namespace tally::result
