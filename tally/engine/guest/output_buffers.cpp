#include "tally/engine/guest/output_buffers.hpp"

#include <linux/futex.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include "tally/engine/translate/code_cache.hpp"
#include "tally/engine/translate/entry.hpp"
#include "tally/engine/translate/watching.hpp"

namespace tally::engine::guest {
namespace {

/// How the size of an output is determined.
enum class Size : u8 {
  none,
  bytes,     // `n` bytes
  by,        // argument `n` is the size in bytes
  words,     // argument `n` is a number of 4-byte words
  bits,      // argument `n` is a number of bits, in whole words
  pollfds,   // argument `n` is a number of struct pollfd
  events,    // argument `n` is a number of struct epoll_event or io_event: 32 bytes at most
  at,        // argument `n` points to the size, a u32 that is written as well
  pages,     // one byte for each page of argument `n`
  vectors,   // argument `n` is a number of struct iovec; their buffers are the output
  message,   // a struct msghdr
  messages,  // argument `n` is a number of struct mmsghdr
  sent,      // the same, but only their lengths are written
  mappings,  // argument `n` bytes of address space, whose mapping changes
};

struct OutputArgument {
  u8 pointer;  // number of the argument, from 0
  Size size;
  u16 n;
};

struct Row {
  u16 number;
  OutputArgument outputs[4];
};

constexpr u16 stat_bytes = 144, rusage_bytes = 144, timespec_bytes = 16, itimer_bytes = 32, siginfo_bytes = 128,
              statfs_bytes = 120;

// The system calls that write program memory, by number. All other calls up to `last_known` write none, except ioctl,
// futex, exit and the like, which have functions of their own below.
constexpr Row rows[] = {
    {SYS_read, {{1, Size::by, 2}}},
    {SYS_stat, {{1, Size::bytes, stat_bytes}}},
    {SYS_fstat, {{1, Size::bytes, stat_bytes}}},
    {SYS_lstat, {{1, Size::bytes, stat_bytes}}},
    {SYS_poll, {{0, Size::pollfds, 1}}},
    {SYS_mmap, {{0, Size::mappings, 1}}},
    {SYS_mprotect, {{0, Size::mappings, 1}}},
    {SYS_munmap, {{0, Size::mappings, 1}}},
    {SYS_pread64, {{1, Size::by, 2}}},
    {SYS_readv, {{1, Size::vectors, 2}}},
    {SYS_pipe, {{0, Size::bytes, 8}}},
    {SYS_select, {{1, Size::bits, 0}, {2, Size::bits, 0}, {3, Size::bits, 0}, {4, Size::bytes, 16}}},
    {SYS_mremap, {{0, Size::mappings, 1}, {4, Size::mappings, 2}}},
    {SYS_mincore, {{2, Size::pages, 1}}},
    {SYS_shmctl, {{2, Size::bytes, 128}}},
    {SYS_nanosleep, {{1, Size::bytes, timespec_bytes}}},
    {SYS_getitimer, {{1, Size::bytes, itimer_bytes}}},
    {SYS_setitimer, {{2, Size::bytes, itimer_bytes}}},
    {SYS_sendfile, {{2, Size::bytes, 8}}},
    {SYS_accept, {{1, Size::at, 2}}},
    {SYS_recvfrom, {{1, Size::by, 2}, {4, Size::at, 5}}},
    {SYS_recvmsg, {{1, Size::message, 0}}},
    {SYS_getsockname, {{1, Size::at, 2}}},
    {SYS_getpeername, {{1, Size::at, 2}}},
    {SYS_socketpair, {{3, Size::bytes, 8}}},
    {SYS_getsockopt, {{3, Size::at, 4}}},
    {SYS_clone, {{2, Size::bytes, 4}, {3, Size::bytes, 4}}},
    {SYS_wait4, {{1, Size::bytes, 4}, {3, Size::bytes, rusage_bytes}}},
    {SYS_uname, {{0, Size::bytes, 390}}},
    {SYS_semctl, {{3, Size::bytes, 0xffff}}},
    {SYS_msgrcv, {{1, Size::by, 2}, {1, Size::bytes, 8}}},
    {SYS_msgctl, {{2, Size::bytes, 128}}},
    {SYS_fcntl, {{2, Size::bytes, 32}}},
    {SYS_getdents, {{1, Size::by, 2}}},
    {SYS_getcwd, {{0, Size::by, 1}}},
    {SYS_readlink, {{1, Size::by, 2}}},
    {SYS_gettimeofday, {{0, Size::bytes, 16}, {1, Size::bytes, 8}}},
    {SYS_getrlimit, {{1, Size::bytes, 16}}},
    {SYS_getrusage, {{1, Size::bytes, rusage_bytes}}},
    {SYS_sysinfo, {{0, Size::bytes, 112}}},
    {SYS_times, {{0, Size::bytes, 32}}},
    {SYS_ptrace, {{3, Size::bytes, 4096}, {3, Size::vectors, 0}}},
    {SYS_getgroups, {{1, Size::words, 0}}},
    {SYS_getresuid, {{0, Size::bytes, 4}, {1, Size::bytes, 4}, {2, Size::bytes, 4}}},
    {SYS_getresgid, {{0, Size::bytes, 4}, {1, Size::bytes, 4}, {2, Size::bytes, 4}}},
    {SYS_capget, {{0, Size::bytes, 8}, {1, Size::bytes, 24}}},
    {SYS_capset, {{0, Size::bytes, 8}}},
    {SYS_rt_sigpending, {{0, Size::bytes, 8}}},
    {SYS_rt_sigtimedwait, {{1, Size::bytes, siginfo_bytes}}},
    {SYS_ustat, {{1, Size::bytes, 32}}},
    {SYS_statfs, {{1, Size::bytes, statfs_bytes}}},
    {SYS_fstatfs, {{1, Size::bytes, statfs_bytes}}},
    {SYS_sysfs, {{2, Size::bytes, 256}}},
    {SYS_sched_getparam, {{1, Size::bytes, 4}}},
    {SYS_sched_rr_get_interval, {{1, Size::bytes, timespec_bytes}}},
    {SYS_modify_ldt, {{1, Size::by, 2}}},
    {SYS_prctl, {{1, Size::bytes, 512}, {2, Size::bytes, 8}, {4, Size::bytes, 8}}},
    {SYS_arch_prctl, {{1, Size::bytes, 8}}},
    {SYS_adjtimex, {{0, Size::bytes, 208}}},
    {SYS_quotactl, {{3, Size::bytes, 256}}},
    {SYS_getxattr, {{2, Size::by, 3}}},
    {SYS_lgetxattr, {{2, Size::by, 3}}},
    {SYS_fgetxattr, {{2, Size::by, 3}}},
    {SYS_listxattr, {{1, Size::by, 2}}},
    {SYS_llistxattr, {{1, Size::by, 2}}},
    {SYS_flistxattr, {{1, Size::by, 2}}},
    {SYS_time, {{0, Size::bytes, 8}}},
    {SYS_sched_getaffinity, {{2, Size::by, 1}}},
    {SYS_io_setup, {{1, Size::bytes, 8}}},
    {SYS_io_getevents, {{3, Size::events, 2}}},
    {SYS_io_cancel, {{2, Size::bytes, 32}}},
    {SYS_lookup_dcookie, {{1, Size::by, 2}}},
    {SYS_remap_file_pages, {{0, Size::mappings, 1}}},
    {SYS_getdents64, {{1, Size::by, 2}}},
    {SYS_timer_create, {{2, Size::bytes, 8}}},
    {SYS_timer_settime, {{3, Size::bytes, itimer_bytes}}},
    {SYS_timer_gettime, {{1, Size::bytes, itimer_bytes}}},
    {SYS_clock_gettime, {{1, Size::bytes, timespec_bytes}}},
    {SYS_clock_getres, {{1, Size::bytes, timespec_bytes}}},
    {SYS_clock_nanosleep, {{3, Size::bytes, timespec_bytes}}},
    {SYS_epoll_wait, {{1, Size::events, 2}}},
    {SYS_get_mempolicy, {{0, Size::bytes, 4}, {1, Size::bits, 2}}},
    {SYS_mq_timedreceive, {{1, Size::by, 2}, {3, Size::bytes, 4}}},
    {SYS_mq_getsetattr, {{2, Size::bytes, 64}}},
    {SYS_waitid, {{2, Size::bytes, siginfo_bytes}, {4, Size::bytes, rusage_bytes}}},
    {SYS_newfstatat, {{2, Size::bytes, stat_bytes}}},
    {SYS_readlinkat, {{2, Size::by, 3}}},
    {SYS_pselect6, {{1, Size::bits, 0}, {2, Size::bits, 0}, {3, Size::bits, 0}, {4, Size::bytes, 16}}},
    {SYS_ppoll, {{0, Size::pollfds, 1}, {2, Size::bytes, timespec_bytes}}},
    {SYS_get_robust_list, {{1, Size::bytes, 8}, {2, Size::bytes, 8}}},
    {SYS_splice, {{1, Size::bytes, 8}, {3, Size::bytes, 8}}},
    {SYS_vmsplice, {{1, Size::vectors, 2}}},
    {SYS_move_pages, {{4, Size::words, 1}}},
    {SYS_epoll_pwait, {{1, Size::events, 2}}},
    {SYS_timerfd_settime, {{3, Size::bytes, itimer_bytes}}},
    {SYS_timerfd_gettime, {{1, Size::bytes, itimer_bytes}}},
    {SYS_accept4, {{1, Size::at, 2}}},
    {SYS_pipe2, {{0, Size::bytes, 8}}},
    {SYS_preadv, {{1, Size::vectors, 2}}},
    {SYS_perf_event_open, {{0, Size::bytes, 8}}},
    {SYS_recvmmsg, {{1, Size::messages, 2}, {4, Size::bytes, timespec_bytes}}},
    {SYS_prlimit64, {{3, Size::bytes, 16}}},
    {SYS_name_to_handle_at, {{2, Size::bytes, 136}, {3, Size::bytes, 8}}},
    {SYS_clock_adjtime, {{1, Size::bytes, 208}}},
    {SYS_sendmmsg, {{1, Size::sent, 2}}},
    {SYS_getcpu, {{0, Size::bytes, 4}, {1, Size::bytes, 4}}},
    {SYS_process_vm_readv, {{1, Size::vectors, 2}}},
    {SYS_process_vm_writev, {{3, Size::vectors, 4}}},
    {SYS_sched_setattr, {{1, Size::bytes, 64}}},
    {SYS_sched_getattr, {{1, Size::by, 2}}},
    {SYS_seccomp, {{2, Size::bytes, 8}}},
    {SYS_getrandom, {{0, Size::by, 1}}},
    {SYS_copy_file_range, {{1, Size::bytes, 8}, {3, Size::bytes, 8}}},
    {SYS_preadv2, {{1, Size::vectors, 2}}},
    {SYS_pkey_mprotect, {{0, Size::mappings, 1}}},
    {SYS_statx, {{4, Size::bytes, 256}}},
    {SYS_io_pgetevents, {{3, Size::events, 2}}},
    {425 /* io_uring_setup */, {{1, Size::bytes, 120}}},
    {441 /* epoll_pwait2 */, {{1, Size::events, 2}}},
    {443 /* quotactl_fd */, {{3, Size::bytes, 256}}},
    {451 /* cachestat */, {{2, Size::bytes, 64}}},
    {457 /* statmount */, {{1, Size::by, 2}}},
    {458 /* listmount */, {{1, Size::events, 2}}},
    {459 /* lsm_get_self_attr */, {{1, Size::at, 2}}},
    {461 /* lsm_list_modules */, {{0, Size::at, 1}}},
    {462 /* mseal */, {{0, Size::mappings, 1}}},
    {465 /* listxattrat */, {{3, Size::by, 4}}},
    {468 /* file_getattr */, {{2, Size::by, 3}}},
};
constexpr u64 last_known = 470;

constexpr u32 row_limit = 512;
struct Index {
  u8 row[row_limit] = {};  // index in `rows` + 1; 0 = none
  constexpr Index() {
    for (u32 i = 0; i < sizeof rows / sizeof *rows; i++) row[rows[i].number] = static_cast<u8>(i + 1);
  }
};
static_assert(sizeof rows / sizeof *rows < 255 && last_known < row_limit);
constexpr Index row_index;

constexpr u64 highest = 1ull << 47;  // limit of addresses and sizes: above all of a program's

/// Calls `each` with the output ranges of a system call that can exist.
class Outputs {
 public:
  Outputs(const Thread& t, void* to, EachOutput each) : thread_(t), to_(to), each_(each) {}

  bool visit();

 private:
  u64 argument(u32 i) const {
    static const u8 registers[] = {rdi, rsi, rdx, r10, r8, r9};
    return thread_.gpr[registers[i]];
  }
  template <class T>
  static T read(u64 address) {
    T value{};
    safe_copy(&value, reinterpret_cast<const void*>(address), sizeof value);
    return value;
  }
  void report(u64 address, u64 bytes) const {
    if (address < page_bytes || address >= highest || bytes == 0) return;
    each_(to_, address, bytes < highest - address ? bytes : highest - address);
  }
  void report(const OutputArgument& p) const;
  void vectors(u64 at, u64 n) const;
  void message(u64 at) const;
  void ioctl(u64 request, u64 argument) const;
  void find_addresses(u64 at, u32 bytes, u32 depth) const;
  void ends() const;

  static constexpr u64 vector_limit = 1024;  // IOV_MAX, which is also the limit of messages

  const Thread& thread_;
  void* to_;
  EachOutput each_;
};

void Outputs::vectors(u64 at, u64 n) const {
  for (u64 i = 0; i < n && i < vector_limit; i++) {
    const auto v = read<iovec>(at + i * sizeof(iovec));
    report(reinterpret_cast<u64>(v.iov_base), v.iov_len);
  }
}

void Outputs::message(u64 at) const {
  const auto m = read<msghdr>(at);
  report(at, sizeof m);
  report(reinterpret_cast<u64>(m.msg_name), m.msg_namelen);
  report(reinterpret_cast<u64>(m.msg_control), m.msg_controllen);
  vectors(reinterpret_cast<u64>(m.msg_iov), m.msg_iovlen);
}

void Outputs::report(const OutputArgument& p) const {
  const u64 at = argument(p.pointer), n = p.size == Size::bytes || p.size == Size::none ? 0 : argument(p.n);
  switch (p.size) {
    case Size::none: return;
    case Size::bytes: return report(at, p.n);
    case Size::by:
    case Size::mappings: return report(at, n);
    case Size::words: return report(at, (n < highest ? n : highest) * 4);
    case Size::bits: return report(at, (static_cast<u32>(n) + u64{63}) / 64 * 8);
    case Size::pollfds: return report(at, static_cast<u32>(n) * u64{8});
    case Size::events: return report(at, static_cast<u32>(n) * u64{32});
    case Size::at: report(n, sizeof(u32)); return report(at, read<u32>(n));
    case Size::pages: return report(at, page_up(n) / page_bytes);
    case Size::vectors: return vectors(at, p.n != 0 ? n : 1);
    case Size::message: return message(at);
    case Size::sent: return report(at, static_cast<u32>(n) * u64{sizeof(mmsghdr)});
    case Size::messages:
      for (u64 i = 0; i < static_cast<u32>(n) && i < vector_limit; i++) message(at + i * sizeof(mmsghdr));
      return report(at, static_cast<u32>(n) * u64{sizeof(mmsghdr)});
  }
}

/// Searches for pointers to memory that the kernel may write, when only the argument of the call is known. Treats each
/// word there as an address, and the words at that address too, down to `depth`.
void Outputs::find_addresses(u64 at, u32 bytes, u32 depth) const {
  constexpr u64 range_bytes = 1 << 20;
  constexpr u32 most = 256;
  if (at < page_bytes || at >= highest) return;
  report(at, range_bytes);
  if (depth == 0) return;
  // One copy for all words, because a copy from an unmapped address costs a fault.
  u64 words[most / sizeof(u64)] = {};
  safe_copy(words, reinterpret_cast<const void*>(at & ~7ull), bytes < most ? bytes : most);
  for (const u64 word : words) find_addresses(word, most, depth - 1);
}

/// Derives the outputs from the number of an ioctl. The newer numbers contain the size.
void Outputs::ioctl(u64 request, u64 at) const {
  constexpr u64 terminals = 'T', sockets = 0x89, faults = 0xaa;
  constexpr u64 copies = 3, zeroes = 4, moves = 5;  // of userfaultfd
  const u64 kind = request >> 8 & 0xff, number = request & 0xff;
  const bool has_size = request > 0xffff;
  const u64 bytes = request >> 16 & 0x3fff;
  if (has_size && kind == faults) {
    // struct uffdio_copy or similar: destination, source or length, length.
    report(at, bytes);
    report(read<u64>(at), number == zeroes ? read<u64>(at + 8) : number == copies ? read<u64>(at + 16) : 0);
    if (number == moves) report(read<u64>(at), read<u64>(at + 16)), report(read<u64>(at + 8), read<u64>(at + 16));
    return;
  }
  if (!has_size && kind == terminals) return report(at, 64);
  // Pointers in a structure that the call only reads may still lead to memory that it writes.
  const u32 searched = has_size && bytes < 256 ? static_cast<u32>(bytes) : !has_size && kind == sockets ? 40 : 256;
  find_addresses(at, searched, searched > 8 ? 2 : 0);
}

/// Reports what the kernel writes when a thread ends: the word that others wait for, and the locks that it still holds.
void Outputs::ends() const {
  report(thread_.cleared_at_end, 4);
  struct Head {
    u64 next;
    s64 offset;
    u64 pending;
  };
  if (thread_.robust_list == 0) return;
  const auto head = read<Head>(thread_.robust_list);
  constexpr u32 limit = 2048;  // the kernel's limit
  u64 entry = head.next & ~1ull;
  for (u32 i = 0; i < limit && entry >= page_bytes && entry != thread_.robust_list; i++) {
    report(entry + static_cast<u64>(head.offset), 4);
    entry = read<u64>(entry) & ~1ull;
  }
  if (head.pending != 0) report((head.pending & ~1ull) + static_cast<u64>(head.offset), 4);
}

bool writes_futex(u64 operation) {
  switch (operation & FUTEX_CMD_MASK) {
    case FUTEX_WAKE_OP:
    case FUTEX_LOCK_PI:
    case FUTEX_UNLOCK_PI:
    case FUTEX_TRYLOCK_PI:
    case FUTEX_LOCK_PI2:
    case FUTEX_WAIT_REQUEUE_PI:
    case FUTEX_CMP_REQUEUE_PI: return true;
    default: return false;
  }
}

bool Outputs::visit() {
  const u64 number = thread_.gpr[rax];
  switch (number) {
    case SYS_ioctl: ioctl(static_cast<u32>(argument(1)), argument(2)); return static_cast<u32>(argument(1)) >> 8 == 'T';
    case SYS_futex:
      if (writes_futex(argument(1))) report(argument(0), 4), report(argument(4), 4);
      return true;
    case SYS_exit: ends(); return true;
    case SYS_clone3:
      report(read<u64>(argument(0) + 8), 4);
      report(read<u64>(argument(0) + 16), 4);
      report(read<u64>(argument(0) + 24), 4);
      return true;
    case 464 /* getxattrat: struct xattr_args */:
      report(read<u64>(argument(4)), read<u32>(argument(4) + 8));
      return true;
    case SYS_setsockopt: find_addresses(argument(3), 64, 1); return true;
    case SYS_keyctl:
    case SYS_bpf:
    case 427 /* io_uring_register */: break;
    default:
      if (number > last_known) break;
      if (const u32 row = row_index.row[number]; row != 0)
        for (const OutputArgument& p : rows[row - 1].outputs) report(p);
      return true;
  }
  for (u32 i = 0; i < 6; i++) find_addresses(argument(i), 128, 2);
  return false;
}

}  // namespace

bool visit_outputs(const Thread& t, void* to, EachOutput each) { return Outputs(t, to, each).visit(); }

bool may_write(const Thread& t, u64 page) {
  const u64 start = page * page_bytes;
  if (t.cleared_at_end - start < page_bytes) return true;
  if (__atomic_load_n(&t.in_call, __ATOMIC_SEQ_CST) == 0) return false;
  bool found = false;
  each_output(t, [&](u64 address, u64 bytes) { found |= address < start + page_bytes && address + bytes > start; });
  return found;
}

bool open_outputs(const Thread& t) {
  if (!anything_watched()) return true;
  return each_output(t, [](u64 address, u64 bytes) {
    if (may_be_watched(address, bytes)) open_for_kernel(address, bytes);
  });
}

}  // namespace tally::engine::guest
