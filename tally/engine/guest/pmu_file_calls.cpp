#include "tally/engine/guest/pmu_file_calls.hpp"

#include <sys/stat.h>

#include "tally/engine/decimal.hpp"
#include "tally/engine/guest/guest_signals.hpp"
#include "tally/engine/guest/pmu_descriptors.hpp"
#include "tally/engine/guest/pmu_events.hpp"

namespace tally::engine::guest {
namespace {

bool is_event(u64 number) {
  if (!may_have_events || !pmu_is_used()) return false;
  PmuGuard guard;
  const u32 event = find_event(number);
  return event != 0 && !pmu_event(event).is_kernels;
}

/// The descriptor whose number is the last part of a path; ~0: that is no number.
u64 number_at_end(u64 path) {
  u64 number = 0, digits = 0;
  char c = 0;
  for (bool is_number = true; get(&c, path++, 1) == 0;) {
    if (c == 0) return is_number && digits != 0 && digits < 9 ? number : ~u64{0};
    is_number = c == '/' || (is_number && c >= '0' && c <= '9');
    digits = c == '/' ? 0 : digits + 1;
    number = digits == 0 ? 0 : number * 10 + static_cast<u64>(c - '0');
  }
  return ~u64{0};
}

}  // namespace

s64 refuse_socket_call(const Thread* t) { return is_event(t->gpr[rdi]) ? -ENOTSOCK : not_of_pmu; }

s64 written_to_event(const Thread* t, s64 r) {
  return (r == -ENOTCONN || r == -EPIPE) && is_event(t->gpr[rdi]) ? -EINVAL : r;
}

s64 read_link_of_event(const Thread* t, s64 r) {
  static constexpr char socket_name[] = "socket:[", name[] = "anon_inode:[perf_event]";
  const u64* const g = t->gpr;
  const bool is_relative = g[rax] == SYS_readlinkat;
  const u64 path = g[is_relative ? rsi : rdi], to = g[is_relative ? rdx : rsi], bytes = g[is_relative ? r10 : rdx];
  char text[sizeof socket_name] = {};
  const u64 some = bytes < sizeof socket_name - 1 ? bytes : sizeof socket_name - 1;
  if (!may_have_events || r < static_cast<s64>(some) || get(text, to, some) != 0) return r;
  for (u64 i = 0; i < some; i++)
    if (text[i] != socket_name[i]) return r;
  // The path may be that of another process's descriptor.
  const u64 number = number_at_end(path);
  if (number == ~u64{0} || !is_event(number)) return r;
  char own[64] = "/proc/self/fd/";
  constexpr u64 own_length = 14;
  struct stat named, here;
  *write_decimal(own + own_length, number) = 0;
  constexpr u64 from_directory = ~u64{99};  // AT_FDCWD
  const u64 directory = is_relative ? g[rdi] : from_directory;
  if (kernel(SYS_newfstatat, directory, path, reinterpret_cast<u64>(&named), 0) != 0 ||
      kernel(SYS_newfstatat, from_directory, reinterpret_cast<u64>(own), reinterpret_cast<u64>(&here), 0) != 0 ||
      named.st_ino != here.st_ino || named.st_dev != here.st_dev)
    return r;
  const u64 n = bytes < sizeof name - 1 ? bytes : sizeof name - 1;
  return put(to, name, n) == 0 ? static_cast<s64>(n) : -EFAULT;
}

s64 file_system_of_event(const Thread* t, s64 r) {
  constexpr u64 anonymous_inodes = 0x09041934;  // linux/magic.h
  if (r != 0 || !is_event(t->gpr[rdi])) return r;
  return put(t->gpr[rsi], &anonymous_inodes, sizeof anonymous_inodes);
}

void describe_event_file(const Thread* t) {
  const u64* const g = t->gpr;
  constexpr u64 extended_mode_at = 28, permissions = 0600;  // in struct statx: 16 bits
  const bool is_extended = g[rax] == SYS_statx;
  const u64 at = is_extended                ? g[r8] + extended_mode_at
                 : g[rax] == SYS_newfstatat ? g[rdx] + offsetof(struct stat, st_mode)
                                            : g[rsi] + offsetof(struct stat, st_mode);
  u64 mode = 0;
  const u64 bytes = is_extended ? 2 : 4;
  if (!may_have_events || get(&mode, at, bytes) != 0 || (mode & S_IFMT) != S_IFSOCK) return;
  char first = 0;
  if (g[rax] != SYS_fstat && (get(&first, g[rsi], 1) != 0 || first != 0)) return;  // it names a path
  if (is_event(g[rdi])) put(at, &permissions, bytes);
}

}  // namespace tally::engine::guest
