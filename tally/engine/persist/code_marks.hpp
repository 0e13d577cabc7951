/// A set of code bytes of one mapping, one bit for each.
#pragma once
#include "tally/engine/base.hpp"

namespace tally::engine::persist {

/// `Words`: an array of 64-bit words that starts with zeros.
template <class Words>
class CodeMarks {
 public:
  /// Number of words for this number of bytes.
  static constexpr u32 words_for(u32 bytes) { return bytes / 64 + 1; }

  explicit CodeMarks(Words& words) : words_(words) {}

  void add(u32 from, u32 bytes) {
    while (bytes > 0) {
      const u32 bit = from % 64, n = bytes < 64 - bit ? bytes : 64 - bit;
      words_[from / 64] |= (n == 64 ? ~u64{0} : (u64{1} << n) - 1) << bit;
      from += n;
      bytes -= n;
    }
  }

  /// Calls f(from, bytes) for each range of marked bytes below `end`, in ascending order. Ranges do not touch.
  template <class F>
  void each_range(u32 end, F&& f) const {
    for (u32 from = next(0, end, 0); from < end;) {
      const u32 to = next(from, end, ~u64{0});
      f(from, to - from);
      from = next(to, end, 0);
    }
  }

 private:
  /// Returns the first byte from `at` on whose bit is not as in `skipped`; `end` if there is none.
  u32 next(u32 at, u32 end, u64 skipped) const {
    while (at < end) {
      const u64 other = (words_[at / 64] ^ skipped) >> at % 64;
      if (other != 0) {
        const u32 found = at + static_cast<u32>(__builtin_ctzll(other));
        return found < end ? found : end;
      }
      at = (at / 64 + 1) * 64;
    }
    return end;
  }

  Words& words_;
};

}  // namespace tally::engine::persist
