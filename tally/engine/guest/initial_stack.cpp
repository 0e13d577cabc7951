#include "tally/engine/guest/initial_stack.hpp"

#include <elf.h>
#include <linux/resource.h>

namespace tally::engine::guest {
namespace {

/// The new contents, from the new stack pointer up: the words, the strings that are the same in every run, and those of
/// the environment. Each part has a fixed address, and each string begins a cache line, as string functions run
/// different code for other alignments.
constexpr u64 words_bytes = 64 << 10, arguments_bytes = 64 << 10, environment_bytes = 256 << 10;
constexpr u64 moved_bytes = words_bytes + arguments_bytes + environment_bytes;
constexpr u64 line = 64;
constexpr u64 random_bytes = 16;  // of AT_RANDOM

u64 string_bytes(u64 address) {
  u64 n = 1;
  while (at<u8>(address + n - 1) != 0) n++;
  return n;
}

/// Copies strings to one part.
class Part {
 public:
  Part(u64 start, u64 bytes) : at_(start), end_(start + bytes) {}
  /// Returns the new address, or 0 if the part is full.
  u64 add(u64 from, u64 bytes) {
    const u64 to = at_;
    if (bytes + line > end_ - at_) return 0;
    copy(reinterpret_cast<void*>(to), reinterpret_cast<const void*>(from), bytes);
    at_ = (to + bytes + line - 1) & ~(line - 1);
    return to;
  }
  u64 add_string(u64 from) { return add(from, string_bytes(from)); }

 private:
  u64 at_, end_;
};

/// The number of words on the initial stack, and the highest address of a string.
struct Extent {
  u64 words, top;
};

Extent extent_of(u64 sp) {
  const u64* const first = reinterpret_cast<u64*>(sp);
  const u64* p = first + 1;
  u64 top = sp;
  const auto note = [&](u64 string) {
    if (string + string_bytes(string) > top) top = string + string_bytes(string);
  };
  for (u32 list = 0; list < 2; list++) {
    for (; *p != 0; p++) note(*p);
    p++;
  }
  for (; p[0] != AT_NULL; p += 2)
    if (p[0] == AT_EXECFN) note(p[1]);
  return {static_cast<u64>(p + 2 - first), top};
}

bool stack_may_grow_to(u64 address, u64 top) {
  rlimit64 stack{};
  constexpr u64 spare = 512 << 10;
  return kernel(SYS_prlimit64, 0, RLIMIT_STACK, 0, reinterpret_cast<u64>(&stack)) == 0 &&
         stack.rlim_cur >= top - address + spare;
}

}  // namespace

u64 settle_initial_stack(u64 sp) {
  constexpr u64 unit = 1 << 20;
  const Extent extent = extent_of(sp);
  // The lowest of the old contents may be anywhere in the last megabyte.
  const u64 top = (extent.top + unit - 1) & ~(unit - 1), to = top - unit - moved_bytes;
  if (extent.words * 8 > words_bytes || to + moved_bytes > sp || !stack_may_grow_to(to, top)) return sp;
  Part arguments(to + words_bytes, arguments_bytes), environment(to + words_bytes + arguments_bytes, environment_bytes);
  copy(reinterpret_cast<void*>(to), reinterpret_cast<const void*>(sp), extent.words * 8);
  u64* p = reinterpret_cast<u64*>(to) + 1;
  const auto move = [](u64& pointer, u64 moved) {
    if (moved != 0) pointer = moved;
  };
  u64* const name = p;
  // Names of the program come last: a longer one moves nothing else.
  for (p += *p != 0 ? 1 : 0; *p != 0; p++) move(*p, arguments.add_string(*p));
  for (p++; *p != 0; p++) move(*p, environment.add_string(*p));
  u64* path = nullptr;
  for (p++; p[0] != AT_NULL; p += 2) {
    if (p[0] == AT_RANDOM) move(p[1], arguments.add(p[1], random_bytes));
    if (p[0] == AT_PLATFORM) move(p[1], arguments.add_string(p[1]));
    if (p[0] == AT_EXECFN) path = p + 1;
  }
  if (*name != 0) move(*name, arguments.add_string(*name));
  if (path != nullptr) move(*path, arguments.add_string(*path));
  return to;
}

}  // namespace tally::engine::guest
