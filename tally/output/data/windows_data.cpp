#include "tally/output/kinds/windows_format.hpp"

#include <fmt/compile.h>
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>

#include "tally/core/base/foreign_text.hpp"
#include "tally/core/base/json_text.hpp"
#include "tally/core/base/text.hpp"
#include "tally/output/kinds/stat_format.hpp"
#include "tally/output/kit/csv_rows.hpp"
#include "tally/output/kit/grid.hpp"
#include "tally/output/kit/gzip.hpp"
#include "tally/output/kit/json_values.hpp"

namespace tally::output {
namespace {

/// The trigger's name in a row; "end" if the thread's end cut the window.
std::string trigger_of(const result::WindowsHead& head, const result::Window& window) {
  return window.trigger ? head.triggers[*window.trigger].event.text() : "end";
}

std::string quoted_json(const std::string& text) { return json_text(Json(text)); }

/// One aligned line per window. The program's name identifies the process; the trigger is named if there are several.
class WindowTable final : public WindowWriter {
 public:
  explicit WindowTable(std::size_t terminal) : terminal_(terminal == 0 ? 0 : std::max(terminal, least_terminal)) {}

  void begin(const result::WindowsHead& head, std::string& to) override {
    head_ = head;
    has_length_ = std::any_of(head.triggers.begin(), head.triggers.end(), [&](const result::WindowTrigger& trigger) {
      return std::none_of(head.events.begin(), head.events.end(),
                          [&](const result::EventCount& event) { return event.name == trigger.event; });
    });
    const std::string last = "last instruction";
    constexpr Widths usual{8, 10, 12, 10}, narrow{6, 8, 8, 7};
    lay_out_columns(usual);
    std::size_t width = 1 + last.size();
    for (const auto& column : columns_) width += 1 + column.width;
    is_narrow_ = terminal_ != 0 && width > terminal_;
    if (is_narrow_) lay_out_columns(narrow);
    std::vector<std::string> legend;
    for (const auto& [text, name] : events_)
      if (text != name) legend.push_back(text + " " + name);
    if (!legend.empty()) to += hanging(" ", join(legend, ", "), terminal_);
    std::vector<std::string> cells;
    for (const auto& column : columns_) cells.push_back(column.heading);
    add(cells, {is_narrow_ ? "last at" : last}, to);
  }
  void row(const result::Window& window, std::string& to) override {
    std::vector<std::string> cells{thousands(static_cast<std::int64_t>(window.number)),
                                   fmt::format("{:.3f}", static_cast<double>(window.time.count()) / 1e6),
                                   program_of(window), std::to_string(window.tid)};
    if (has_length_) cells.push_back(thousands(window.length));
    for (const auto& place : head_.places) cells.push_back(place ? thousands(window.counts[*place]) : "absent");
    std::vector<std::string> words{window.address != 0 ? fmt::format("{:#x}", window.address) : "-"};
    for (const std::string_view text : {window.function, window.line})
      if (!text.empty()) words.push_back(ForeignText(text).in_line());
    if (!window.trigger || head_.triggers.size() > 1) words.push_back(trigger_of(head_, window));
    if (window.partial) words.back() += ", partial";
    add(cells, words, to);
  }
  void end(const result::WindowsHead& /*head*/, std::string& to) override {
    for (const result::EventCount& event : head_.events)
      if (event.count.trust == Trust::absent)
        fmt::format_to(std::back_inserter(to), "  {} is absent: {}\n", event.name.text(), event.count.reason);
  }

 private:
  struct WindowColumn {
    std::string heading;
    std::size_t width = 0;
    Align align = Align::right;
  };
  struct Widths {
    std::size_t number, time, program, count;
  };

  static constexpr std::size_t least_terminal = 40;

  // A column has at least the width of its event's name, which is shortened if columns are narrow.
  void lay_out_columns(const Widths& widths) {
    columns_ = {
        {"window", widths.number}, {"time/ms", widths.time}, {"program", widths.program, Align::left}, {"thread", 7}};
    if (has_length_) columns_.push_back({"length", widths.count});
    for (const result::EventCount& event : head_.events) {
      const std::string heading = is_narrow_ ? short_name(events_, event.event, widths.count) : event.event;
      columns_.push_back({heading, std::max(widths.count, display_width(heading))});
    }
  }

  // The cells of a row, followed by words of any length.
  void add(const std::vector<std::string>& cells, const std::vector<std::string>& words, std::string& to) const {
    constexpr std::size_t indent = 8;
    std::size_t at = 0;
    std::string line;
    const auto append = [&](const std::string& text, std::size_t width, std::string_view gap) {
      if (is_narrow_ && at != 0 && at + gap.size() + width > terminal_) {
        to += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
        line.assign(at = indent, ' ');
      }
      line += at == 0 ? "" : gap;
      line += text;
      at += (at == 0 ? 0 : gap.size()) + width;
    };
    for (std::size_t i = 0; i < cells.size(); ++i) {
      const std::size_t size = display_width(cells[i]), width = std::max(columns_[i].width, size);
      const std::string padding(width - size, ' ');
      append(columns_[i].align == Align::right ? padding + cells[i] : cells[i] + padding, width, " ");
    }
    for (const std::string& word : words) {
      const std::string text = is_narrow_ ? shortened(word, terminal_ - indent - 2) : word;
      append(text, display_width(text), is_narrow_ ? " " : "  ");
    }
    to += line + "\n";
  }

  std::string program_of(const result::Window& window) {
    if (window.program != program_) {
      program_ = window.program;
      shown_ = ForeignText(program_).in_line();
      shown_ = is_narrow_ ? short_name(programs_, shown_, columns_[2].width) : fmt::format("{:.12}", shown_);
    }
    return shown_;
  }

  using Names = std::map<std::string, std::string>;  // shortened → full

  // Shortens a name to about `width` columns; shortened names stay unique.
  static std::string short_name(Names& names, const std::string& name, std::size_t width) {
    for (;; ++width) {
      std::string text = shortened(name, width);
      if (names.try_emplace(text, name).first->second == name) return text;
    }
  }

  std::size_t terminal_;
  result::WindowsHead head_;
  std::vector<WindowColumn> columns_;
  bool has_length_ = false, is_narrow_ = false;
  std::string program_, shown_;
  Names programs_, events_;
};

class Csv final : public WindowWriter {
 public:
  void begin(const result::WindowsHead& head, std::string& to) override {
    head_ = head;
    std::vector<std::string> columns{"series", "number", "time_ns", "length", "program", "process", "thread", "cpu"};
    for (const result::EventCount& event : head.events) columns.push_back(event.name.text());
    columns.insert(columns.end(), {"trigger", "address"});
    if (head.named) columns.insert(columns.end(), {"function", "line"});
    columns.insert(columns.end(), {"lost", "trust"});
    to += csv_row(columns, ",") + "\r\n";
    for (const result::WindowTrigger& trigger : head.triggers)
      triggers_.push_back(csv_row({trigger.event.text()}, ","));
    tail_ = fmt::format(",{}\r\n", name(trust_of(head)));
    partial_tail_ = fmt::format(",{}\r\n", name(Trust::partial));
  }
  void row(const result::Window& window, std::string& to) override {
    char text[64 + 21 * 32];
    char* at = fmt::format_to(text, FMT_COMPILE("{},{},{},{},"), window.series, window.number, window.time.count(),
                              window.length);
    to.append(text, at);
    if (window.program != program_) {
      program_ = window.program;
      quoted_ = csv_row({program_}, ",");
    }
    to += quoted_;
    at = fmt::format_to(text, FMT_COMPILE(",{},{},"), window.pid, window.tid);
    if (window.cpu >= 0) at = fmt::format_to(at, FMT_COMPILE("{}"), window.cpu);
    for (const auto& place : head_.places) {
      *at++ = ',';
      if (place) at = fmt::format_to(at, FMT_COMPILE("{}"), window.counts[*place]);
    }
    *at++ = ',';
    to.append(text, at);
    to += window.trigger ? std::string_view(triggers_[*window.trigger]) : "end";
    to += ',';
    if (window.address != 0) to.append(text, fmt::format_to(text, FMT_COMPILE("{:#x}"), window.address));
    if (head_.named) to += "," + csv_row({std::string(window.function), std::string(window.line)}, ",");
    if (window.lost != 0)
      to.append(text, fmt::format_to(text, FMT_COMPILE(",{}"), window.lost));
    else
      to += ",0";
    to += window.partial ? partial_tail_ : tail_;
  }

 private:
  result::WindowsHead head_;
  std::vector<std::string> triggers_;
  std::string tail_, partial_tail_, program_, quoted_;
};

Json description_of(const result::WindowsHead& head) {
  Json object = document("tally-windows/1", head.provenance);
  object["command"] = head.command;
  for (const result::WindowTrigger& trigger : head.triggers) {
    object["every"].push_back({{"event", trigger.event.text()}, {"count", trigger.every}});
    if (trigger.frequency != 0) object["every"].back()["frequency"] = trigger.frequency;
  }
  add_models(object, head);
  if (head.merged) object["merged"] = true;
  if (!head.start.empty()) object["start_at"] = head.start;
  if (!head.stop.empty()) object["stop_at"] = head.stop;
  for (const result::EventCount& event : head.events) {
    nlohmann::ordered_json one{{"name", event.name.text()}, {"asked", event.event}, {"trust", name(event.count.trust)}};
    if (event.unit == Unit::nanoseconds) one["unit"] = "nanoseconds";
    if (!event.count.reason.empty()) one["reason"] = event.count.reason;
    if (event.count.source.is_known()) one["source"] = event.count.source.text();
    if (!event.count.model.empty()) one["model"] = event.count.model;
    object["events"].push_back(std::move(one));
  }
  add_sources(object, head.nondeterminism);
  return object;
}

/// One object per line.
class JsonLines final : public WindowWriter {
 public:
  void begin(const result::WindowsHead& head, std::string& to) override {
    head_ = head;
    trust_ = name(trust_of(head));
    Json begun = description_of(head);
    for (Json& event : begun["events"])
      if (event["trust"] != name(Trust::absent)) event.erase("trust");
    to += json_text(begun) + "\n";
    for (const result::EventCount& event : head.events) keys_.push_back(quoted_json(event.name.text()));
    for (const result::WindowTrigger& trigger : head.triggers) triggers_.push_back(quoted_json(trigger.event.text()));
  }
  void row(const result::Window& window, std::string& to) override {
    auto out = std::back_inserter(to);
    const auto or_null = [](bool is_present, auto number) {
      return is_present ? std::to_string(number) : std::string("null");
    };
    if (window.program != program_) {
      program_ = window.program;
      quoted_ = quoted_json(program_);
    }
    fmt::format_to(
        out,
        R"({{"series":{},"number":{},"time_ns":{},"length":{},"program":{},"process":{},"thread":{},"cpu":{},"counts":{{)",
        window.series, window.number, window.time.count(), window.length, quoted_, window.pid, window.tid,
        or_null(window.cpu >= 0, window.cpu));
    for (std::size_t i = 0; i < head_.places.size(); ++i) {
      const auto& place = head_.places[i];
      fmt::format_to(out, "{}{}:{}", i > 0 ? "," : "", keys_[i],
                     or_null(place.has_value(), place ? window.counts[*place] : 0));
    }
    fmt::format_to(out, R"(}},"trigger":{},"address":)", window.trigger ? triggers_[*window.trigger] : R"("end")");
    if (window.address != 0)
      fmt::format_to(out, "\"{:#x}\"", window.address);
    else
      to += "null";
    if (head_.named) {
      const auto text_or_null = [](std::string_view text) {
        return text.empty() ? std::string("null") : quoted_json(std::string(text));
      };
      fmt::format_to(out, R"(,"function":{},"line":{})", text_or_null(window.function), text_or_null(window.line));
    }
    fmt::format_to(out, R"(,"lost":{},"trust":"{}"}})", window.lost, window.partial ? name(Trust::partial) : trust_);
    to += '\n';
  }
  void end(const result::WindowsHead& head, std::string& to) override { to += windows_description(head) + "\n"; }

 private:
  result::WindowsHead head_;
  std::vector<std::string> keys_, triggers_;
  std::string program_, quoted_;
  std::string_view trust_;
};

/// The seven columns of HPCTool's sampling mode. The description contains what the columns lack: the event of each, and
/// the thread, time and trigger of each row.
class Hpctool final : public WindowWriter {
 public:
  void begin(const result::WindowsHead& head, std::string& to) override {
    std::vector<EventName> names;
    for (const result::EventCount& event : head.events) names.push_back(event.name);
    for (const std::size_t place : hpctool_places(names).value_or(std::vector<std::size_t>{}))
      places_.push_back(head.places[place]);
    to += hpctool_header() + "\r\n";
  }
  void row(const result::Window& window, std::string& to) override {
    auto out = std::back_inserter(to);
    totals_.resize(places_.size());
    for (std::size_t i = 0; i < places_.size(); ++i) {
      const std::int64_t count = places_[i] ? window.counts[*places_[i]] : 0;
      fmt::format_to(out, "{}{}", i > 0 ? "," : "", count);
      totals_[i] += count;
    }
    to += "\r\n";
    auto thread = std::find_if(threads_.begin(), threads_.end(),
                               [&](const RowThread& row_thread) { return row_thread.series == window.series; });
    if (thread == threads_.end())
      thread = threads_.insert(thread, {window.series, window.pid, window.tid, std::string(window.program)});
    thread_of_row_.push_back(static_cast<std::uint32_t>(thread - threads_.begin()));
    times_.push_back(window.time.count());
    triggers_.push_back(window.trigger ? static_cast<int>(*window.trigger) : -1);
  }
  std::string describe(const result::WindowsHead& head) const override;

 private:
  struct RowThread {
    std::uint32_t series;
    std::int64_t pid, tid;
    std::string program;
  };
  std::vector<std::optional<std::size_t>> places_;
  std::vector<std::int64_t> totals_;  // of each column
  std::vector<RowThread> threads_;
  std::vector<std::uint32_t> thread_of_row_;
  std::vector<std::int64_t> times_;
  std::vector<int> triggers_;
};

/// The rows of CSV, compressed while they arrive.
class CompressedCsv final : public WindowWriter {
 public:
  void begin(const result::WindowsHead& head, std::string& to) override {
    csv_.begin(head, rows_);
    compress(to);
  }
  void row(const result::Window& window, std::string& to) override {
    csv_.row(window, rows_);
    constexpr std::size_t block_bytes = 1 << 14;
    if (rows_.size() >= block_bytes) compress(to);
  }
  void end(const result::WindowsHead& /*head*/, std::string& to) override {
    compress(to);
    gzip_.end(to);
  }

 private:
  void compress(std::string& to) {
    gzip_.add(rows_, to);
    rows_.clear();
  }

  Csv csv_;
  std::string rows_;
  GzipWriter gzip_;
};

std::string Hpctool::describe(const result::WindowsHead& head) const {
  nlohmann::ordered_json object = description_of(head);
  std::vector<EventName> names;
  for (const result::EventCount& event : head.events) names.push_back(event.name);
  const std::string header = hpctool_header();
  const std::vector<std::string> columns = split(header, ',');
  const auto places = hpctool_places(names);
  for (std::size_t i = 0; places && i < places->size(); ++i) object["columns"][columns[i]] = names[(*places)[i]].text();
  Json rows{{"totals", totals_}, {"threads", Json::array()}, {"thread", thread_of_row_}, {"time_ns", times_}};
  for (const RowThread& thread : threads_)
    rows["threads"].push_back(
        {{"series", thread.series}, {"process", thread.pid}, {"thread", thread.tid}, {"program", thread.program}});
  rows["trigger"] = triggers_;
  object["rows"] = std::move(rows);
  return json_text(object);
}

}  // namespace

std::unique_ptr<WindowWriter> make_window_table(std::size_t terminal) {
  return std::make_unique<WindowTable>(terminal);
}
std::unique_ptr<WindowWriter> make_window_csv() { return std::make_unique<Csv>(); }
std::unique_ptr<WindowWriter> make_window_lines() { return std::make_unique<JsonLines>(); }
std::unique_ptr<WindowWriter> make_window_hpctool() { return std::make_unique<Hpctool>(); }
std::unique_ptr<WindowWriter> make_window_csv_gz() { return std::make_unique<CompressedCsv>(); }

std::string WindowWriter::describe(const result::WindowsHead& head) const { return windows_description(head); }

std::string windows_description(const result::WindowsHead& head) { return json_text(description_of(head)); }

Trust trust_of(const result::WindowsHead& head) {
  Trust trust = Trust::exact;
  bool is_counted = head.events.empty();
  for (const result::EventCount& event : head.events) {
    if (event.count.trust == Trust::absent) continue;
    trust = worst(trust, event.count.trust);
    is_counted = true;
  }
  return is_counted ? trust : Trust::absent;
}

}  // namespace tally::output
