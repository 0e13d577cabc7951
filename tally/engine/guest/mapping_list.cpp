#include "tally/engine/guest/mapping_list.hpp"

#include "tally/engine/decimal.hpp"
#include "tally/engine/guest/own_ranges.hpp"
#include "tally/engine/translate/process_maps.hpp"
#include "tally/engine/translate/watching.hpp"

namespace tally::engine::guest {
namespace {

using translate::ListedMapping;

constexpr u64 most_bytes = 64 << 20;

/// What was kept of a mapping, and the end address of that mapping.
LARGE struct {
  char text[16384];
  u64 bytes, end;
} rest;

/// The kernel writes paths from this column on.
constexpr u64 path_column = 73;

u32 hexadecimal(char* to, u64 value, u32 digits) {
  while (digits < 16 && value >> (4 * digits) != 0) digits++;
  for (u32 i = digits; i > 0; i--, value >>= 4) to[i - 1] = "0123456789abcdef"[value & 15];
  return digits;
}

u32 decimal(char* to, u64 value) { return static_cast<u32>(write_decimal(to, value) - to); }

bool have_equal_file(const ListedMapping& a, const ListedMapping& b) {
  if (a.inode != b.inode || a.device_major != b.device_major || a.device_minor != b.device_minor) return false;
  if (a.path_bytes != b.path_bytes) return false;
  for (u32 i = 0; i < a.path_bytes; i++)
    if (a.path[i] != b.path[i]) return false;
  return true;
}

class ListWriter {
 public:
  bool init() {
    if (text_ != nullptr) return true;
    const u64 at = try_reserve(before_text + most_bytes, read_write);
    if (at != 0) text_ = reinterpret_cast<char*>(at + before_text);
    return at != 0;
  }
  void begin(ListForm form) {
    form_ = form;
    end_ = line_ = 0;
    keeps_details_ = true;
    last_.end = 0;
    own_.read();
    reader_.begin_line();
  }
  /// Takes the next character of the kernel's list. Returns false if there is no room.
  bool takes(char c) {
    if (end_ + sizeof(ListedMapping) > most_bytes) return false;
    text_[end_++] = c;
    if (!reader_.takes(c)) return true;
    end_line();
    line_ = end_;
    reader_.begin_line();
    return true;
  }
  char* text() const { return text_; }
  u64 bytes() const { return end_; }

 private:
  void end_line() {
    const char first = text_[line_];
    const bool is_detail = first >= 'A' && first <= 'Z';
    if (form_ == ListForm::maps) return end_mapping();
    if (!is_detail) keeps_details_ = own_.end_of(start_of_line()) == 0;
    if (!keeps_details_) end_ = line_;
  }

  u64 start_of_line() const {
    u64 start = 0;
    for (u64 i = line_; i < end_ && text_[i] != '-' && text_[i] != ' '; i++)
      start = start << 4 | static_cast<u64>(text_[i] <= '9' ? text_[i] - '0' : text_[i] - 'a' + 10);
    return start;
  }

  void end_mapping() {
    const ListedMapping& m = reader_.line();
    const bool is_whole = own_.end_of(m.start) == 0 && own_.next(m.start, m.end) == m.end;
    if (is_whole && !is_changed(m)) {
      last_ = {m.end, line_, false};
      return;
    }
    end_ = line_;
    for (u64 from = m.start; from < m.end;) {
      const u64 skipped = own_.end_of(from), to = skipped != 0 ? skipped : own_.next(from, m.end);
      if (skipped == 0) add_by_protection(m, from, to);
      from = to;
    }
  }

  bool is_changed(const ListedMapping& m) const {
    if (m.start >> 63 != 0 || !translate::anything_watched()) return false;
    // The line before may be the first part of this mapping.
    if (last_.is_changed && last_.end == m.start) return true;
    for (u64 page = m.start / page_bytes; page < m.end / page_bytes; page++)
      if (was_writable(page)) return true;
    return false;
  }
  static bool was_writable(u64 page) {
    const translate::Watched* const w = translate::watched_page(page);
    return w != nullptr && w->on && (w->before & PROT_WRITE) != 0;
  }

  void add_by_protection(const ListedMapping& m, u64 from, u64 to) {
    while (from < to) {
      const bool changed = m.permissions[1] != 'w' && was_writable(from / page_bytes);
      u64 end = from + page_bytes;
      while (end < to && (m.permissions[1] != 'w' && was_writable(end / page_bytes)) == changed) end += page_bytes;
      add(m, from, end, changed);
      from = end;
    }
  }

  /// Adds a part of a mapping, and joins it with the part before if the engine's protection separates them.
  void add(const ListedMapping& m, u64 start, u64 end, bool changed) {
    LARGE static ListedMapping part;
    part = m;
    part.start = start;
    part.end = end;
    if (m.inode != 0) part.offset += start - m.start;
    if (changed) part.permissions[1] = 'w';
    if ((changed || last_.is_changed) && last_.end == start && continues_last(part)) end_ = last_.line;
    last_ = {end, end_, changed};
    write(part);
  }

  /// Whether the part continues the mapping of the last line, whose start and offset it then takes over.
  bool continues_last(ListedMapping& part) const {
    LARGE static translate::MappingReader reader;
    reader.begin_line();
    for (u64 i = last_.line; i < end_ && !reader.takes(text_[i]); i++) continue;
    const ListedMapping& before = reader.line();
    for (u32 i = 0; i < sizeof part.permissions; i++)
      if (before.permissions[i] != part.permissions[i]) return false;
    const bool follows = part.inode == 0 || before.offset + (before.end - before.start) == part.offset;
    if (!follows || !have_equal_file(before, part)) return false;
    part.start = before.start;
    part.offset = before.offset;
    return true;
  }

  void write(const ListedMapping& m) {
    char* const line = text_ + end_;
    char* to = line;
    to += hexadecimal(to, m.start, 8);
    *to++ = '-';
    to += hexadecimal(to, m.end, 8);
    *to++ = ' ';
    for (const char c : m.permissions) *to++ = c;
    *to++ = ' ';
    to += hexadecimal(to, m.offset, 8);
    *to++ = ' ';
    to += hexadecimal(to, m.device_major, 2);
    *to++ = ':';
    to += hexadecimal(to, m.device_minor, 2);
    *to++ = ' ';
    to += decimal(to, m.inode);
    *to++ = ' ';
    while (m.path_bytes > 0 && to < line + path_column) *to++ = ' ';
    copy(to, m.path, m.path_bytes);
    to += m.path_bytes;
    *to++ = '\n';
    end_ += static_cast<u64>(to - line);
  }

  struct LastLine {
    u64 end;          // of its mapping
    u64 line;         // offset in the text
    bool is_changed;  // its last page is protected by the engine
  };

  /// Room for put_rest_first().
  static constexpr u64 before_text = page_up(sizeof rest);

  char* text_ = nullptr;
  u64 end_ = 0, line_ = 0;
  ListForm form_ = ListForm::maps;
  bool keeps_details_ = false;
  LastLine last_{};
  OwnRanges own_;
  translate::MappingReader reader_;
};

constinit ListWriter writer;

}  // namespace

bool MappingList::starts_mapping(u64 at) const {
  if (at == 0) return true;
  return text[at - 1] == '\n' && (at == bytes || !(text[at] >= 'A' && text[at] <= 'Z'));
}

u64 MappingList::end_of_mapping(u64 at) const {
  if (at < bytes) at++;
  while (at < bytes && !starts_mapping(at)) at++;
  return at;
}

namespace {

/// Returns an address of the mapping whose lines begin there: its end, or for numa_maps its start.
u64 last_address(const char* line) {
  u64 address = 0;
  for (; *line != ' '; line++) {
    if (*line == '-')
      address = 0;
    else
      address = address << 4 | static_cast<u64>(*line <= '9' ? *line - '0' : *line - 'a' + 10);
  }
  return address;
}

}  // namespace

bool keep_rest(const MappingList& list, u64 at) {
  if (at == 0 || at > list.bytes) return false;
  const u64 end = list.starts_mapping(at) ? at : list.end_of_mapping(at);
  u64 start = end - 1;
  while (!list.starts_mapping(start)) start--;
  rest.bytes = end - at;
  if (rest.bytes > sizeof rest.text) return false;
  copy(rest.text, list.text + at, rest.bytes);
  // The same mapping as before, if what was put first is not read completely.
  const bool was_put_first = list.text[start] == ' ' || list.text[start] == '\n';
  if (!was_put_first) rest.end = last_address(list.text + start);
  return true;
}

u64 put_rest_first(MappingList& list) {
  u64 from = 0;
  while (from < list.bytes && last_address(list.text + from) <= rest.end) from = list.end_of_mapping(from);
  // A line break or another character before it shows whether it begins a mapping.
  char* const text = writer.text() + from - rest.bytes - 1;
  *text = rest.bytes == 0 ? '\n' : ' ';
  copy(text + 1, rest.text, rest.bytes);
  list.text = text;
  list.bytes += rest.bytes + 1 - from;
  return 1;
}

bool read_mapping_list(u64 fd, ListForm form, MappingList& list) {
  LARGE static char part[4096];
  if (!writer.init()) return false;
  writer.begin(form);
  u64 at = 0;
  for (;;) {
    const s64 n = kernel(SYS_pread64, fd, reinterpret_cast<u64>(part), sizeof part, at);
    if (failed(n)) return false;
    if (n == 0) break;
    for (s64 i = 0; i < n; i++)
      if (!writer.takes(part[i])) return false;
    at += static_cast<u64>(n);
  }
  list = {writer.text(), writer.bytes(), form};
  return true;
}

}  // namespace tally::engine::guest
