#pragma once
#include <signal.h>
#include <sys/types.h>
#include <sys/user.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <initializer_list>
#include <span>
#include <unordered_map>
#include <utility>

#include "programs/stepper/instruction.hpp"
#include "programs/stepper/stepper_counts.hpp"

namespace tally::stepper {

/// A cache of decoded instructions by address and mode. Compares the bytes, because code may change.
class DecodeCache {
 public:
  const Instruction& at(uint64_t address, CodeMode mode, std::span<const uint8_t> bytes);

 private:
  struct Entry {
    std::array<uint8_t, 15> bytes{};
    Instruction instruction;
  };
  std::unordered_map<uint64_t, Entry> entries_[2];  // by mode
};

/// Writes a thread's counts to a file every N of its instructions. Each line contains the number of the thread in the
/// order of their start, the address of the last instruction, and the counts so far.
struct Rows {
  std::FILE* file = nullptr;
  uint64_t every = 0;
  int threads = 0;
};

/// A traced thread: the next instruction, and the counts so far.
///
/// The order of calls is resume, wait, stopped, resume, …: stopped() determines from the siginfo of the stop whether
/// the instruction read by resume() has retired, and which signal resume() must pass on.
class Tracee {
 public:
  /// Starts with a thread at its first stop. Its next stop is the end of the system call that created it.
  Tracee(pid_t tid, DecodeCache& cache, Rows& rows)
      : tid_(tid), cache_(&cache), rows_(&rows), number_(rows.threads++) {}

  /// Lets it run to its next stop, by at most one instruction. Returns false if the thread has ended.
  bool resume(int signal);

  /// Continues from a stop within the instruction that resume() read.
  void go_on();

  /// Accounts for a stop that is not an exit. Returns the signal to pass on, 0 for none.
  int stopped(int status);

  /// Accounts for the end: a system call that did not return has retired.
  void ended();

  /// Takes over from the thread that created it whether the program blocks SIGTRAP.
  void inherit(const Tracee& creator) { blocks_trap_ = creator.blocks_trap_; }

  const Counts& counts() const { return counts_; }
  /// Whether the program sets the trap flag, whose traps are lost, or calls ptrace(), which fails.
  bool steps_itself() const { return steps_itself_; }

 private:
  void read_next_instruction();
  void step_done(int trap_code);
  void retire(const user_regs_struct& after);
  void account(const user_regs_struct& after);
  void note_row() const;
  void count_flow(const user_regs_struct& after);
  bool is_taken(const user_regs_struct& after) const;
  void count_elements(uint64_t mask);
  uint64_t read_mask() const;
  bool pop_flags();
  bool refuse_rseq();
  bool set_registers(std::initializer_list<std::pair<size_t, uint64_t>> values) const;
  void keep_trap_open();
  bool is_64_bit_call() const;
  bool changes_signal_mask() const;
  void keep_blocked_trap();
  void hide_trap_flag_on_stack(const user_regs_struct& after);
  void hide_trap_flag_in_r11(const user_regs_struct& after);
  bool is_ignored(int signal) const;

  pid_t tid_;
  DecodeCache* cache_;
  Rows* rows_;
  int number_;
  Counts counts_;
  user_regs_struct before_{};
  Instruction pending_;
  uint64_t mask_before_ = 0;
  uint64_t set_before_ = 0;        ///< the argument of rt_sigprocmask
  bool blocks_trap_ = false;       ///< the program's mask has SIGTRAP, which the kernel unblocks for each step
  bool fresh_ = true;              ///< the system call that created it belongs to its creator
  bool restarting_ = false;        ///< the kernel may restart the system call
  bool steps_itself_ = false;      ///< the program has set the trap flag or called ptrace()
  bool needless_restart_ = false;  ///< only the tracing made a signal interrupt the call
};

}  // namespace tally::stepper
