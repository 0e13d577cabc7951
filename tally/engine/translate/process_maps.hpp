/// The mappings of this process, as the kernel lists them.
#pragma once
#include "tally/engine/inherited.hpp"

namespace tally::engine::translate {

struct ListedMapping {
  u64 start, end;
  char permissions[4];
  u64 offset, inode;
  u32 device_major, device_minor;
  char path[4096];
  u32 path_bytes;  // 0 = no path
};

/// Parses the kernel's list line by line, for KernelMappings.
class MappingReader {
 public:
  /// Takes the next character of the text. Returns true at the end of a line.
  bool takes(char c) {
    if (c == '\n') return true;
    if (field_ < fields) {
      if (c == separators[field_])
        field_++;
      else
        add(c);
    } else if ((c != ' ' || m_.path_bytes > 0) && m_.path_bytes < sizeof m_.path) {
      m_.path[m_.path_bytes++] = c;
    }
    return false;
  }
  const ListedMapping& line() const { return m_; }
  void begin_line() {
    m_.start = m_.end = m_.offset = m_.inode = m_.device_major = m_.device_minor = m_.path_bytes = 0;
    field_ = position_ = 0;
  }

 private:
  // start-end permissions offset major:minor inode path
  static constexpr char separators[] = "-   :  ";
  static constexpr u32 fields = 7;

  void add(char c) {
    const u32 digit = static_cast<u32>(c <= '9' ? c - '0' : c - 'a' + 10);
    switch (field_) {
      case 0: m_.start = m_.start << 4 | digit; break;
      case 1: m_.end = m_.end << 4 | digit; break;
      case 2:
        if (position_ < sizeof m_.permissions) m_.permissions[position_++] = c;
        break;
      case 3: m_.offset = m_.offset << 4 | digit; break;
      case 4: m_.device_major = m_.device_major << 4 | digit; break;
      case 5: m_.device_minor = m_.device_minor << 4 | digit; break;
      default: m_.inode = m_.inode * 10 + digit;
    }
  }

  ListedMapping m_{};
  u32 field_ = 0, position_ = 0;
};

/// Reads /proc/self/maps. Each user has one of its own, a LARGE one, under its lock.
class KernelMappings {
 public:
  /// Calls f(ListedMapping) for each line. Returns false if there is no /proc.
  template <class F>
  bool each(F&& f) {
    const s64 fd = open_own("self/maps");
    if (failed(fd)) return false;
    reader_.begin_line();
    for (s64 n; (n = kernel(SYS_read, fd, reinterpret_cast<u64>(text_), sizeof text_)) > 0;)
      for (s64 i = 0; i < n; i++) {
        if (!reader_.takes(text_[i])) continue;
        f(reader_.line());
        reader_.begin_line();
      }
    kernel(SYS_close, fd);
    return true;
  }

 private:
  char text_[16384]{};
  MappingReader reader_;
};

}  // namespace tally::engine::translate
