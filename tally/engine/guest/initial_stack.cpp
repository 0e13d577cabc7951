#include "tally/engine/guest/initial_stack.hpp"

#include <elf.h>
#include <linux/resource.h>
#include <sys/mman.h>

#include "tally/engine/guest/presented_cpu.hpp"

namespace tally::engine::guest {
namespace {

/// The new contents, from the new stack pointer up: the words, the strings that are the same in every run, and those of
/// the environment. Each part has a fixed address, and each string begins a cache line, as string functions run
/// different code for other alignments.
constexpr u64 words_bytes = 64 << 10, arguments_bytes = 64 << 10, environment_bytes = 256 << 10;
constexpr u64 moved_bytes = words_bytes + arguments_bytes + environment_bytes;
constexpr u64 line = 64;
constexpr u64 random_bytes = 16;  // of AT_RANDOM

/// The entries of the auxiliary vector that a program gets, in this order, whatever its kernel passes. The loops over
/// them and the alignment of the stack would depend on others, such as the sizes for rseq, which Linux passes
/// since 6.3. Without AT_SYSINFO_EHDR the program makes system calls instead of calling the vdso. Symbols and code of
/// the vdso differ between kernels; the dynamic linker searches it in each program.
constexpr u64 minimal_signal_stack = 51;  // AT_MINSIGSTKSZ
constexpr u64 presented_entries[] = {minimal_signal_stack,
                                     AT_HWCAP,
                                     AT_PAGESZ,
                                     AT_CLKTCK,
                                     AT_PHDR,
                                     AT_PHENT,
                                     AT_PHNUM,
                                     AT_BASE,
                                     AT_FLAGS,
                                     AT_ENTRY,
                                     AT_UID,
                                     AT_EUID,
                                     AT_GID,
                                     AT_EGID,
                                     AT_SECURE,
                                     AT_RANDOM,
                                     AT_HWCAP2,
                                     AT_EXECFN,
                                     AT_PLATFORM};
constexpr u64 most_entry_words = 2 * (sizeof presented_entries / sizeof *presented_entries + 1);

u64 string_bytes(u64 address) { return length(reinterpret_cast<const char*>(address)) + 1; }

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

/// Writes the presented entries of an auxiliary vector.
void copy_entries(u64* to, const u64* from) {
  for (const u64 type : presented_entries) {
    const u64* p = from;
    while (p[0] != AT_NULL && p[0] != type) p += 2;
    u64 value = p[1];
    if (p[0] == AT_NULL) value = type == minimal_signal_stack ? presented_signal_stack_bytes() : 0;
    if (p[0] == AT_NULL && value == 0) continue;
    *to++ = type;
    *to++ = value;
  }
  to[0] = AT_NULL;
  to[1] = 0;
}

/// Gives the stack below `address` the size of its limit, which the kernel counts from `end`: lets it grow to the
/// limit, and maps the rest. If that is impossible, enough must be left: returns false otherwise.
bool has_room_below(u64 address, u64 end) {
  constexpr u64 enough = 4 << 20, gap = 128 << 20;  // the kernel leaves at least this gap below the end
  const u64 moved = end - address;
  rlimit64 stack{};
  if (kernel(SYS_prlimit64, 0, RLIMIT_STACK, 0, reinterpret_cast<u64>(&stack)) != 0) return false;
  const u64 limit = stack.rlim_cur & ~(page_bytes - 1);
  if (limit < moved || limit >= gap - 2 * moved) return limit >= moved;
  // Before Linux 4.20, only a system call makes the stack grow far below the stack pointer.
  return (kernel(SYS_access, end - limit, 0) != -EFAULT &&
          !failed(kernel(SYS_mmap, end - limit - moved, moved, read_write,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, ~u64{0}, 0))) ||
         limit >= moved + enough;
}

}  // namespace

u64 settle_initial_stack(u64 sp) {
  constexpr u64 unit = 1 << 20;
  const Extent extent = extent_of(sp);
  // The lowest of the old contents may be anywhere in the last megabyte.
  const u64 top = (extent.top + unit - 1) & ~(unit - 1), to = top - unit - moved_bytes;
  if ((extent.words + most_entry_words) * 8 > words_bytes || to + moved_bytes > sp ||
      !has_room_below(to, page_up(extent.top)))
    return sp;
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
  p++;
  copy_entries(p, reinterpret_cast<u64*>(sp) + (p - reinterpret_cast<u64*>(to)));
  for (; p[0] != AT_NULL; p += 2) {
    if (p[0] == AT_RANDOM) move(p[1], arguments.add(p[1], random_bytes));
    if (p[0] == AT_PLATFORM) move(p[1], arguments.add_string(p[1]));
    if (p[0] == AT_EXECFN) path = p + 1;
  }
  if (*name != 0) move(*name, arguments.add_string(*name));
  if (path != nullptr) move(*path, arguments.add_string(*path));
  return to;
}

}  // namespace tally::engine::guest
