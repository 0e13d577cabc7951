#include "tally/output/formats/windows_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <iterator>
#include <utility>

#include "tally/core/base/fnv_hash.hpp"
#include "tally/core/base/json_text.hpp"
#include "tally/core/base/text.hpp"
#include "tally/output/formats/columns.hpp"
#include "tally/output/formats/json_values.hpp"
#include "tally/output/result/reading.hpp"

namespace tally::result {
namespace {

constexpr std::uint32_t version = 1;
// Rows of a thread that are stored together, and rows that are buffered: these are lost if tally is killed.
constexpr std::size_t rows_of_block = 1024, rows_waiting = 4096;
// Limits for files from other sources.
constexpr std::size_t largest_block = 16 << 20, most_rows = 1 << 20, most_counts = 1024;

// The columns before the counts.
enum Column { of_time, of_number, of_length, of_cpu, of_trigger, of_address, of_lost, of_partial, first_count };

void put(std::uint32_t value, std::string& to) {
  for (int i = 0; i < 4; ++i) to += static_cast<char>(value >> (8 * i));
}

std::uint32_t number_at(const char* at) {
  std::uint32_t value = 0;
  for (int i = 0; i < 4; ++i) value |= std::uint32_t{static_cast<unsigned char>(at[i])} << (8 * i);
  return value;
}

void put_part(char kind, std::string_view body, std::string& to) {
  to += kind;
  put(static_cast<std::uint32_t>(body.size()), to);
  put(fnv_hash32(body), to);
  to += body;
}

constexpr std::pair<Unit, const char*> units[] = {
    {Unit::events, "events"}, {Unit::nanoseconds, "nanoseconds"}, {Unit::bytes, "bytes"}};

Json head_json(const WindowsHead& head) {
  Json json{{"command", head.command}, {"triggers", Json::array()}, {"events", Json::array()}};
  for (const WindowTrigger& one : head.triggers) {
    json["triggers"].push_back({{"event", one.event.text()}, {"every", one.every}});
    if (one.frequency != 0) json["triggers"].back()["frequency"] = one.frequency;
  }
  report::add_models(json, head);
  if (head.merged) json["merged"] = true;
  if (!head.start.empty()) json["start_at"] = head.start;
  if (!head.stop.empty()) json["stop_at"] = head.stop;
  for (std::size_t i = 0; i < head.events.size(); ++i) {
    const EventCount& event = head.events[i];
    const Count& count = event.count;
    const auto unit =
        std::find_if(std::begin(units), std::end(units), [&](const auto& one) { return one.first == event.unit; });
    json["events"].push_back({{"name", event.name.text()},
                              {"asked", event.event},
                              {"unit", unit == std::end(units) ? "events" : unit->second},
                              {"trust", name(count.trust)},
                              {"reason", count.reason},
                              {"source", count.source.text()},
                              {"model", count.model},
                              {"place", head.places[i] ? Json(*head.places[i]) : Json(nullptr)}});
  }
  return json;
}

// May throw Json::exception.
WindowsHead stored_head(const Json& json) {
  WindowsHead head;
  head.command = json.at("command").get<std::vector<std::string>>();
  for (const Json& one : json.at("triggers"))
    head.triggers.push_back({split_event_name(one.at("event").get<std::string>()),
                             number<std::uint64_t>(one.at("every")),
                             one.contains("frequency") ? number<std::uint64_t>(one.at("frequency")) : 0});
  read_models(json, head);
  head.merged = json.contains("merged");
  head.start = text(json, "start_at");
  head.stop = text(json, "stop_at");
  for (const Json& one : json.at("events")) {
    EventCount event;
    event.name = split_event_name(text(one, "name"));
    event.event = text(one, "asked");
    for (const auto& [unit, word] : units)
      if (text(one, "unit") == word) event.unit = unit;
    event.count.trust = trust(one.at("trust"));
    event.count.reason = text(one, "reason");
    event.count.source = parse_source(text(one, "source"));
    event.count.model = text(one, "model");
    head.places.push_back(optional<std::size_t>(one, "place"));
    head.events.push_back(std::move(event));
  }
  return head;
}

}  // namespace

void WindowsEncoder::begin(const WindowsHead& head, std::string& to) {
  for (const auto& place : head.places)
    if (place) counts_ = std::max(counts_, *place + 1);
  Json json = head_json(head);
  json["counts"] = counts_;
  to += windows_file_magic;
  put(version, to);
  put_part('H', json_text(json), to);
}

void WindowsEncoder::row(const Window& window, std::string& to) {
  Waiting& waiting = waiting_[window.series];
  auto& columns = waiting.columns;
  if (columns.empty()) {
    columns.resize(first_count + counts_);
    waiting.program = window.program;
    waiting.pid = window.pid;
    waiting.tid = window.tid;
  }
  const std::array<std::int64_t, first_count> own{
      window.time.count(),
      static_cast<std::int64_t>(window.number),
      window.length,
      window.cpu,
      window.trigger ? static_cast<std::int64_t>(*window.trigger) : -1,
      static_cast<std::int64_t>(window.address),
      window.lost,
      window.partial ? 1 : 0,
  };
  for (std::size_t i = 0; i < own.size(); ++i) columns[i].push_back(own[i]);
  for (std::size_t i = 0; i < counts_; ++i)
    columns[first_count + i].push_back(i < window.counts.size() ? window.counts[i] : 0);
  ++rows_;
  if (columns.front().size() == rows_of_block) {
    waiting_rows_ -= rows_of_block - 1;
    write(window.series, waiting, to);
    waiting_.erase(window.series);
  } else if (++waiting_rows_ >= rows_waiting) {
    write_all(to);
  }
}

void WindowsEncoder::write_all(std::string& to) {
  for (const auto& [series, rows] : waiting_) write(series, rows, to);
  waiting_.clear();
  waiting_rows_ = 0;
}

void WindowsEncoder::write(std::uint32_t series, const Waiting& rows, std::string& to) {
  std::string body;
  put_number(series, body);
  put_number(rows.pid, body);
  put_number(rows.tid, body);
  put_number(static_cast<std::int64_t>(rows.program.size()), body);
  body += rows.program;
  put_number(static_cast<std::int64_t>(rows.columns.front().size()), body);
  for (const auto& column : rows.columns) put_column(column, body);
  put_part('B', body, to);
}

void WindowsEncoder::end(std::string& to) {
  write_all(to);
  std::string body;
  put_number(static_cast<std::int64_t>(rows_), body);
  put_part('E', body, to);
}

tl::unexpected<Error> WindowsDecoder::damaged(const std::string& what, std::uint64_t offset) const {
  return fail(Code::bad_usage, fmt::format("'{}' is damaged at byte {}: {}", printable(name_), offset, what),
              "tally read what is before it");
}

// Returns false if the file ends before the first of these bytes.
Result<bool> WindowsDecoder::take(std::size_t bytes, std::vector<char>& to) {
  to.resize(bytes);
  std::size_t have = 0;
  while (have < bytes) {
    const auto got = source_(std::span(to).subspan(have));
    if (!got) return fail(got.error());
    if (*got == 0) break;
    have += *got;
  }
  offset_ += have;
  if (have == bytes) return true;
  if (have == 0) return false;
  return damaged("the file ends within a block", offset_);
}

Result<WindowsDecoder> WindowsDecoder::open(ByteSource source, const std::string& name) {
  WindowsDecoder made(std::move(source), name);
  if (auto read = made.read_head(); !read) return fail(read.error());
  return made;
}

namespace {
struct FilePart {
  char kind;
  std::uint32_t size, sum;
};
constexpr std::size_t part_bytes = 9;
FilePart part_of(const std::vector<char>& bytes) { return {bytes[0], number_at(&bytes[1]), number_at(&bytes[5])}; }
}  // namespace

Result<void> WindowsDecoder::read_head() {
  std::vector<char> bytes;
  const auto foreign = [&] {
    return fail(Code::bad_usage,
                fmt::format("'{}' is not a file of windows: byte 0 is not the start of one", printable(name_)),
                "`tally sample --format binary -o FILE` writes one");
  };
  const auto first = take(windows_file_magic.size() + 4, bytes);
  if (!first || !*first || std::string_view(bytes.data(), windows_file_magic.size()) != windows_file_magic)
    return foreign();
  if (const std::uint32_t theirs = number_at(&bytes[windows_file_magic.size()]); theirs != version)
    return fail(Code::bad_usage,
                fmt::format("'{}' is a file of windows of version {}; this tally reads version {}", printable(name_),
                            theirs, version),
                "read it with the version of tally that wrote it");
  const std::uint64_t at = offset_;
  auto got = take(part_bytes, bytes);
  if (!got) return fail(got.error());
  if (!*got) return damaged("the header is missing", at);
  const FilePart part = part_of(bytes);
  if (part.kind != 'H' || part.size > largest_block) return damaged("no header", at);
  if (got = take(part.size, bytes); !got) return fail(got.error());
  if (!*got || fnv_hash32({bytes.data(), bytes.size()}) != part.sum)
    return damaged("the checksum of the header is wrong", at);
  try {
    const Json json = parse_json<Json>(std::string_view(bytes.data(), bytes.size()));
    head_ = stored_head(json);
    counts_ = number<std::size_t>(json.at("counts"));
  } catch (const Json::exception&) {
    return damaged("the header is invalid", at);
  }
  const bool fits = std::all_of(head_.places.begin(), head_.places.end(),
                                [&](const auto& place) { return !place || *place < counts_; });
  if (!fits || counts_ > most_counts) return damaged("the header is inconsistent", at);
  return {};
}

Result<std::uint64_t> WindowsDecoder::read_block(std::span<const char> body,
                                                 const std::function<void(const Window&)>& visit) {
  const auto wrong = [](const std::string& why = "the block has no rows") { return fail(Code::bad_usage, why); };
  ColumnReader bytes(body);
  Window window;
  const std::int64_t series = bytes.number();
  if (!std::in_range<std::uint32_t>(series)) return wrong(fmt::format("there is no series {}", series));
  window.series = static_cast<std::uint32_t>(series);
  window.pid = bytes.number();
  window.tid = bytes.number();
  window.program = bytes.text();
  const std::int64_t rows = bytes.number();
  const std::size_t columns = first_count + counts_;
  if (bytes.bad() || rows < 1 || static_cast<std::size_t>(rows) > most_rows / columns) return wrong();
  const auto count = static_cast<std::size_t>(rows);
  values_.resize(count * columns + counts_);
  for (std::size_t i = 0; i < columns; ++i) bytes.column(std::span(values_).subspan(i * count, count));
  if (bytes.bad() || !bytes.at_end()) return wrong();
  std::int64_t* const own = &values_[columns * count];
  for (std::size_t row = 0; row < count; ++row) {
    const auto value = [&](std::size_t column) { return values_[column * count + row]; };
    const std::int64_t ended_by = value(of_trigger);
    if (ended_by < -1 || ended_by >= static_cast<std::int64_t>(head_.triggers.size())) return wrong();
    window.time = Nanoseconds(value(of_time));
    window.number = static_cast<std::uint64_t>(value(of_number));
    window.length = value(of_length);
    if (!std::in_range<int>(value(of_cpu))) return wrong(fmt::format("{} is not a CPU number", value(of_cpu)));
    window.cpu = static_cast<int>(value(of_cpu));
    window.trigger.reset();
    if (ended_by >= 0) window.trigger = static_cast<std::size_t>(ended_by);
    window.address = static_cast<std::uint64_t>(value(of_address));
    window.lost = value(of_lost);
    window.partial = value(of_partial) != 0;
    for (std::size_t i = 0; i < counts_; ++i) own[i] = value(first_count + i);
    window.counts = std::span<const std::int64_t>(own, counts_);
    visit(window);
  }
  return static_cast<std::uint64_t>(rows);
}

Result<void> WindowsDecoder::read(const std::function<void(const Window&)>& visit) {
  std::vector<char> bytes;
  std::uint64_t rows = 0;
  while (true) {
    const std::uint64_t at = offset_;
    auto got = take(part_bytes, bytes);
    if (!got) return fail(got.error());
    if (!*got) return damaged(fmt::format("the file is incomplete: {} rows, end marker missing", rows), at);
    const FilePart part = part_of(bytes);
    if ((part.kind != 'B' && part.kind != 'E') || part.size > largest_block)
      return damaged("not the start of a block", at);
    if (got = take(part.size, bytes); !got) return fail(got.error());
    if (!*got && part.size != 0) return damaged("the file ends within a block", offset_);
    if (fnv_hash32({bytes.data(), bytes.size()}) != part.sum) return damaged("the checksum of the block is wrong", at);
    if (part.kind == 'E') {
      ColumnReader end(bytes);
      if (static_cast<std::uint64_t>(end.number()) != rows || end.bad()) return damaged("rows are missing", at);
      return {};
    }
    const auto read = read_block(bytes, visit);
    if (!read) return damaged(read.error().message, at);
    rows += *read;
  }
}

}  // namespace tally::result
