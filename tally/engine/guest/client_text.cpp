#include "tally/engine/guest/client_text.hpp"

#include "tally/engine/decimal.hpp"
#include "tally/engine/translate/entry.hpp"

namespace tally::engine::guest {
namespace {

/// Arguments of a function with a variable number of them, as the System V ABI passes them in registers and memory.
class Arguments {
 public:
  explicit Arguments(u64 list) { valid_ = safe_copy(&list_, reinterpret_cast<const void*>(list), sizeof list_) == 0; }

  u64 next() {
    constexpr u32 register_bytes = 48;
    u64 from = list_.in_memory;
    if (list_.used < register_bytes) {
      from = list_.registers + list_.used;
      list_.used += 8;
    } else {
      list_.in_memory += 8;
    }
    u64 value = 0;
    valid_ = valid_ && safe_copy(&value, reinterpret_cast<const void*>(from), sizeof value) == 0;
    return value;
  }
  bool valid() const { return valid_; }

 private:
  struct {
    u32 used, used_vectors;
    u64 in_memory, registers;
  } list_{};
  bool valid_;
};

/// Collects lines and writes each with its prefix.
class Lines {
 public:
  explicit Lines(s64 pid) : pid_(pid) {}
  ~Lines() { flush(); }

  void add(char c) {
    if (used_ == 0) begin();
    if (used_ == sizeof buffer_) flush(), used_ = 0;
    buffer_[used_++] = c;
    count_++;
    if (c == '\n') flush();
  }
  u64 count() const { return count_; }

 private:
  void begin() {
    buffer_[used_++] = '*';
    buffer_[used_++] = '*';
    used_ = static_cast<u32>(write_decimal(buffer_ + used_, static_cast<u64>(pid_)) - buffer_);
    buffer_[used_++] = '*';
    buffer_[used_++] = '*';
    buffer_[used_++] = ' ';
  }
  void flush() {
    if (used_ != 0) kernel(SYS_write, 2, reinterpret_cast<u64>(buffer_), used_);
    used_ = 0;
  }

  s64 pid_;
  char buffer_[512];
  u32 used_ = 0;
  u64 count_ = 0;
};

/// A conversion: %[flags][width][l…]letter.
struct Conversion {
  bool left = false, zeros = false, alternate = false;
  u32 width = 0;
  bool is_long = false;
};

class Printer {
 public:
  Printer(s64 pid, u64 format, u64 arguments) : lines_(pid), format_(format), arguments_(arguments) {}

  u64 print() {
    while (const char c = next()) {
      if (c != '%')
        lines_.add(c);
      else if (!convert())
        break;
    }
    return lines_.count();
  }

 private:
  char next() {
    char c = 0;
    if (safe_copy(&c, reinterpret_cast<const void*>(format_), 1) != 0) return 0;
    format_++;
    return c;
  }

  bool convert() {
    Conversion how;
    char c = next();
    for (;; c = next()) {
      if (c == '-')
        how.left = true;
      else if (c == '0')
        how.zeros = true;
      else if (c == '#')
        how.alternate = true;
      else
        break;
    }
    for (; c >= '0' && c <= '9'; c = next()) how.width = how.width * 10 + static_cast<u32>(c - '0');
    for (; c == 'l' || c == 'z' || c == 'h'; c = next()) how.is_long |= c != 'h';
    if (how.width > 400) how.width = 400;
    switch (c) {
      case '%': lines_.add('%'); return true;
      case 'c': lines_.add(static_cast<char>(arguments_.next())); break;
      case 's': text(arguments_.next(), how); break;
      case 'd':
      case 'i': integer(arguments_.next(), how, 10, true); break;
      case 'u': integer(arguments_.next(), how, 10, false); break;
      case 'x':
      case 'X': integer(arguments_.next(), how, 16, false); break;
      case 'p':
        how.is_long = how.alternate = true;
        integer(arguments_.next(), how, 16, false);
        break;
      default: return false;
    }
    return arguments_.valid();
  }

  void pad(u32 length, const Conversion& how, char with) {
    for (u32 i = length; i < how.width; i++) lines_.add(with);
  }

  void integer(u64 v, const Conversion& how, u32 base, bool is_signed) {
    char digits[24];
    u32 n = 0;
    if (!how.is_long) v = is_signed ? static_cast<u64>(s64{static_cast<s32>(v)}) : static_cast<u32>(v);
    const bool negative = is_signed && static_cast<s64>(v) < 0;
    if (negative) v = 0 - v;
    do digits[n++] = "0123456789abcdef"[v % base];
    while ((v /= base) != 0);
    if (how.alternate && base == 16) digits[n++] = 'x', digits[n++] = '0';
    if (negative) digits[n++] = '-';
    if (!how.left) pad(n, how, how.zeros ? '0' : ' ');
    for (u32 i = n; i > 0; i--) lines_.add(digits[i - 1]);
    if (how.left) pad(n, how, ' ');
  }

  void text(u64 from, const Conversion& how) {
    constexpr u32 longest = 1u << 20;
    const auto at = [](u64 address) {
      char c = 0;
      safe_copy(&c, reinterpret_cast<const void*>(address), 1);
      return c;
    };
    u32 n = 0;
    while (n < longest && at(from + n) != 0) n++;
    if (!how.left) pad(n, how, ' ');
    for (u32 i = 0; i < n; i++) lines_.add(at(from + i));
    if (how.left) pad(n, how, ' ');
  }

  Lines lines_;
  u64 format_;
  Arguments arguments_;
};

}  // namespace

u64 print_client_text(s64 pid, u64 format, u64 arguments) { return Printer(pid, format, arguments).print(); }

}  // namespace tally::engine::guest
