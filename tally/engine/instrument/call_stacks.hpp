/// The calls of a thread that have not returned: a list of frames for each stack of the program, chosen by the stack
/// pointer.
///
/// A thread may use many stacks: alternate ones for signal handlers, those of coroutines and fibres. A stack is known
/// by its highest address, where it was entered first, and reaches down to the next one. Frames that were left by
/// longjmp or an exception are removed by the next call or return on their stack.
#pragma once
#include "tally/engine/thread.hpp"

namespace tally::engine::instrument {

class CallStacks {
 public:
  /// False without memory.
  bool reserve();
  void clear();

  /// The node that is being executed: calls of the current stack are below it.
  u32 node() const { return node_of(stacks_[current_]); }
  bool has_room() const { return free_ != 0 || used_ + 1 < frame_limit; }

  /// A call whose return address is at `sp` is about to be pushed: chooses its stack, and removes frames that were
  /// left. True where it enters a stack of which nothing is known that is executed: enter() says what runs there.
  bool select(u64 sp) {
    const Stack& s = stacks_[current_];
    if (s.frame != 0 && frames_[s.frame].sp - sp - 1 < near_bytes) return false;
    return select_far(sp);
  }
  /// Wants room. Without it: lost().
  void push(u64 sp, u32 node) {
    u32 f = free_;
    if (f != 0)
      free_ = frames_[f].outer;
    else
      f = ++used_;
    Stack& s = stacks_[current_];
    frames_[f] = {sp, node, s.frame};
    s.frame = f;
  }
  /// A call has no frame: its return is ignored.
  void lost() { has_lost_ = true; }

  /// A return by the address at `sp`. True as of select().
  bool return_to(u64 sp) {
    Stack& s = stacks_[current_];
    if (s.frame == 0 || frames_[s.frame].sp != sp) return return_far(sp);
    pop(s);
    has_lost_ = false;
    return false;
  }
  void enter(u32 node) { stacks_[current_].root = node; }
  /// The node that was executed before the last select() that entered a stack.
  u32 left() const { return left_; }

  /// A signal handler begins; its return address is at `sp`. On an alternate stack from `base` on, or with no bytes on
  /// the one that it interrupts.
  void begin_handler(u64 sp, u64 base, u64 bytes);

 private:
  struct Frame {
    u64 sp;
    u32 node;
    u32 outer;  // the frame that made the call; of free ones the next
  };
  struct Stack {
    u64 highest;
    u32 frame;  // the innermost; 0 = none
    u32 root;   // node that its outermost calls are below
  };

  static constexpr u32 frame_limit = 1u << 18, stack_limit = 1u << 12, alternate = 0, no_stack = ~0u;
  /// Stacks are at least as far apart; frames may be farther.
  static constexpr u64 near_bytes = 1024;
  /// What may be above the place where a stack was entered first.
  static constexpr u64 slack = 256;

  u32 node_of(const Stack& s) const { return s.frame != 0 ? frames_[s.frame].node : s.root; }
  void pop(Stack& s) {
    const u32 f = s.frame;
    s.frame = frames_[f].outer;
    frames_[f].outer = free_;
    free_ = f;
  }
  void pop_below(Stack& s, u64 sp) {
    while (s.frame != 0 && frames_[s.frame].sp < sp) pop(s);
  }
  bool is_on_alternate(u64 sp) const { return sp - alternate_base_ <= alternate_bytes_; }
  void leave_alternate();
  u32 find(u64 sp) const;
  void add(u64 sp);
  bool select_far(u64 sp);
  bool return_far(u64 sp);

  Frame* frames_;
  Stack* stacks_;  // the first one is for handlers
  u16* order_;     // of the others, by their highest addresses
  u32 used_, free_, stack_count_, current_;
  u32 left_;
  u32 interrupted_;  // the stack that was current before the alternate one
  bool has_lost_;
  u64 alternate_base_, alternate_bytes_;
};

}  // namespace tally::engine::instrument
