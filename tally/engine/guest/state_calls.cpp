#include "tally/engine/guest/state_calls.hpp"

#include <poll.h>
#include <sys/stat.h>

#include "tally/engine/clock.hpp"
#include "tally/engine/guest/counted_clock.hpp"
#include "tally/engine/guest/fixed_random.hpp"
#include "tally/engine/guest/guest_signals.hpp"
#include "tally/engine/guest/presented_machine.hpp"

namespace tally::engine::guest {
namespace {

constexpr u64 second = 1'000'000'000;

/// The time of file systems. They stamp files with the time of the last tick.
u64 file_time() {
  constexpr u64 realtime_coarse = 5;
  u64 now[2]{};
  (void)kernel(SYS_clock_gettime, realtime_coarse, reinterpret_cast<u64>(now));
  return now[0] * second + now[1];
}

/// When this process made its first system call.
u64 began = 0;

bool is_of_run(s64 seconds, u64 nanoseconds) { return static_cast<u64>(seconds) * second + nanoseconds >= began; }

/// Times and inode of a directory matter to few programs, and shells read those of their working directory.
bool is_new_file(const struct stat& file) {
  return !S_ISDIR(file.st_mode) && is_of_run(file.st_ctim.tv_sec, static_cast<u64>(file.st_ctim.tv_nsec));
}

bool names_new_file(u64 metadata) {
  struct stat file;
  return get(&file, metadata, sizeof file) == 0 && is_new_file(file);
}

/// Not fstat by stdio, for the size of a buffer, which is before it in the C library. The standard streams were opened
/// just before the run.
bool describes_new_file(const Thread* t, u64 descriptor, u64 metadata) {
  constexpr u64 library_bytes = u64{1} << 20, standard_streams = 3;
  u64 caller = 0;
  if (descriptor < standard_streams || get(&caller, t->gpr[rsp], sizeof caller) != 0) return false;
  return t->pc - caller >= library_bytes && names_new_file(metadata);
}

bool names_new_file_with_statx(u64 metadata) {
  struct statx file;
  return get(&file, metadata, sizeof file) == 0 && !S_ISDIR(file.stx_mode) &&
         is_of_run(file.stx_ctime.tv_sec, file.stx_ctime.tv_nsec);
}

/// An empty path names the descriptor itself.
bool is_empty(u64 path) {
  u8 first = 0;
  return path == 0 || (get(&first, path, 1) == 0 && first == 0);
}

/// Descriptors of timers, events and the like have no type.
bool is_typeless(u64 descriptor) {
  struct stat file;
  return kernel(SYS_fstat, descriptor, reinterpret_cast<u64>(&file)) == 0 && (file.st_mode & S_IFMT) == 0;
}

/// File systems of the kernel itself have no blocks.
bool has_blocks(u64 file_system) {
  u64 blocks = 0;
  return get(&blocks, file_system + 16, sizeof blocks) == 0 && blocks != 0;
}

bool is_internet_address(u64 address) {
  constexpr u16 ipv4 = 2, ipv6 = 10;
  u16 family = 0;
  return address != 0 && get(&family, address, sizeof family) == 0 && (family == ipv4 || family == ipv6);
}

/// Whether poll(2) waits for anything: Rust's programs only ask at their start which standard streams are open.
bool polls_for_events(u64 descriptors, u64 n) {
  for (u64 i = 0; i < n && i < 64; i++) {
    pollfd descriptor{};
    if (get(&descriptor, descriptors + i * sizeof descriptor, sizeof descriptor) == 0 && descriptor.events != 0)
      return true;
  }
  return false;
}

bool is_state_option(u64 level, u64 option) {
  constexpr u64 of_socket = 1, of_tcp = 6, peer = 17, processor = 49, memory = 55, napi = 56, cookie = 57, info = 11;
  return (level == of_socket &&
          (option == peer || option == processor || option == memory || option == napi || option == cookie)) ||
         (level == of_tcp && option == info);
}

/// RNDGETENTCNT; SIOCGIFNAME to SIOCGIFTXQLEN, which read network interfaces.
bool is_state_request(u64 request) { return request == 0x80045200 || (request >= 0x8910 && request <= 0x8942); }

}  // namespace

bool returns_state(const Thread* t, s64 result) {
  constexpr s64 would_block = -11;
  constexpr u64 tick = 10'000'000;
  if (began == 0) began = file_time() - tick;
  const u64* const g = t->gpr;
  const u64 number = g[rax];
  if (result == would_block)
    return number == SYS_read || number == SYS_readv || number == SYS_recvfrom || number == SYS_recvmsg ||
           number == SYS_accept || number == SYS_accept4;
  if (failed(result)) return false;
  switch (number) {
    // Numbers that the kernel assigns.
    case SYS_msgget:
    case SYS_semget:
    case SYS_shmget:
    case SYS_add_key:
    case SYS_request_key:
    case SYS_name_to_handle_at:
    case SYS_kcmp: return true;
    case SYS_getsockname:
    case SYS_getpeername:
    case SYS_accept:
    case SYS_accept4: return is_internet_address(g[rsi]);
    case SYS_getsockopt: return is_state_option(g[rsi], g[rdx]);
    // Metadata of files.
    case SYS_stat:
    case SYS_lstat: return names_new_file(g[rsi]);
    case SYS_fstat: return describes_new_file(t, g[rdi], g[rsi]);
    case SYS_newfstatat: return is_empty(g[rsi]) ? describes_new_file(t, g[rdi], g[rdx]) : names_new_file(g[rdx]);
    case SYS_statx: return (!is_empty(g[rsi]) || g[rdi] > 2) && names_new_file_with_statx(g[r8]);
    case SYS_statfs:
    case SYS_fstatfs: return has_blocks(g[rsi]);
    case SYS_ustat:
    case SYS_quotactl: return true;
    // Memory and processors.
    case SYS_mincore:
    case SYS_move_pages:
    case 451 /* cachestat */: return true;
    case SYS_getcpu: return !machine_is_fixed();
    case SYS_getrusage:
      return clock_is_counted();  // the clock does not fix page faults and memory
    // Other processes, and time. A child's process is counted, but not the order of both.
    case SYS_read: return result == 8 && is_typeless(g[rdi]);
    case SYS_recvfrom:
    case SYS_recvmsg:
    case SYS_recvmmsg:
    case SYS_process_vm_readv:
    case SYS_inotify_add_watch:
    case SYS_syslog: return result > 0;
    case SYS_connect: return is_internet_address(g[rsi]);
    case SYS_timer_getoverrun:
    case SYS_io_getevents:
    case 333 /* io_pgetevents */:
    case 426 /* io_uring_enter */: return result > 0;
    case SYS_poll:
    case SYS_ppoll: return result == 0 && polls_for_events(g[rdi], g[rsi]);
    case SYS_select:
    case SYS_pselect6: return result == 0 && g[rdi] != 0;
    case SYS_epoll_wait:
    case SYS_epoll_pwait:
    case 441 /* epoll_pwait2 */: return result == 0;
    case SYS_ioctl: return is_state_request(g[rsi] & 0xffffffff);
    // Random bytes that only read(2) and its variants have from a fixed seed.
    case SYS_sendfile: return result > 0 && is_random_device(g[rsi]);
    case SYS_splice:
    case SYS_copy_file_range: return result > 0 && is_random_device(g[rdi]);
    default: return false;
  }
}

}  // namespace tally::engine::guest
