#include "tally/engine/guest/presented_machine.hpp"

#include <fcntl.h>

#include <initializer_list>

#include "tally/engine/guest/counted_clock.hpp"
#include "tally/engine/guest/processes.hpp"
#include "tally/engine/guest/signals.hpp"
#include "tally/engine/translate/entry.hpp"

namespace tally::engine::guest {
namespace {

/// Copies a path; an empty string if it is longer.
template <u64 N>
void read_path(char (&to)[N], u64 path) {
  const u64 missing = safe_copy(to, reinterpret_cast<const void*>(path), N - 1);
  to[N - 1 - missing] = 0;
  u64 n = 0;
  while (to[n] != 0) n++;
  if (n == N - 1 - missing) to[0] = 0;
}

/// Creates a nameless file with this content. Returns its descriptor or an error.
s64 make_file(const channel::PresentedFiles::Content& content, u64 flags) {
  constexpr u64 closed_on_exec = 1;  // MFD_CLOEXEC
  const s64 file =
      kernel(SYS_memfd_create, reinterpret_cast<u64>("tally"), (flags & O_CLOEXEC) != 0 ? closed_on_exec : 0);
  if (failed(file)) return file;
  const u64 fd = static_cast<u64>(file);
  if (kernel(SYS_pwrite64, fd, reinterpret_cast<u64>(content.text), content.bytes, 0) == s64{content.bytes})
    return file;
  kernel(SYS_close, fd);
  return -ENOSPC;
}

}  // namespace

s64 open_presented_file(Thread* t, u64 flags) {
  const u64* const g = t->gpr;
  if (!machine_is_fixed() || (flags & (O_ACCMODE | O_PATH | O_DIRECTORY)) != O_RDONLY) return no_file;
  char path[96];
  read_path(path, g[rax] == SYS_open ? g[rdi] : g[rsi]);
  const channel::PresentedFiles::Content content = settings().files.find(path);
  return content.text != nullptr ? make_file(content, flags) : no_file;
}

s64 get_presented_affinity(Thread* t) {
  const s64 bytes = run(t);
  if (!machine_is_fixed() || failed(bytes)) return bytes;
  const u64 to = t->gpr[rdx];
  for (u64 at = 0; at < static_cast<u64>(bytes); at++) {
    const u8 first = at == 0;
    put(to + at, &first, 1);
  }
  return bytes;
}

s64 set_presented_affinity(Thread* t) {
  constexpr s64 invalid = -EINVAL, bad_address = -EFAULT;
  if (!machine_is_fixed()) return run(t);
  u8 first = 0;
  if (t->gpr[rsi] != 0 && get(&first, t->gpr[rdx], 1) != 0) return bad_address;
  return first & 1 ? 0 : invalid;
}

s64 get_presented_processor(Thread* t) {
  if (!machine_is_fixed()) return run(t);
  constexpr u32 first = 0;
  for (const u64 to : {t->gpr[rdi], t->gpr[rsi]})
    if (to != 0 && put(to, &first, sizeof first) != 0) return -EFAULT;
  return 0;
}

s64 get_presented_memory(Thread* t) {
  if (!machine_is_fixed()) return run(t);
  struct {
    s64 uptime;
    u64 loads[3], total, free, shared, buffers, swap, free_swap;
    u16 processes, pad[3];
    u64 high, free_high;
    u32 unit, end;
  } info{};
  static_assert(sizeof info == 112);
  u64 ns = 0;
  constexpr s32 monotonic = 1;
  constexpr u64 second = 1'000'000'000;
  if (clock_is_counted() && read_clock(t, monotonic, ns)) info.uptime = static_cast<s64>(ns / second);
  if (!clock_is_counted() && kernel(SYS_clock_gettime, monotonic, reinterpret_cast<u64>(&info)) != 0) return -EFAULT;
  info.loads[0] = 0;
  info.total = channel::presented_memory;
  info.free = channel::presented_free_memory;
  info.processes = 1;
  info.unit = 1;
  return put(t->gpr[rdi], &info, sizeof info);
}

}  // namespace tally::engine::guest
