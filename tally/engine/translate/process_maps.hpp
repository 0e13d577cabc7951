/// The mappings of this process, as the kernel lists them.
#pragma once
#include "tally/engine/base.hpp"

namespace tally::engine::translate {

/// Reads /proc/self/maps line by line; calls f(start, end, permissions). False where there is no /proc.
template <class F>
bool each_mapping(F&& f) {
  static char text[16384];  // one reader at a time: the lock of exec_regions.cpp
  const s64 fd = kernel(SYS_openat, static_cast<u64>(-100), reinterpret_cast<u64>("/proc/self/maps"), 02000000);
  if (failed(fd)) return false;
  u64 fields[2] = {};
  char permissions[4] = {};
  u32 field = 0, position = 0;
  for (s64 n; (n = kernel(SYS_read, fd, reinterpret_cast<u64>(text), sizeof text)) > 0;)
    for (s64 i = 0; i < n; i++) {
      const char c = text[i];
      if (c == '\n') {
        f(fields[0], fields[1], permissions);
        fields[0] = fields[1] = field = position = 0;
      } else if (field < 2) {
        if (c == '-' || c == ' ')
          field++;
        else
          fields[field] = fields[field] << 4 | static_cast<u64>(c <= '9' ? c - '0' : c - 'a' + 10);
      } else if (position < 4) {
        permissions[position++] = c;
      }
    }
  kernel(SYS_close, fd);
  return true;
}

}  // namespace tally::engine::translate
