/// The active calls of a thread: an array of frames for each stack of the program, selected by the stack pointer.
///
/// A thread may use many stacks: alternate ones for signal handlers, and those of coroutines and fibres. A stack is
/// identified by its highest address, where it was first entered, and extends down to the next one. The next call or
/// return on a stack removes frames that longjmp or an exception left.
///
/// A frame is identified by the address above its return address. Generated code pushes and pops frames of the current
/// stack itself (call_code.hpp): everything else is between begin() and end().
#pragma once
#include "tally/engine/guest_thread.hpp"

namespace tally::engine::instrument {

using channel::CallNode;

struct Frame {
  u64 above;       // the address above its return address; 0: the outermost frame of a stack, which has no caller
  CallNode* node;  // its calls are below it
};

/// What generated code uses.
struct ActiveFrames {
  Frame* top;  // the innermost frame of the current stack
  Frame* end;  // of the array that it is in
  u64 lowest;  // a call from here up to the top is on the current stack
};

class CallStacks {
 public:
  /// Reserves the tables. False without memory.
  bool reserve();
  /// Begins with one stack, on which `root` is executed.
  void clear(CallNode* root);

  /// Returns the node that is being executed: calls on the current stack are below it.
  CallNode* node() const { return active_.top->node; }

  /// Called before and after a group of the functions below.
  void begin() {
    if (active_.top != &lost_) stacks_[current_].top = active_.top;
  }
  void end();

  /// Selects the stack of a call whose return address is below `above`, and removes frames that were left. True if it
  /// enters a stack on which nothing is known to run: then call enter() with the node that runs there.
  bool select(u64 above) {
    const Stack& s = stacks_[current_];
    if (has_frames(s) && s.top->above - above - 1 < near_bytes) return false;
    return select_far(above);
  }
  /// Returns the node of the selected stack.
  CallNode* selected() const { return stacks_[current_].top->node; }
  /// Makes room for another frame. False without memory: then call lost().
  bool make_room();
  void push(u64 above, CallNode* node) { *++stacks_[current_].top = {above, node}; }
  /// Records that a call has no frame: its return is ignored.
  void lost() { has_lost_ = true; }

  /// Handles a return by the address below `above`. Returns the same as select().
  bool return_to(u64 above) {
    Stack& s = stacks_[current_];
    if (!has_frames(s) || s.top->above != above) return return_far(above);
    s.top--;
    has_lost_ = false;
    return false;
  }
  /// Handles a jump to a function whose return address is below `above`, and removes frames that were left. True if the
  /// function that jumped has the innermost frame now: its return will be that of the function that is entered.
  bool jump(u64 above) {
    Stack& s = stacks_[current_];
    const Frame* outer = s.top;
    while (outer != s.frames && outer->above < above) outer--;
    if (outer == s.frames || outer->above != above) return false;
    pop_below(s, above);
    return true;
  }
  /// Replaces the node of the innermost frame.
  void replace(CallNode* node) { stacks_[current_].top->node = node; }
  void enter(CallNode* node) { stacks_[current_].frames[0].node = node; }
  /// Returns the node that was executed before the last select() or return_to() that entered a stack.
  CallNode* left() const { return left_; }

  /// Begins a signal handler whose return address is below `above`: on an alternate stack at `base`, or on the
  /// interrupted stack if `bytes` is 0.
  void begin_handler(u64 above, u64 base, u64 bytes);

 private:
  static constexpr u32 small_bits = 3;
  struct Stack {
    u64 highest;
    Frame* frames;  // an array of 1 << size_bits; the first frame is the outermost one
    Frame* top;
    u64 size_bits;
    Frame small[1u << small_bits];  // the first array
  };

  static constexpr u32 frame_limit_bits = 18, pool_bits = frame_limit_bits + 2, stack_limit = 1u << 12;
  static constexpr u32 alternate = 0, no_stack = ~0u;
  /// Minimum distance of two stacks; frames may be farther apart.
  static constexpr u64 near_bytes = 1024;
  /// Bytes that may be above the address where a stack was first entered.
  static constexpr u64 slack = 256;

  static bool has_frames(const Stack& s) { return s.top != s.frames; }
  static Frame* end_of(const Stack& s) { return s.frames + (u64{1} << s.size_bits); }
  static void pop_all(Stack& s) { s.top = s.frames; }
  static void pop_below(Stack& s, u64 above) {
    while (has_frames(s) && s.top->above < above) s.top--;
  }
  bool is_on_alternate(u64 above) const { return above - 8 - alternate_base_ <= alternate_bytes_; }
  void start(Stack& s, u64 highest);
  bool grow(Stack& s);
  void release(Stack& s);
  void leave_alternate();
  u32 find(u64 above) const;
  void add(u64 above);
  bool select_far(u64 above);
  bool return_far(u64 above);
  u64 lowest_of_current() const;

  ActiveFrames active_;
  Stack* stacks_;  // the first one is for signal handlers
  u16* order_;     // the other stacks, sorted by their highest addresses
  Frame* pool_;    // arrays of frames
  u64 pool_used_;
  Frame* free_[frame_limit_bits + 1];  // unused arrays, by the bits of their sizes; the first node of each is the next
  u32 stack_count_, current_;
  u32 bounds_of_;    // the stack that active_.lowest belongs to
  u32 interrupted_;  // the current stack before the alternate one
  CallNode* left_;
  bool has_lost_;
  Frame lost_;  // the top while calls without frames are active: generated code leaves their returns to the engine
  u64 alternate_base_, alternate_bytes_;
};

}  // namespace tally::engine::instrument
