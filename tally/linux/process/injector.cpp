#include "tally/linux/process/injector.hpp"

#include <elf.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <array>
#include <cerrno>
#include <csignal>

#include "tally/linux/descriptor.hpp"
#include "tally/linux/system_call.hpp"

namespace tally::linux {
namespace {

constexpr std::uint64_t code_segment_64bit = 0x33;

// Offset of a `syscall` instruction in the vdso; the same in every process of this kernel.
std::uint64_t syscall_in_vdso() {
  const auto* vdso = reinterpret_cast<const unsigned char*>(getauxval(AT_SYSINFO_EHDR));
  if (vdso == nullptr) return 0;
  constexpr std::uint64_t size = 4096;
  for (std::uint64_t i = 0; i + 1 < size; ++i) {
    if (vdso[i] == 0x0f && vdso[i + 1] == 0x05) return i;
  }
  return 0;
}

std::uint64_t vdso_of(pid_t process) {
  const Descriptor file(open(fmt::format("/proc/{}/auxv", process).c_str(), O_RDONLY | O_CLOEXEC));
  std::array<std::uint64_t, 128> words{};
  if (!file || read(file.get(), words.data(), sizeof words - 16) <= 0) return 0;
  for (std::size_t i = 0; words[i] != AT_NULL; i += 2) {
    if (words[i] == AT_SYSINFO_EHDR) return words[i + 1];
  }
  return 0;
}

}  // namespace

bool Injector::attach(pid_t thread, int first) {
  if (ptrace(PTRACE_SEIZE, thread, nullptr, PTRACE_O_TRACEEXEC) != 0) return false;
  under_way_[thread] = Exec{};
  under_way_[thread].first = first;
  return true;
}

Injector::StopResult Injector::refuse(pid_t process, std::string reason) {
  const bool ends = injection_.refusal_code &&
                    ptrace(PTRACE_SETOPTIONS, process, nullptr, PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL) == 0 &&
                    ptrace(PTRACE_SYSCALL, process, nullptr, nullptr) == 0;
  if (ends) {
    under_way_[process].stage = Exec::ending;
  } else {
    under_way_.erase(process);
    ptrace(PTRACE_DETACH, process, nullptr, nullptr);
  }
  return {StopResult::refused, std::move(reason)};
}

void Injector::end(pid_t process) {
  constexpr std::uint64_t exit_group_of_32bit = 252;
  user_regs_struct call{};
  ptrace(PTRACE_GETREGS, process, nullptr, &call);
  const bool is_64bit = call.cs == code_segment_64bit;
  call.orig_rax = is_64bit ? SYS_exit_group : exit_group_of_32bit;
  (is_64bit ? call.rdi : call.rbx) = static_cast<std::uint64_t>(*injection_.refusal_code);
  ptrace(PTRACE_SETREGS, process, nullptr, &call);
  under_way_.erase(process);
  ptrace(PTRACE_DETACH, process, nullptr, nullptr);
}

Injector::StopResult Injector::stopped(pid_t process, int status) {
  const int signal = WSTOPSIG(status);
  if (status >> 8 == (SIGTRAP | PTRACE_EVENT_EXEC << 8)) {
    // A thread other than the leader may have called execve: it now has the leader's ID, but was attached under its
    // own.
    unsigned long former = 0;
    int first = 0;
    if (ptrace(PTRACE_GETEVENTMSG, process, nullptr, &former) == 0) {
      const auto found = under_way_.find(static_cast<pid_t>(former));
      if (found != under_way_.end()) {
        first = found->second.first;
        under_way_.erase(found);
      }
    }
    under_way_[process] = Exec{};
    under_way_[process].first = first;
    // Continue to the end of execve: until then the kernel still writes the new program's registers.
    under_way_[process].stage = Exec::in_exec;
    if (ptrace(PTRACE_SYSCALL, process, nullptr, nullptr) != 0) return refuse(process, "it vanished");
    return {};
  }
  const auto found = under_way_.find(process);
  if (found == under_way_.end()) {
    ptrace(PTRACE_DETACH, process, nullptr, signal);
    return {};
  }
  Exec& exec = found->second;
  const auto onward = exec.stage == Exec::attached  ? PTRACE_CONT
                      : exec.stage == Exec::mapping ? PTRACE_SINGLESTEP
                                                    : PTRACE_SYSCALL;
  if (status >> 16 == PTRACE_EVENT_STOP) {
    // Job control: stopped or continued together with its process.
    ptrace(signal == SIGTRAP ? onward : PTRACE_LISTEN, process, nullptr, nullptr);
    return {};
  }
  constexpr int of_system_call = SIGTRAP | 0x80;  // PTRACE_O_TRACESYSGOOD
  if (exec.stage == Exec::ending && signal == of_system_call) {
    end(process);
    return {};
  }
  if (signal != SIGTRAP || exec.stage == Exec::ending) {
    // A signal for the program: delivered as without a tracer.
    ptrace(onward, process, nullptr, signal);
    return {};
  }
  switch (exec.stage) {
    case Exec::attached:
      // The trap with which a program reports that its execve has failed.
      under_way_.erase(found);
      ptrace(PTRACE_DETACH, process, nullptr, nullptr);
      return {StopResult::failed_exec, {}};
    case Exec::in_exec: return begin_mapping(process, exec);
    default: return finish(process, exec);
  }
}

Injector::StopResult Injector::begin_mapping(pid_t process, Exec& exec) {
  if (ptrace(PTRACE_GETREGS, process, nullptr, &exec.registers) != 0)
    return refuse(process, "its registers cannot be read");
  if (exec.registers.cs != code_segment_64bit)
    return refuse(process, "it is a 32-bit program; `--backend stepper` counts it");
  ptrace(PTRACE_GETSIGMASK, process, sizeof exec.blocked, &exec.blocked);
  static const std::uint64_t in_vdso = syscall_in_vdso();
  const std::uint64_t vdso = vdso_of(process);
  if (in_vdso != 0 && vdso != 0) {
    exec.instruction = vdso + in_vdso;
  } else {
    exec.instruction = exec.registers.rip;
    errno = 0;
    const long word = ptrace(PTRACE_PEEKTEXT, process, exec.instruction, nullptr);
    if (errno != 0 || ptrace(PTRACE_POKETEXT, process, exec.instruction, (word & ~0xffffL) | 0x050f) != 0) {
      return refuse(process, "its memory cannot be read (is its file readable?)");
    }
    exec.word_before = word;
  }
  user_regs_struct call = exec.registers;
  call.rip = exec.instruction;
  call.rax = SYS_mmap;
  call.orig_rax = ~0ull;
  call.rdi = injection_.base;
  call.rsi = injection_.bytes;
  call.rdx = PROT_READ | PROT_EXEC;
  call.r10 = MAP_PRIVATE | MAP_FIXED_NOREPLACE;
  call.r8 = static_cast<std::uint64_t>(exec.first + injection_.fd);
  call.r9 = 0;
  exec.stage = Exec::mapping;
  if (ptrace(PTRACE_SETREGS, process, nullptr, &call) != 0 ||
      ptrace(PTRACE_SINGLESTEP, process, nullptr, nullptr) != 0) {
    return refuse(process, "it vanished");
  }
  return {};
}

Injector::StopResult Injector::finish(pid_t process, Exec& exec) {
  user_regs_struct after{};
  if (ptrace(PTRACE_GETREGS, process, nullptr, &after) != 0) return refuse(process, "its registers cannot be read");
  ptrace(PTRACE_SETSIGMASK, process, sizeof exec.blocked, &exec.blocked);
  if (exec.word_before) ptrace(PTRACE_POKETEXT, process, exec.instruction, *exec.word_before);
  user_regs_struct registers = exec.registers;
  registers.orig_rax = ~0ull;
  if (after.rax != injection_.base) {
    ptrace(PTRACE_SETREGS, process, nullptr, &registers);
    const int why = static_cast<int>(-static_cast<std::int64_t>(after.rax));
    return refuse(process, "the engine cannot be mapped: " + errno_text(why));
  }
  registers.rdi = registers.rip;
  registers.rsi = registers.rsp;
  registers.rdx = static_cast<std::uint64_t>(exec.first);
  registers.rcx = injection_.arguments[0];
  registers.r8 = injection_.arguments[1];
  registers.rip = injection_.entry;
  if (ptrace(PTRACE_SETREGS, process, nullptr, &registers) != 0) return refuse(process, "its registers cannot be set");
  under_way_.erase(process);
  ptrace(PTRACE_DETACH, process, nullptr, nullptr);
  return {StopResult::injected, {}};
}

void change_memory_limits(pid_t process, std::uint64_t (*changed)(std::uint64_t)) {
  for (const auto resource : {RLIMIT_AS, RLIMIT_DATA}) {
    rlimit limit{};
    if (prlimit(process, resource, nullptr, &limit) != 0) continue;
    const rlimit wanted{changed(limit.rlim_cur), changed(limit.rlim_max)};
    if (wanted.rlim_cur != limit.rlim_cur || wanted.rlim_max != limit.rlim_max)
      prlimit(process, resource, &wanted, nullptr);
  }
}

}  // namespace tally::linux
