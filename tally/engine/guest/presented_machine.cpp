#include "tally/engine/guest/presented_machine.hpp"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <cstddef>
#include <initializer_list>

#include "tally/engine/guest/counted_clock.hpp"
#include "tally/engine/guest/counted_times.hpp"
#include "tally/engine/guest/fixed_random.hpp"
#include "tally/engine/guest/guest_signals.hpp"
#include "tally/engine/guest/process_calls.hpp"
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

/// Creates a nameless file with this content. Returns its descriptor or an error; no_file if a signal would kill the
/// program because it limits the size of files.
s64 make_file(const char* text, u32 bytes, u64 flags) {
  constexpr u64 closed_on_exec = 1;  // MFD_CLOEXEC
  struct rlimit size = {};
  kernel(SYS_prlimit64, 0, RLIMIT_FSIZE, 0, reinterpret_cast<u64>(&size));
  if (size.rlim_cur < bytes) return no_file;
  const s64 file =
      kernel(SYS_memfd_create, reinterpret_cast<u64>("tally"), (flags & O_CLOEXEC) != 0 ? closed_on_exec : 0);
  if (failed(file)) return file;
  const u64 fd = static_cast<u64>(file);
  if (kernel(SYS_pwrite64, fd, reinterpret_cast<u64>(text), bytes, 0) == s64{bytes}) return file;
  kernel(SYS_close, fd);
  return -ENOSPC;
}

/// Creates a file with a random UUID of version 4.
s64 make_random_uuid(u64 flags) {
  constexpr char digits[] = "0123456789abcdef";
  u8 random[36];
  fill_random(random, sizeof random);
  char text[] = "xxxxxxxx-xxxx-4xxx-8xxx-xxxxxxxxxxxx\n";
  for (u32 i = 0; i < sizeof random; i++)
    if (text[i] == 'x') text[i] = digits[random[i] % 16];
  return make_file(text, sizeof text - 1, flags);
}

}  // namespace

s64 open_presented_file(Thread* t, u64 flags) {
  const u64* const g = t->gpr;
  if (!machine_is_fixed() && !clock_is_counted() && !settings().pmu.any()) return no_file;
  if ((flags & (O_ACCMODE | O_PATH | O_DIRECTORY)) != O_RDONLY) return no_file;
  char path[96];
  read_path(path, g[rax] == SYS_open ? g[rdi] : g[rsi]);
  if (machine_is_fixed()) {
    const channel::PresentedFiles::Content content = settings().files.find(path);
    if (content.text != nullptr) return make_file(content.text, content.bytes, flags);
    if (is_equal(path, "/proc/sys/kernel/random/uuid")) return make_random_uuid(flags);
  }
  if (settings().pmu.any() && is_equal(path, "/proc/sys/kernel/perf_event_paranoid"))
    return make_file("2\n", 2, flags);  // as if only the kernel could not be counted, whatever the kernel's value
  if (clock_is_counted()) {
    char text[times_file_bytes];
    if (const u32 bytes = write_times_file(t, path, text); bytes != 0) return make_file(text, bytes, flags);
  }
  return no_file;
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

s64 get_presented_names(Thread* t) {
  const s64 r = run(t);
  if (!machine_is_fixed() || failed(r)) return r;
  constexpr u64 name_bytes = 65;  // in struct new_utsname
  const auto name = [&]<u64 n>(u64 index, const char(&text)[n]) {
    char whole[name_bytes] = {};
    copy(whole, text, n);
    put(t->gpr[rdi] + index * name_bytes, whole, sizeof whole);
  };
  name(1, channel::presented_host);
  name(2, channel::presented_release);
  name(3, channel::presented_version);
  name(5, channel::presented_domain);
  return r;
}

s64 get_presented_metadata(Thread* t) {
  const u64* const g = t->gpr;
  const s64 r = run(t);
  if (!machine_is_fixed() || failed(r)) return r;
  // The C library's buffers, and Python's, have the size of a block, which file systems choose: up to megabytes.
  constexpr u64 block_bytes = 4096;
  if (g[rax] == SYS_statx) {
    constexpr u64 block_bytes_at = 4;  // in struct statx: 32 bits
    put(g[r8] + block_bytes_at, &block_bytes, 4);
  } else {
    put((g[rax] == SYS_newfstatat ? g[rdx] : g[rsi]) + offsetof(struct stat, st_blksize), &block_bytes, 8);
  }
  return r;
}

s64 get_presented_memory(Thread* t) {
  struct {
    s64 uptime;
    u64 loads[3], total, free, shared, buffers, swap, free_swap;
    u16 processes, pad[3];
    u64 high, free_high;
    u32 unit, end;
  } info{};
  static_assert(sizeof info == 112);
  if (!machine_is_fixed()) {
    const s64 r = run(t);
    if (r != 0 || !clock_is_counted() || get(&info, t->gpr[rdi], sizeof info) != 0) return r;
  }
  u64 ns = 0;
  constexpr s32 monotonic = 1;
  constexpr u64 second = 1'000'000'000;
  if (clock_is_counted() && read_clock(t, monotonic, ns)) info.uptime = static_cast<s64>(ns / second);
  if (!clock_is_counted()) info.uptime = clock_booted_before / second;
  if (machine_is_fixed()) {
    info.loads[0] = 0;
    info.total = channel::presented_memory;
    info.free = channel::presented_free_memory;
    info.processes = 1;
    info.unit = 1;
  }
  return put(t->gpr[rdi], &info, sizeof info);
}

}  // namespace tally::engine::guest
