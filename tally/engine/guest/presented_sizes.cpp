#include "tally/engine/guest/presented_sizes.hpp"

#include "tally/engine/decimal.hpp"
#include "tally/engine/guest/guest_signals.hpp"
#include "tally/engine/guest/own_ranges.hpp"
#include "tally/engine/translate/process_maps.hpp"
#include "tally/engine/translate/watching.hpp"

namespace tally::engine::guest {
namespace {

/// What the kernel counts that the program does not have: the bytes of the engine's mappings, as the kernel groups
/// them. Pages that the engine protects are data without it.
struct OwnBytes {
  u64 all;
  s64 data, code;
};

/// The bytes of this mapping that the program made writable, and the engine protects.
u64 protected_bytes(const translate::ListedMapping& m) {
  if (m.start >> 63 != 0 || !translate::anything_watched()) return 0;
  u64 bytes = 0;
  for (u64 page = m.start / page_bytes; page < m.end / page_bytes; page++) {
    const translate::Watched* const w = translate::watched_page(page);
    if (w != nullptr && w->on && (w->before & PROT_WRITE) != 0) bytes += page_bytes;
  }
  return bytes;
}

/// Returns false if the mappings cannot be read.
bool read_own_bytes(OwnBytes& own) {
  static OwnRanges ranges;
  ranges.read();
  own = {};
  LARGE static translate::KernelMappings mappings;
  return mappings.each([&](const translate::ListedMapping& m) {
    const u64 bytes = ranges.bytes_in(m.start, m.end);
    const bool is_writable = m.permissions[1] == 'w', is_shared = m.permissions[3] == 's';
    const bool is_code = !is_writable && m.permissions[2] == 'x';
    const s64 hidden = static_cast<s64>(bytes), shown = is_writable ? 0 : static_cast<s64>(protected_bytes(m));
    own.all += bytes;
    if (!is_shared) own.data += (is_writable ? hidden : 0) - shown;
    if (is_code) own.code += hidden + shown;
  });
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// Changes numbers of a text. A number keeps its width or becomes shorter, so that the text never grows.
class Text {
 public:
  Text(char* text, u64 bytes) : text_(text), bytes_(bytes) {}
  u64 bytes() const { return bytes_; }

  /// The offset after the first `key` at the beginning of a line; 0: none.
  u64 after(const char* key) const {
    for (u64 line = 0; line < bytes_; line++) {
      u64 i = 0;
      while (key[i] != 0 && line + i < bytes_ && text_[line + i] == key[i]) i++;
      if (key[i] == 0) return line + i;
      while (line < bytes_ && text_[line] != '\n') line++;
    }
    return 0;
  }
  /// The offset after the last ')': a name in parentheses may contain any character.
  u64 after_name() const {
    u64 at = bytes_;
    while (at > 0 && text_[at - 1] != ')') at--;
    return at;
  }
  /// The offset of the word with this number, from 0, after `at`.
  u64 word(u64 at, u32 number) const {
    for (;; number--) {
      while (at < bytes_ && text_[at] == ' ') at++;
      if (number == 0 || at >= bytes_) return at;
      while (at < bytes_ && text_[at] != ' ') at++;
    }
  }
  u64 number_at(u64 at) const {
    u64 number = 0;
    for (; at < bytes_ && is_digit(text_[at]); at++) number = number * 10 + static_cast<u64>(text_[at] - '0');
    return number;
  }
  u64 first_digit(u64 at) const {
    while (at < bytes_ && (text_[at] == ' ' || text_[at] == '\t')) at++;
    return at;
  }

  /// Replaces the number at this offset, unless the new one has more digits; `keeps_width`: blanks before it replace
  /// its digits.
  void replace(u64 at, u64 number, bool keeps_width) {
    char digits[24];
    const u64 n = static_cast<u64>(write_decimal(digits, number) - digits);
    u64 before = 0;
    while (at + before < bytes_ && is_digit(text_[at + before])) before++;
    if (n > before) return;
    if (keeps_width) {
      for (u64 i = 0; i < before; i++) text_[at + i] = i < before - n ? ' ' : digits[i - (before - n)];
      return;
    }
    copy(text_ + at, digits, n);
    for (u64 i = at + before; i < bytes_; i++) text_[i - (before - n)] = text_[i];
    bytes_ -= before - n;
  }

  /// Replaces the hexadecimal number after `key`, which has 16 digits.
  void replace_mask(const char* key, u64 mask) {
    constexpr u32 digits = 16;
    const u64 at = first_digit(after(key));
    for (u32 i = 0; i < digits && at + digits <= bytes_; i++, mask <<= 4)
      text_[at + i] = "0123456789abcdef"[mask >> 60];
  }

 private:
  char* text_;
  u64 bytes_;
};

u64 reduced(u64 number, s64 by) {
  return static_cast<s64>(number) > by ? static_cast<u64>(static_cast<s64>(number) - by) : 0;
}

/// The signals that the program handles or ignores. The kernel has the engine's handlers.
struct SignalMasks {
  u64 handled = 0, ignored = 0;
  SignalMasks() {
    const Action* const actions = current()->actions->of;
    for (int signal = 1; signal <= 64; signal++) {
      if (actions[signal].handler > 1) handled |= bit(signal);
      if (actions[signal].handler == 1) ignored |= bit(signal);
    }
  }
};

void change_status(Text& text, const OwnBytes& own) {
  constexpr s64 kib = 1024;
  const auto reduce = [&](const char* key, s64 bytes, u64 least) {
    const u64 key_end = text.after(key);
    if (key_end == 0) return u64{0};
    const u64 at = text.first_digit(key_end);
    u64 number = reduced(text.number_at(at), bytes / kib);
    if (number < least) number = least;
    text.replace(at, number, true);
    return number;
  };
  const s64 all = static_cast<s64>(own.all);
  const u64 size = reduce("VmSize:", all, 0);
  reduce("VmPeak:", all, size);
  reduce("VmData:", own.data, 0);
  reduce("VmLib:", own.code, 0);
  const SignalMasks masks;
  text.replace_mask("SigIgn:", masks.ignored);
  text.replace_mask("SigCgt:", masks.handled);
}

void change_word(Text& text, u64 start, u32 number, s64 by) {
  const u64 at = text.word(start, number);
  text.replace(at, reduced(text.number_at(at), by), false);
}

}  // namespace

bool read_sizes(u64 fd, ListForm form, MappingList& list) {
  LARGE static char content[16384];
  OwnBytes own;
  if (!read_own_bytes(own)) return false;
  u64 bytes = 0;
  for (;;) {
    if (bytes == sizeof content) return false;
    const s64 n = kernel(SYS_pread64, fd, reinterpret_cast<u64>(content + bytes), sizeof content - bytes, bytes);
    if (failed(n)) return false;
    if (n == 0) break;
    bytes += static_cast<u64>(n);
  }
  Text text(content, bytes);
  if (form == ListForm::status) change_status(text, own);
  if (form == ListForm::statm) {
    // size resident shared text 0 data 0, in pages; the last ones first, since words become shorter.
    change_word(text, 0, 5, own.data / static_cast<s64>(page_bytes));
    change_word(text, 0, 0, static_cast<s64>(own.all / page_bytes));
  }
  if (form == ListForm::stat) {
    // proc_pid_stat(5): fields 34, 33 and 23, and the name is field 2. The kernel shows the lower 31 signals.
    constexpr u32 handled = 31, ignored = 30, size = 20;
    constexpr u64 shown = 0x7fffffff;
    const SignalMasks masks;
    const u64 name_end = text.after_name();
    text.replace(text.word(name_end, handled), masks.handled & shown, false);
    text.replace(text.word(name_end, ignored), masks.ignored & shown, false);
    change_word(text, name_end, size, static_cast<s64>(own.all));
  }
  list = {content, text.bytes(), form};
  return true;
}

}  // namespace tally::engine::guest
