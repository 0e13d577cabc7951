#include "tally/engine/guest/source_calls.hpp"

#include <array>

#include "tally/engine/guest/fixed_random.hpp"
#include "tally/engine/guest/signals.hpp"
#include "tally/engine/guest/syscall_table.hpp"
#include "tally/engine/translate/entry.hpp"
#include "tally/engine/translate/sources.hpp"

namespace tally::engine::guest {
namespace {

using channel::Source;

/// The source that a system call reads, by number; source_count: none.
constexpr auto sources_of_calls = [] {
  std::array<u8, system_call_limit> of{};
  for (u8& source : of) source = channel::source_count;
  const auto set = [&](Source source, auto... numbers) { ((of[numbers] = static_cast<u8>(source)), ...); };
  set(channel::source_random_call, SYS_getrandom);
  set(channel::source_random_file, SYS_open, SYS_openat, 437 /* openat2 */);  // depends on the path
  set(channel::source_clock, SYS_clock_gettime, SYS_gettimeofday, SYS_time, SYS_times, SYS_getrusage);
  set(channel::source_pid, SYS_getpid, SYS_gettid, SYS_getppid, SYS_getpgrp, SYS_getpgid, SYS_getsid);
  set(channel::source_listing, SYS_getdents, SYS_getdents64);
  set(channel::source_race, SYS_futex, 449 /* futex_waitv */, 454 /* futex_wake */, 455 /* futex_wait */);
  return of;
}();

bool is_random_file(u64 path) {
  static const char names[][16] = {"/dev/urandom", "/dev/random"};
  for (const auto& name : names) {
    u32 length = 0;
    while (name[length] != 0) length++;
    if (safe_compare(name, reinterpret_cast<const void*>(path), length + 1) == 0) return true;
  }
  return false;
}

/// The thread that made the last futex call at an address. Addresses that share an entry replace each other.
struct FutexUse {
  u64 address;
  const Thread* by;
};
FutexUse futex_uses[1024];

bool is_race(const Thread* t, u64 address) {
  FutexUse& use = futex_uses[address / 4 % (sizeof futex_uses / sizeof futex_uses[0])];
  const bool by_another = use.address == address && use.by != t;
  use = {address, t};
  return by_another;
}

bool reads(const Thread* t, u32 number, u32 source) {
  if (source == channel::source_random_file) return is_random_file(t->gpr[number == SYS_open ? rdi : rsi]);
  return source != channel::source_race || is_race(t, t->gpr[rdi]);
}

/// Executes rdrand or rdseed.
void give_random_number(Thread* t, const Instruction& in) {
  u64 number = 0;
  fill_random(&number, in.operand_bits / 8);
  u64& to = t->gpr[in.rm()];
  to = in.operand_bits == 16 ? (to & ~u64{0xffff}) | number : number;
  t->flags = (t->flags & ~u64{carry | counter_flags}) | carry;  // carry: the number is valid
  channel::Totals delta;
  delta.field[channel::instructions] = 1;
  correct(t, in.pc, delta);
  t->pc = in.next();
  dispatch(t);
}

}  // namespace

void count_sources_of_call(Thread* t) {
  constexpr u64 syscall_bytes = 2;
  const u64 number = t->gpr[rax];
  const u32 source = number < system_call_limit ? sources_of_calls[number] : u32{channel::source_count};
  if (source != channel::source_count && reads(t, static_cast<u32>(number), source))
    count_source(t, static_cast<Source>(source), t->pc - syscall_bytes);
}

void count_signal(Thread* t, const u8* info) {
  const u64 at_info = reinterpret_cast<u64>(info);
  const s32 code = at<s32>(at_info + 8), sender = at<s32>(at_info + 16);
  constexpr s32 by_user = 0, by_queue = -1, by_tkill = -6;
  const bool has_sender = code == by_user || code == by_queue || code == by_tkill;
  if (!has_sender || sender != process_record(t).pid) count_source(t, channel::source_signal, t->pc);
}

}  // namespace tally::engine::guest

namespace tally::engine::translate {

extern "C" void source_is_read(Thread* t) {
  u8 bytes[16] = {};
  Instruction in;
  if (!decode(t->pc, bytes, read_code(t->pc, bytes, 15), in) || !reads_source(in)) return;
  count_source(t, source_of(in), t->pc);
  if (is_emulated(in)) guest::give_random_number(t, in);
}

}  // namespace tally::engine::translate
