#include "tally/engine/guest/source_calls.hpp"

#include <array>
#include <initializer_list>

#include "tally/engine/clock.hpp"
#include "tally/engine/guest/counted_clock.hpp"
#include "tally/engine/guest/counted_waits.hpp"
#include "tally/engine/guest/fixed_random.hpp"
#include "tally/engine/guest/guest_signals.hpp"
#include "tally/engine/guest/presented_machine.hpp"
#include "tally/engine/guest/state_calls.hpp"
#include "tally/engine/guest/syscall_table.hpp"
#include "tally/engine/translate/entry.hpp"
#include "tally/engine/translate/source_probes.hpp"
#include "tally/engine/translate/x87_pointer.hpp"

namespace tally::engine::guest {
namespace {

using channel::Source;

/// The source that a system call reads, by number; source_count: none.
constexpr auto sources_of_calls = [] {
  std::array<u8, system_call_limit> of{};
  for (u8& source : of) source = channel::source_count;
  const auto set = [&](Source source, auto... numbers) { ((of[numbers] = static_cast<u8>(source)), ...); };
  set(channel::source_random_call, SYS_getrandom);
  set(channel::source_random_file, SYS_open, SYS_openat, 437 /* openat2 */);  // or another, by the path
  set(channel::source_clock, SYS_clock_gettime, SYS_gettimeofday, SYS_time, SYS_times, SYS_getrusage, SYS_timer_gettime,
      SYS_timerfd_gettime, SYS_getitimer, SYS_wait4, SYS_waitid);
  set(channel::source_host, SYS_uname, SYS_sysinfo);
  set(channel::source_pid, SYS_getpid, SYS_gettid, SYS_getppid, SYS_getpgrp, SYS_getpgid, SYS_getsid);
  set(channel::source_listing, SYS_getdents, SYS_getdents64);
  set(channel::source_kernel_file, SYS_stat, SYS_lstat, SYS_newfstatat, SYS_statx, SYS_readlink, SYS_readlinkat);
  set(channel::source_race, SYS_futex, 449 /* futex_waitv */, 454 /* futex_wake */, 455 /* futex_wait */);
  return of;
}();

/// What makes the content of a file the same in each run.
enum class FixedBy : u8 { nothing, machine, clock, both, itself };

/// A file that opening reads a source. A path that ends with '/' stands for all files below it. The first one holds.
struct SourceFile {
  char path[40];
  Source source;
  FixedBy fixed_by;
};
constexpr SourceFile source_files[] = {
    {"/dev/urandom", channel::source_random_file, FixedBy::nothing},
    {"/dev/random", channel::source_random_file, FixedBy::nothing},
    {"/proc/uptime", channel::source_clock, FixedBy::clock},
    {"/proc/self/stat", channel::source_clock, FixedBy::clock},
    {"/proc/stat", channel::source_host, FixedBy::both},
    {"/proc/loadavg", channel::source_host, FixedBy::machine},
    {"/proc/meminfo", channel::source_host, FixedBy::machine},
    {"/proc/cpuinfo", channel::source_host, FixedBy::machine},
    {"/proc/version", channel::source_host, FixedBy::itself},
    {"/proc/sys/kernel/random/boot_id", channel::source_host, FixedBy::machine},
    {"/proc/sys/kernel/random/uuid", channel::source_random_file, FixedBy::machine},
    {"/proc/sys/kernel/random/", channel::source_kernel_file, FixedBy::nothing},
    {"/proc/sys/kernel/ns_last_pid", channel::source_kernel_file, FixedBy::nothing},
    {"/proc/sys/kernel/", channel::source_host, FixedBy::itself},
    {"/proc/sys/fs/file-nr", channel::source_kernel_file, FixedBy::nothing},
    {"/sys/devices/system/cpu/", channel::source_host, FixedBy::itself},
};
/// The other files of /proc that are the same in each run: settings, and what the program does not change.
constexpr char lasting_files[][32] = {
    "/proc/sys/",         "/proc/self/maps",   "/proc/self/exe",    "/proc/self/cmdline", "/proc/self/comm",
    "/proc/self/environ", "/proc/self/auxv",   "/proc/self/cgroup", "/proc/self/mounts",  "/proc/self/mountinfo",
    "/proc/mounts",       "/proc/filesystems", "/proc/cmdline"};
constexpr SourceFile changing_file{"/proc/", channel::source_kernel_file, FixedBy::nothing};

bool is_fixed(const SourceFile& file) {
  switch (file.fixed_by) {
    case FixedBy::nothing: return false;
    case FixedBy::machine: return machine_is_fixed();
    case FixedBy::clock: return clock_is_counted();
    case FixedBy::both: return machine_is_fixed() && clock_is_counted();
    case FixedBy::itself: return true;
  }
  return false;
}

/// The length of the beginning that both texts have in common.
u32 common_length(const char* a, const char* b) {
  u32 n = 0;
  while (a[n] != 0 && a[n] == b[n]) n++;
  return n;
}

/// Whether a file of /sys has a measurement, by the words of its path: memory.current, scaling_cur_freq, cpu.stat,
/// temp1_input, statistics/rx_bytes.
bool is_measurement(const char* path) {
  constexpr char words[][11] = {"cur",        "stat",  "numastat", "vmstat", "stats",
                                "statistics", "usage", "pressure", "temp",   "procs"};
  const auto ends = [](char c) { return c == 0 || c == '/' || c == '.' || c == '_'; };
  for (const char* at = path; *at != 0; at++) {
    if (is_equal(at, "_input") || is_equal(at, "current_now")) return true;  // not the directory input
    if (at != path && !ends(at[-1])) continue;
    if (is_equal(at, "current")) return true;  // not current_clocksource
    for (const auto& word : words)
      if (const u32 n = common_length(at, word); word[n] == 0 && ends(at[n])) return true;
  }
  return false;
}

/// Whether a path of a list is this one, or a directory above it.
bool covers(const char* listed, const char* path) {
  const u32 n = common_length(listed, path);
  return listed[n] == 0 && (path[n] == 0 || listed[n - 1] == '/');
}

/// Returns the entry of the file in the path of the call in the thread's registers, or null.
const SourceFile* source_file(const Thread* t) {
  char path[128] = {};
  const u64 number = t->gpr[rax];
  const bool is_first = number == SYS_open || number == SYS_stat || number == SYS_lstat || number == SYS_readlink;
  (void)safe_copy(path, reinterpret_cast<const void*>(t->gpr[is_first ? rdi : rsi]), sizeof path - 1);
  if (covers("/sys/", path) && is_measurement(path)) return &changing_file;
  for (const SourceFile& file : source_files)
    if (covers(file.path, path)) return &file;
  for (const auto& lasting : lasting_files)
    if (covers(lasting, path)) return nullptr;
  return covers("/proc/", path) || covers("/proc", path) ? &changing_file : nullptr;
}

/// Returns the source in a file. What --repeatable and --clock counted leave real is not of a source that they answer.
u32 source_of_file(const Thread* t, bool is_opened) {
  constexpr u32 none = channel::source_count;
  const SourceFile* const file = source_file(t);
  if (file == nullptr) return none;
  if (!is_opened) return file->source == channel::source_kernel_file ? file->source : none;
  if (file->source == channel::source_host && machine_is_fixed() && !is_fixed(*file))
    return channel::source_kernel_file;
  const bool has_ids = file->source == channel::source_clock && covers("/proc/self/", file->path);
  return has_ids && clock_is_counted() ? channel::source_pid : file->source;
}

/// The thread that made the last futex call at an address. Addresses that share an entry replace each other.
struct FutexUse {
  u64 address;
  const Thread* by;
};
LARGE FutexUse futex_uses[1024];

bool is_race(const Thread* t, u64 address) {
  FutexUse& use = futex_uses[address / 4 % (sizeof futex_uses / sizeof futex_uses[0])];
  const bool by_another = use.address == address && use.by != t;
  use = {address, t};
  return by_another;
}

/// Returns the source that the call reads, of the one that its number may read; source_count: none.
u32 source_read(const Thread* t, u32 number, u32 source) {
  const u64* const g = t->gpr;
  bool reads = true;
  if (source == channel::source_race) reads = is_race(t, g[rdi]);
  if (number == SYS_wait4) reads = g[r10] != 0;
  if (number == SYS_waitid) reads = g[r8] != 0;
  if (source == channel::source_random_file || source == channel::source_kernel_file)
    return source_of_file(t, source == channel::source_random_file);
  return reads ? source : u32{channel::source_count};
}

constexpr u64 syscall_bytes = 2;

/// Adds program memory to a hash; what cannot be read counts as zeros.
u64 hash_of(u64 hash, u64 from, u64 bytes) {
  for (u64 i = 0; i < bytes; i += 8) {
    u64 word = 0;
    (void)safe_copy(&word, reinterpret_cast<const void*>(from + i), bytes - i < 8 ? bytes - i : 8);
    hash = channel::checksum_with(hash, word);
  }
  return hash;
}

/// The names in a buffer of getdents(2) or getdents64(2), in their order.
u64 hash_of_names(u64 buffer, u64 bytes, u64 name_at) {
  constexpr u64 length_at = 16, shortest = 24;
  u64 hash = 1;
  for (u64 at = 0; at + shortest <= bytes;) {
    u16 length = 0;
    (void)safe_copy(&length, reinterpret_cast<const void*>(buffer + at + length_at), sizeof length);
    if (length < shortest) break;
    char name[256] = {};
    (void)safe_copy(name, reinterpret_cast<const void*>(buffer + at + name_at),
                    length - name_at < 255 ? length - name_at : 255);
    for (const char* c = name; *c != 0; c++) hash = channel::checksum_with(hash, static_cast<u8>(*c));
    at += length;
  }
  return hash;
}

/// Returns a hash of what a call that reads a source has returned and written; 0: unknown.
u64 value_of_call(const Thread* t, u32 source, s64 result) {
  const u64* g = t->gpr;
  if (source == channel::source_race || source == channel::source_kernel_file || source == channel::source_state)
    return 0;
  if (sources_of_calls[g[rax]] == channel::source_random_file) {
    const SourceFile* const file = source_file(t);
    return file != nullptr && !is_fixed(*file) ? 0 : 1;
  }
  const u64 hash = channel::checksum_with(1, static_cast<u64>(result));
  if (result < 0) return hash;
  switch (g[rax]) {
    case SYS_getrandom: return hash_of(hash, g[rdi], static_cast<u64>(result));
    case SYS_clock_gettime: return hash_of(hash, g[rsi], 16);
    case SYS_gettimeofday: return hash_of(hash, g[rdi], 16);
    case SYS_getrusage: return hash_of(hash, g[rsi], 144);
    case SYS_wait4: return result == 0 ? 1 : hash_of(1, g[r10], 32);  // the result is a process ID
    case SYS_waitid: return hash_of(hash, g[r8], 32);
    case SYS_timer_gettime:
    case SYS_timerfd_gettime:
    case SYS_getitimer: return hash_of(hash, g[rsi], 32);
    case SYS_uname: return hash_of(hash, g[rdi], 390);
    case SYS_sysinfo: return hash_of(hash, g[rdi], 112);
    case SYS_getdents: return hash_of_names(g[rsi], static_cast<u64>(result), 18);
    case SYS_getdents64: return hash_of_names(g[rsi], static_cast<u64>(result), 19);
    default: return hash;
  }
}

/// Returns a hash of what an instruction that reads a source is about to read; 0: unknown.
u64 value_of(Thread* t, const Instruction& in, Source source) {
  if (is_emulated(in)) return 1;
  if (source != channel::source_cpuid && source != channel::source_xgetbv) return 0;
  if (source == channel::source_xgetbv) return 1 + settings().cpu.components;
  const u32 leaf = static_cast<u32>(t->gpr[rax]), subleaf = static_cast<u32>(t->gpr[rcx]);
  channel::CpuidAnswer answer{leaf, 0, subleaf, 0};
  if (settings().cpu.any())
    answer = channel::answer_cpuid(settings().cpu, leaf, subleaf);
  else
    asm volatile("cpuid" : "+a"(answer.eax), "=b"(answer.ebx), "+c"(answer.ecx), "=d"(answer.edx));
  // Not the number of the processor core that the thread happens to run on.
  constexpr u32 features = 1, topology = 0xb, topology_of_dies = 0x1f, amd_topology = 0x8000001e;
  if (leaf == features) answer.ebx &= 0x00ffffff;
  if (leaf == topology || leaf == topology_of_dies) answer.edx = 0;
  if (leaf == amd_topology) answer = {};
  return channel::checksum_with(channel::checksum_with(1, u64{answer.eax} << 32 | answer.ebx),
                                u64{answer.ecx} << 32 | answer.edx);
}

void set_operand(Thread* t, const Instruction& in, u64 number) {
  u64& to = t->gpr[in.rm()];
  to = in.operand_bits == 16 ? (to & ~u64{0xffff}) | number : number;
}

/// Executes rdrand or rdseed.
void give_random_number(Thread* t, const Instruction& in) {
  u64 number = 0;
  fill_random(&number, in.operand_bits / 8);
  set_operand(t, in, number);
  t->flags = (t->flags & ~u64{carry | counter_flags}) | carry;  // carry: the number is valid
}

/// Does what a function of the vdso does, except for its return.
void call_vdso(Thread* t) {
  constexpr u32 first_processor = 0;
  u64* const g = t->gpr;
  switch (vdso_function_at(t->pc)) {
    case VdsoFunction::get_processor:
      for (const u64 to : {g[rdi], g[rsi]})
        if (to != 0) put(to, &first_processor, sizeof first_processor);
      g[rax] = 0;
      break;
    // Programs then make the system call.
    case VdsoFunction::get_random: g[rax] = static_cast<u64>(-ENOSYS); break;
    default: call_clock_function(t); break;
  }
}

/// Executes an instruction, or a function of the vdso until its return, with the same result in each run.
void answer_source(Thread* t, const Instruction& in) {
  if (is_in_vdso(in.pc)) {
    call_vdso(t);
    t->pc = vdso_return_after(in.pc);
    return dispatch(t);
  }
  if (reads_processor_number(in)) {
    set_operand(t, in, 0);
  } else if (source_of(in) == channel::source_time_stamp) {
    read_time_stamp(t);
    constexpr u8 with_processor_number = 0xf9;
    if (in.opcode == 0x01 && in.modrm == with_processor_number) t->gpr[rcx] = 0;
  } else {
    give_random_number(t, in);
  }
  channel::Totals delta;
  delta.field[channel::instructions] = 1;
  correct(t, in.pc, delta);
  t->pc = in.next();
  dispatch(t);
}

}  // namespace

u32 count_sources_of_call(Thread* t) {
  const u64 number = t->gpr[rax];
  u32 source = number < system_call_limit ? sources_of_calls[number] : u32{channel::source_count};
  if (source != channel::source_count) source = source_read(t, static_cast<u32>(number), source);
  if (source == channel::source_count) return source;
  count_source(t, static_cast<Source>(source), t->pc - syscall_bytes);
  return source;
}

void note_read_of_call(Thread* t, u32 source, s64 result) {
  if (source != channel::source_kernel_file && returns_state(t, result)) {
    source = channel::source_state;
    count_source(t, channel::source_state, t->pc - syscall_bytes);
  }
  if (on_read == nullptr || source == channel::source_count || result == restart_counts) return;
  on_read(t, static_cast<Source>(source), t->pc - syscall_bytes, value_of_call(t, source, result));
}

void count_signal(Thread* t, const u8* info) {
  const u64 at_info = reinterpret_cast<u64>(info);
  const s32 code = at<s32>(at_info + 8), sender = at<s32>(at_info + 16);
  constexpr s32 by_user = 0, by_queue = -1, by_tkill = -6;
  if (clock_is_counted()) note_timer_signal(t, info);
  const bool has_sender = code == by_user || code == by_queue || code == by_tkill;
  if (has_sender && sender == process_record(t).pid) return;
  count_source(t, channel::source_signal, t->pc);
  if (on_read != nullptr) on_read(t, channel::source_signal, t->pc, 0);
}

}  // namespace tally::engine::guest

namespace tally::engine::translate {

extern "C" void source_is_read(Thread* t) {
  u8 bytes[16] = {};
  Instruction in;
  if (!decode(t->pc, bytes, read_code(t->pc, bytes, 15), in) || !enters_first(in)) return;
  if (stores_x87_pointer(in)) return show_program_x87();
  if (source_of(in) != channel::source_count) {
    count_source(t, source_of(in), t->pc);
    if (on_read != nullptr) on_read(t, source_of(in), t->pc, guest::value_of(t, in, source_of(in)));
  }
  if (is_emulated(in)) guest::answer_source(t, in);
}

}  // namespace tally::engine::translate
