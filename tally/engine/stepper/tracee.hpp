#pragma once
#include <signal.h>
#include <sys/types.h>
#include <sys/user.h>

#include <array>
#include <cstdint>
#include <cstdio>
#include <span>
#include <unordered_map>

#include "tally/engine/stepper/counts.hpp"
#include "tally/engine/stepper/instruction.hpp"

namespace tally::stepper {

/// Decoded instructions by address. Code may change under it: an entry holds only while its bytes are the ones there.
class DecodeCache {
 public:
  const Instruction& at(uint64_t address, std::span<const uint8_t> bytes);

 private:
  struct Entry {
    std::array<uint8_t, 15> bytes{};
    Instruction instruction;
  };
  std::unordered_map<uint64_t, Entry> entries_;
};

/// Where each thread's counts are written down after every so many of its instructions: one line each, the number of
/// the thread in the order of their start, the address of the last instruction, the counts so far.
struct Rows {
  std::FILE* file = nullptr;
  uint64_t every = 0;
  int threads = 0;
};

/// One traced thread: what it is about to execute, and what it has executed.
///
/// The order is resume, wait, stopped, resume, …: stopped() decides from the stop's siginfo whether the instruction
/// found at resume() has retired, and says which signal resume() has to pass on.
class Tracee {
 public:
  /// A thread at its first stop; its next report is the end of the system call that made it.
  Tracee(pid_t tid, DecodeCache& cache, Rows& rows)
      : tid_(tid), cache_(&cache), rows_(&rows), number_(rows.threads++) {}

  /// Lets it run to its next stop, one instruction at most. False when it is gone.
  bool resume(int signal);

  /// Lets it run on from a stop within the instruction that resume() found.
  void go_on();

  /// Accounts for a stop that is no exit; returns the signal to pass on, 0 for none.
  int stopped(int status);

  /// Accounts for the end: the system call that did not return has retired.
  void ended();

  const Counts& counts() const { return counts_; }

 private:
  void look();
  void step_done(int trap_code);
  void retire(const user_regs_struct& after);
  void account(const user_regs_struct& after);
  void note_row() const;
  void count_flow(const user_regs_struct& after);
  bool is_taken(const user_regs_struct& after) const;
  void count_elements(uint64_t mask);
  uint64_t read_mask() const;
  bool pop_flags();
  void keep_trap_open();
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
  bool fresh_ = true;              ///< the system call that made it was its creator's
  bool restarting_ = false;        ///< the kernel may step back to the system call
  bool needless_restart_ = false;  ///< only the tracing made a signal interrupt the call
};

}  // namespace tally::stepper
