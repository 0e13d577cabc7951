#include "programs/stepper/tracee.hpp"

#include <cpuid.h>
#include <elf.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

namespace tally::stepper {
namespace {

bool is_syscall(const Instruction& instruction) {
  return instruction.special == Special::syscall || instruction.special == Special::int_syscall;
}

constexpr uint64_t trap_flag = 0x100;
constexpr int seccomp_code = 1;  // SYS_SECCOMP of <asm-generic/siginfo.h>
constexpr uint64_t page_bytes = 4096;

std::array<uint8_t, 15> read_code(pid_t tid, uint64_t address, size_t& length) {
  std::array<uint8_t, 15> bytes{};
  const size_t in_page = std::min<size_t>(bytes.size(), page_bytes - address % page_bytes);
  iovec local{bytes.data(), bytes.size()};
  // Two ranges, because a transfer stops before the first range that cannot be read.
  const iovec remote[2] = {{reinterpret_cast<void*>(address), in_page},
                           {reinterpret_cast<void*>(address + in_page), bytes.size() - in_page}};
  const ssize_t got = process_vm_readv(tid, &local, 1, remote, in_page < bytes.size() ? 2 : 1, 0);
  length = got > 0 ? static_cast<size_t>(got) : 0;
  if (length > 0) return bytes;
  // ptrace can read execute-only pages.
  for (size_t at = 0; at < in_page; at += sizeof(long)) {
    errno = 0;
    const size_t from = std::min(at, in_page >= sizeof(long) ? in_page - sizeof(long) : 0);
    const long word = ptrace(PTRACE_PEEKTEXT, tid, address + from, nullptr);
    if (errno != 0) break;
    const size_t count = std::min(sizeof(word), bytes.size() - from);
    std::memcpy(bytes.data() + from, &word, count);
    length = std::min(in_page, from + count);
  }
  return bytes;
}

/// Whether the system call ended with a kernel-internal code that restarts it after a signal.
bool may_restart(const user_regs_struct& registers) {
  if (static_cast<int64_t>(registers.orig_rax) < 0) return false;
  const auto code = -static_cast<int64_t>(registers.rax);
  return code == 512 || code == 513 || code == 514 || code == 516;
}

CodeMode mode_of(const user_regs_struct& registers) {
  constexpr uint64_t code_segment_32bit = 0x23;
  return registers.cs == code_segment_32bit ? CodeMode::bits32 : CodeMode::bits64;
}

bool ignored_by_default(int signal) {
  return signal == SIGCHLD || signal == SIGCONT || signal == SIGURG || signal == SIGWINCH;
}

}  // namespace

const Instruction& DecodeCache::at(uint64_t address, CodeMode mode, std::span<const uint8_t> bytes) {
  Entry& entry = entries_[static_cast<size_t>(mode)][address];
  const bool known = entry.instruction.length > 0 && entry.instruction.length <= bytes.size() &&
                     std::equal(entry.bytes.begin(), entry.bytes.begin() + entry.instruction.length, bytes.begin());
  if (!known) {
    std::copy(bytes.begin(), bytes.end(), entry.bytes.begin());
    entry.instruction = decode(bytes, mode);
  }
  return entry.instruction;
}

void Tracee::read_next_instruction() {
  ptrace(PTRACE_GETREGS, tid_, nullptr, &before_);
  steps_itself_ |= !fresh_ && (before_.eflags & trap_flag) != 0;
  restarting_ = may_restart(before_);
  if (restarting_) before_.rip -= 2;
  size_t length = 0;
  const auto bytes = read_code(tid_, before_.rip, length);
  pending_ = length > 0 ? cache_->at(before_.rip, mode_of(before_), std::span(bytes).first(length)) : Instruction{};
  if (pending_.special == Special::gather || pending_.special == Special::scatter) mask_before_ = read_mask();
  constexpr uint32_t ptrace_of_32_bits = 26;
  steps_itself_ |= is_syscall(pending_) &&
                   static_cast<uint32_t>(before_.rax) == (is_64_bit_call() ? uint32_t{SYS_ptrace} : ptrace_of_32_bits);
  if (changes_signal_mask()) {
    errno = 0;
    set_before_ = before_.rsi != 0 ? static_cast<uint64_t>(ptrace(PTRACE_PEEKDATA, tid_, before_.rsi, nullptr)) : 0;
    if (errno != 0) set_before_ = 0;
  }
}

bool Tracee::resume(int signal) {
  read_next_instruction();
  while (signal == 0 && ((pending_.special == Special::pop_flags && pop_flags()) || refuse_rseq())) {
    note_row();
    read_next_instruction();
  }
  return ptrace(PTRACE_SINGLESTEP, tid_, nullptr, signal) == 0;
}

void Tracee::go_on() { ptrace(PTRACE_SINGLESTEP, tid_, nullptr, 0); }

int Tracee::stopped(int status) {
  siginfo_t info{};
  // No siginfo: the whole process is stopped.
  if (ptrace(PTRACE_GETSIGINFO, tid_, nullptr, &info) != 0) return 0;
  const int signal = WSTOPSIG(status);
  if (signal == SIGTRAP) {
    // When the kernel reports the frame of a handler, the code is the signal's number. No instruction was executed.
    if (info.si_code == SIGTRAP) {
      needless_restart_ = false;
      keep_trap_open();
      return 0;
    }
    if (info.si_code == TRAP_TRACE || info.si_code == TRAP_BRKPT) {
      const bool own = pending_.special == Special::trap;
      step_done(info.si_code);
      return own ? SIGTRAP : 0;
    }
    if (info.si_code == SI_KERNEL && pending_.special == Special::trap) step_done(info.si_code);
    return SIGTRAP;
  }
  if (fresh_ && signal == SIGSTOP) return 0;
  if (pending_.special == Special::gather || pending_.special == Special::scatter) {
    // A fault in the middle: completed elements are cleared in the mask.
    count_elements(mask_before_ & ~read_mask());
  }
  if (signal == SIGSYS && info.si_code == seccomp_code && is_syscall(pending_)) {
    user_regs_struct after{};
    ptrace(PTRACE_GETREGS, tid_, nullptr, &after);
    retire(after);
  }
  if (signal == SIGSEGV && pending_.special == Special::trap) {
    // `int 4` is the overflow trap, which retires. Other vectors fault at the instruction.
    user_regs_struct after{};
    ptrace(PTRACE_GETREGS, tid_, nullptr, &after);
    if (after.rip == before_.rip + pending_.length) retire(after);
  }
  if (restarting_) needless_restart_ = is_ignored(signal);
  return signal;
}

void Tracee::ended() {
  if (!fresh_ && is_syscall(pending_)) {
    ++counts_.instructions;
    ++counts_.far;
    note_row();
  }
}

void Tracee::step_done(int trap_code) {
  user_regs_struct after{};
  ptrace(PTRACE_GETREGS, tid_, nullptr, &after);
  // `syscall` stores the flags in r11; sigreturn restores the program's own r11.
  const bool flags_in_r11 = fresh_ || (pending_.special == Special::syscall && before_.rax != SYS_rt_sigreturn);
  if (flags_in_r11) hide_trap_flag_in_r11(after);
  const bool of_creator = fresh_ && trap_code == TRAP_BRKPT;
  fresh_ = false;
  if (of_creator) return;
  if (std::exchange(needless_restart_, false) && restarting_) return;
  retire(after);
  if (pending_.special == Special::push_flags) hide_trap_flag_on_stack(after);
  if (changes_signal_mask() && after.rax == 0) keep_blocked_trap();
  // One trap for several instructions.
  while (pending_.special == Special::stack_segment ||
         (pending_.special == Special::emulated && after.rip != before_.rip + pending_.length)) {
    before_.rip += pending_.length;
    size_t length = 0;
    const auto bytes = read_code(tid_, before_.rip, length);
    pending_ = cache_->at(before_.rip, mode_of(before_), std::span(bytes).first(length));
    retire(after);
  }
}

void Tracee::retire(const user_regs_struct& after) {
  const uint64_t instructions = counts_.instructions;
  account(after);
  if (counts_.instructions != instructions) note_row();
}

void Tracee::note_row() const {
  if (rows_->file == nullptr || counts_.instructions % rows_->every != 0) return;
  const Counts& c = counts_;
  std::fprintf(rows_->file, "%d %#llx", number_, static_cast<unsigned long long>(before_.rip));
  for (const uint64_t count : {c.instructions, c.conditional, c.taken, c.direct_jumps, c.indirect_jumps, c.direct_calls,
                               c.indirect_calls, c.returns, c.far, c.loads, c.stores, c.prefetches})
    std::fprintf(rows_->file, " %llu", static_cast<unsigned long long>(count));
  std::fputc('\n', rows_->file);
}

void Tracee::account(const user_regs_struct& after) {
  if (pending_.special == Special::repeated_string) {
    const uint64_t width = pending_.narrow_counter ? 0xffffffffu : ~uint64_t{0};
    const uint64_t iterations = (before_.rcx - after.rcx) & width;
    counts_.loads += pending_.loads * iterations;
    counts_.stores += pending_.stores * iterations;
    if (after.rip != before_.rip) ++counts_.instructions;
    return;
  }
  const bool by_elements = pending_.special == Special::gather || pending_.special == Special::scatter;
  if (pending_.length > 0 && pending_.flow == Flow::next && after.rip == before_.rip) {
    // A trap after completed elements is delivered instead of the next element's fault (SDM volume 2, VPGATHERDD). The
    // rows of a tile are elements, too, and its load counts when it is complete.
    if (by_elements) count_elements(mask_before_ & ~read_mask());
    return;
  }
  ++counts_.instructions;
  counts_.loads += pending_.loads;
  counts_.stores += pending_.stores;
  counts_.prefetches += pending_.prefetches;
  if (by_elements) count_elements(mask_before_);
  count_flow(after);
}

void Tracee::count_flow(const user_regs_struct& after) {
  switch (pending_.flow) {
    case Flow::next: break;
    case Flow::conditional:
      ++counts_.conditional;
      counts_.taken += is_taken(after);
      break;
    case Flow::direct_jump: ++counts_.direct_jumps; break;
    case Flow::indirect_jump: ++counts_.indirect_jumps; break;
    case Flow::direct_call: ++counts_.direct_calls; break;
    case Flow::indirect_call: ++counts_.indirect_calls; break;
    case Flow::ret: ++counts_.returns; break;
    case Flow::far: ++counts_.far; break;
  }
}

bool Tracee::is_taken(const user_regs_struct& after) const {
  const uint8_t condition = pending_.condition;
  if (condition == condition_by_address) return after.rip != before_.rip + pending_.length;
  const auto flag = [this](int bit) { return (before_.eflags >> bit & 1) != 0; };
  const bool carry = flag(0), parity = flag(2), zero = flag(6), sign = flag(7), overflow = flag(11);
  const uint64_t width = pending_.narrow_counter ? 0xffffffffu : ~uint64_t{0};
  const bool goes_round = ((before_.rcx - 1) & width) != 0;
  switch (condition) {
    case 0xe0: return goes_round && !zero;
    case 0xe1: return goes_round && zero;
    case 0xe2: return goes_round;
    case 0xe3: return (before_.rcx & width) == 0;
    default: break;
  }
  const bool holds[] = {overflow, carry, zero, carry || zero, sign, parity, sign != overflow, zero || sign != overflow};
  return holds[condition / 2] != (condition % 2 != 0);
}

void Tracee::count_elements(uint64_t mask) {
  const uint64_t valid = mask & ((uint64_t{1} << pending_.mask.elements) - 1);
  (pending_.special == Special::gather ? counts_.loads : counts_.stores) += static_cast<uint64_t>(std::popcount(valid));
}

uint64_t Tracee::read_mask() const {
  // Offsets in the standard XSAVE layout (SDM volume 1, 13.4); those of later components are from CPUID leaf 0xd.
  constexpr size_t xmm_offset = 160;
  std::vector<uint8_t> area(16384);
  iovec io{area.data(), area.size()};
  if (ptrace(PTRACE_GETREGSET, tid_, NT_X86_XSTATE, &io) != 0) return 0;
  const ElementMask& mask = pending_.mask;
  const auto component = [](unsigned number) {
    unsigned a = 0, b = 0, c = 0, d = 0;
    __cpuid_count(0xd, number, a, b, c, d);
    return size_t{b};
  };
  if (mask.opmask) {
    uint64_t bits = 0;
    std::memcpy(&bits, &area[component(5) + size_t{mask.register_index} * 8], sizeof bits);
    return bits;
  }
  std::array<uint8_t, 32> vector{};
  std::memcpy(vector.data(), &area[xmm_offset + size_t{mask.register_index} * 16], 16);
  std::memcpy(vector.data() + 16, &area[component(2) + size_t{mask.register_index} * 16], 16);
  uint64_t bits = 0;
  for (size_t i = 0; i < mask.elements; ++i) {
    const bool set = vector[(i + 1) * mask.element_bytes - 1] & 0x80;
    bits |= uint64_t{set} << i;
  }
  return bits;
}

/// Emulates the instruction. Returns false if the processor must execute it (it faults or sets the trap flag).
bool Tracee::pop_flags() {
  constexpr uint64_t writable = 0x40cd5;  // CF PF AF ZF SF DF OF AC
  errno = 0;
  const auto word = static_cast<uint64_t>(ptrace(PTRACE_PEEKDATA, tid_, before_.rsp, nullptr));
  if (errno != 0 || (word & trap_flag)) return false;
  const uint64_t mask = pending_.operand_bytes == 2 ? writable & 0xffff : writable;
  if (!set_registers({{offsetof(user, regs.eflags), (before_.eflags & ~mask) | (word & mask)},
                      {offsetof(user, regs.rsp), before_.rsp + pending_.operand_bytes},
                      {offsetof(user, regs.rip), before_.rip + pending_.length}}))
    return false;
  ++counts_.instructions;
  ++counts_.loads;
  return true;
}

/// Answers a registration of restartable sequences as the engine does. Returns false if it is another instruction.
bool Tracee::refuse_rseq() {
  if (!is_64_bit_call() || restarting_ || before_.rax != SYS_rseq) return false;
  const uint64_t next = before_.rip + pending_.length;
  if (!set_registers({{offsetof(user, regs.rax), static_cast<uint64_t>(-ENOSYS)},
                      {offsetof(user, regs.rcx), next},
                      {offsetof(user, regs.r11), before_.eflags & ~trap_flag},
                      {offsetof(user, regs.rip), next}}))
    return false;
  ++counts_.instructions;
  ++counts_.far;
  return true;
}

bool Tracee::set_registers(std::initializer_list<std::pair<size_t, uint64_t>> values) const {
  // One by one: PTRACE_SETREGS fails after it has set some registers if a data segment has not the user's privilege.
  return std::all_of(values.begin(), values.end(), [this](const auto& value) {
    return ptrace(PTRACE_POKEUSER, tid_, value.first, value.second) == 0;
  });
}

bool Tracee::is_64_bit_call() const {
  return pending_.special == Special::syscall && mode_of(before_) == CodeMode::bits64;
}

bool Tracee::changes_signal_mask() const { return is_64_bit_call() && before_.rax == SYS_rt_sigprocmask; }

void Tracee::keep_blocked_trap() {
  // The trap after the system call unblocks SIGTRAP: shows the program the mask that it set. posix_spawn() reads it.
  constexpr uint64_t trap = uint64_t{1} << (SIGTRAP - 1);
  if (blocks_trap_ && before_.rdx != 0) {
    errno = 0;
    const long old = ptrace(PTRACE_PEEKDATA, tid_, before_.rdx, nullptr);
    if (errno == 0) ptrace(PTRACE_POKEDATA, tid_, before_.rdx, old | static_cast<long>(trap));
  }
  if (before_.rsi == 0) return;
  const bool is_set = (set_before_ & trap) != 0;
  if (before_.rdi == SIG_SETMASK) blocks_trap_ = is_set;
  if (before_.rdi == SIG_BLOCK) blocks_trap_ |= is_set;
  if (before_.rdi == SIG_UNBLOCK) blocks_trap_ &= !is_set;
}

void Tracee::keep_trap_open() {
  // If the trap of a step meets a blocked SIGTRAP, the kernel resets the program's handler. Still visible: a handler
  // that blocks SIGTRAP sees it unblocked, and a program that blocks it by a system call loses its handler.
  uint64_t blocked = 0;
  const uint64_t trap = uint64_t{1} << (SIGTRAP - 1);
  if (ptrace(PTRACE_GETSIGMASK, tid_, sizeof blocked, &blocked) != 0 || !(blocked & trap)) return;
  blocked &= ~trap;
  ptrace(PTRACE_SETSIGMASK, tid_, sizeof blocked, &blocked);
}

// PTRACE_GETREGS does not show a flag that stepping set, only the program's own.

void Tracee::hide_trap_flag_on_stack(const user_regs_struct& after) {
  if (after.eflags & trap_flag) return;
  errno = 0;
  const long word = ptrace(PTRACE_PEEKDATA, tid_, after.rsp, nullptr);
  if (errno == 0) ptrace(PTRACE_POKEDATA, tid_, after.rsp, word & ~static_cast<long>(trap_flag));
}

void Tracee::hide_trap_flag_in_r11(const user_regs_struct& after) {
  if ((after.eflags & trap_flag) || !(after.r11 & trap_flag)) return;
  ptrace(PTRACE_POKEUSER, tid_, offsetof(user, regs.r11), after.r11 & ~uint64_t{trap_flag});
}

bool Tracee::is_ignored(int signal) const {
  std::ifstream file("/proc/" + std::to_string(tid_) + "/status");
  uint64_t ignored = 0;
  uint64_t caught = 0;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("SigIgn:")) ignored = std::stoull(line.substr(7), nullptr, 16);
    if (line.starts_with("SigCgt:")) caught = std::stoull(line.substr(7), nullptr, 16);
  }
  const uint64_t bit = uint64_t{1} << (signal - 1);
  return (ignored & bit) || (ignored_by_default(signal) && !(caught & bit));
}

}  // namespace tally::stepper
