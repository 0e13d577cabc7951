/// The active calls of a thread: a list of frames for each stack of the program, selected by the stack pointer.
///
/// A thread may use many stacks: alternate ones for signal handlers, and those of coroutines and fibres. A stack is
/// identified by its highest address, where it was first entered, and extends down to the next one. The next call or
/// return on a stack removes frames that longjmp or an exception left.
#pragma once
#include "tally/engine/thread.hpp"

namespace tally::engine::instrument {

class CallStacks {
 public:
  /// Reserves the tables. False without memory.
  bool reserve();
  void clear();

  /// Returns the node that is being executed: calls on the current stack are below it.
  u32 node() const { return node_of(stacks_[current_]); }
  bool has_room() const { return free_ != 0 || used_ + 1 < frame_limit; }

  /// Selects the stack of a call that is about to push its return address at `sp`, and removes frames that were left.
  /// True if it enters a stack on which nothing is known to run: then call enter() with the node that runs there.
  bool select(u64 sp) {
    const Stack& s = stacks_[current_];
    if (s.frame != 0 && frames_[s.frame].sp - sp - 1 < near_bytes) return false;
    return select_far(sp);
  }
  /// Adds a frame. Requires has_room(); without room call lost().
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
  /// Records that a call has no frame: its return is ignored.
  void lost() { has_lost_ = true; }

  /// Handles a return by the address at `sp`. Returns the same as select().
  bool return_to(u64 sp) {
    Stack& s = stacks_[current_];
    if (s.frame == 0 || frames_[s.frame].sp != sp) return return_far(sp);
    pop(s);
    has_lost_ = false;
    return false;
  }
  void enter(u32 node) { stacks_[current_].root = node; }
  /// Returns the node that was executed before the last select() or return_to() that entered a stack.
  u32 left() const { return left_; }

  /// Begins a signal handler whose return address is at `sp`: on an alternate stack at `base`, or on the interrupted
  /// stack if `bytes` is 0.
  void begin_handler(u64 sp, u64 base, u64 bytes);

 private:
  struct Frame {
    u64 sp;
    u32 node;
    u32 outer;  // the frame that made the call; in a free frame: the next free one
  };
  struct Stack {
    u64 highest;
    u32 frame;  // the innermost one; 0: none
    u32 root;   // the node that its outermost calls are below
  };

  static constexpr u32 frame_limit = 1u << 18, stack_limit = 1u << 12, alternate = 0, no_stack = ~0u;
  /// Minimum distance of two stacks; frames may be farther apart.
  static constexpr u64 near_bytes = 1024;
  /// Bytes that may be above the address where a stack was first entered.
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
  Stack* stacks_;  // the first one is for signal handlers
  u16* order_;     // the other stacks, sorted by their highest addresses
  u32 used_, free_, stack_count_, current_;
  u32 left_;
  u32 interrupted_;  // the current stack before the alternate one
  bool has_lost_;
  u64 alternate_base_, alternate_bytes_;
};

}  // namespace tally::engine::instrument
