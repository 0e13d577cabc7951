#include "tally/engine/instrument/call_stacks.hpp"

#include "tally/engine/code_log_writer.hpp"
#include "tally/engine/records.hpp"

namespace tally::engine::instrument {
bool CallStacks::reserve() {
  return reserve_table(stacks_, stack_limit) && reserve_table(order_, stack_limit) &&
         reserve_table(pool_, 1u << pool_bits);
}

void CallStacks::clear(CallNode* root) {
  pool_used_ = 0;
  for (Frame*& list : free_) list = nullptr;
  interrupted_ = 0;
  has_lost_ = false;
  alternate_base_ = alternate_bytes_ = 0;
  // Until the first call, nothing is known of the thread's stack.
  start(stacks_[alternate], 0);
  start(stacks_[1], 0);
  order_[0] = 1;
  stack_count_ = 2;
  current_ = 1;
  bounds_of_ = no_stack;
  enter(root);
  end();
}

void CallStacks::start(Stack& s, u64 highest) {
  s.highest = highest;
  s.frames = s.top = s.small;
  s.size_bits = small_bits;
  s.small[0] = {0, nullptr};
}

/// Moves the frames to an array of twice the size. False without room.
bool CallStacks::grow(Stack& s) {
  const u64 bits = s.size_bits + 1, n = u64{1} << bits;
  if (bits > frame_limit_bits) return false;
  Frame* array = free_[bits];
  if (array != nullptr) {
    free_[bits] = reinterpret_cast<Frame*>(array->node);
  } else {
    if (pool_used_ + n > u64{1} << pool_bits) return false;
    array = pool_ + pool_used_;
    pool_used_ += n;
  }
  copy(array, s.frames, sizeof(Frame) * (n / 2));
  const s64 depth = s.top - s.frames;
  release(s);
  s.frames = array;
  s.top = array + depth;
  s.size_bits = bits;
  return true;
}

void CallStacks::release(Stack& s) {
  if (s.frames == s.small) return;
  s.frames->node = reinterpret_cast<CallNode*>(free_[s.size_bits]);
  free_[s.size_bits] = s.frames;
}

bool CallStacks::make_room() {
  Stack& s = stacks_[current_];
  return s.top + 1 != end_of(s) || grow(s);
}

void CallStacks::end() {
  Stack& s = stacks_[current_];
  if (bounds_of_ != current_) active_.lowest = lowest_of_current();
  bounds_of_ = current_;
  lost_ = {0, s.top->node};
  active_.top = has_lost_ ? &lost_ : s.top;
  active_.end = end_of(s);
}

/// Returns the lowest address for which find() returns the current stack.
u64 CallStacks::lowest_of_current() const {
  if (current_ == alternate) return alternate_base_ + 8;
  u64 lowest = 0;
  for (u32 i = 0; i + 1 < stack_count_ && order_[i] != current_; i++) lowest = stacks_[order_[i]].highest + slack + 1;
  return lowest;
}

void CallStacks::leave_alternate() {
  pop_all(stacks_[alternate]);
  current_ = interrupted_;
}

/// Returns the stack that contains the address, as far as is known: the next one that begins above it.
u32 CallStacks::find(u64 above) const {
  const u32 end = stack_count_ - 1;
  const u32 low = numbers_before(end, [&](u32 i) { return stacks_[order_[i]].highest + slack < above; });
  return low < end ? order_[low] : no_stack;
}

void CallStacks::add(u64 above) {
  if (stack_count_ == stack_limit) {
    // Drop the other stacks; those still in use are found again by their returns.
    for (u32 i = 1; i < stack_count_; i++)
      if (i != current_) release(stacks_[i]);
    Stack &from = stacks_[current_], &to = stacks_[1];
    if (&from != &to) {
      const bool is_small = from.frames == from.small;
      to = from;
      if (is_small) {
        to.frames = to.small;
        to.top = to.small + (from.top - from.small);
      }
    }
    order_[0] = 1;
    stack_count_ = 2;
  }
  const u32 added = stack_count_++;
  start(stacks_[added], above + 8);
  u32 position = added - 1;
  for (; position > 0 && stacks_[order_[position - 1]].highest > above + 8; position--)
    order_[position] = order_[position - 1];
  order_[position] = static_cast<u16>(added);
  current_ = added;
  bounds_of_ = no_stack;
}

bool CallStacks::select_far(u64 above) {
  if (current_ == alternate) {
    if (is_on_alternate(above)) {
      pop_below(stacks_[alternate], above + 1);
      return false;
    }
    leave_alternate();  // its handlers have ended
  }
  if (stacks_[1].highest == 0) {
    stacks_[1].highest = above + 8;
    return false;
  }
  left_ = selected();
  if (const u32 found = find(above); found != no_stack) {
    Stack& s = stacks_[found];
    const bool had_frames = has_frames(s);
    pop_below(s, above + 1);  // a frame at the same address was left, too
    const u64 lowest = has_frames(s) ? s.top->above : s.highest;
    const bool is_other = found != current_;
    if (!is_other || above >= lowest || lowest - above < near_bytes) {
      current_ = found;
      return is_other && !had_frames && found != 1;
    }
  }
  add(above);
  return true;
}

bool CallStacks::return_far(u64 above) {
  if (current_ == alternate) {
    Stack& s = stacks_[alternate];
    if (is_on_alternate(above)) {
      pop_below(s, above);
      if (has_frames(s) && s.top->above == above) s.top--;
      return false;
    }
    leave_alternate();
  }
  if (stacks_[1].highest == 0) return false;
  if (const u32 found = find(above); found != no_stack) {
    Stack& s = stacks_[found];
    const Frame *outer = s.top, *left = nullptr;
    for (; outer != s.frames && outer->above < above; outer--) left = outer;
    const bool is_outermost = outer == s.frames, is_other = found != current_;
    const bool is_known = !is_outermost && outer->above == above;
    if (is_known || (left != nullptr && (is_outermost || above - left->above < near_bytes))) {
      pop_below(s, above);
      if (is_known) s.top--;
      current_ = found;
      // The return is above all frames of a stack that was left: another stack begins at the same addresses.
      return is_other && is_outermost && found != 1;
    }
    const u64 lowest = has_frames(s) ? s.top->above : s.highest;
    if (left == nullptr && (lowest - above < near_bytes || above >= lowest || (!is_other && has_lost_))) {
      // The program uses a return as a jump, or continues where it left this stack.
      current_ = found;
      return is_other && !has_frames(s) && found != 1;
    }
  }
  // A stack may be in an array on another stack.
  for (u32 i = 1; i < stack_count_; i++) {
    Stack& s = stacks_[i];
    if (!has_frames(s) || s.top->above != above) continue;
    s.top--;
    current_ = i;
    return false;
  }
  add(above);
  return true;
}

void CallStacks::begin_handler(u64 above, u64 base, u64 bytes) {
  begin();
  if (bytes == 0) {
    if (select(above)) enter(left());
  } else {
    if (current_ == alternate) leave_alternate();
    CallNode* const interrupted = selected();
    interrupted_ = current_;
    alternate_base_ = base;
    alternate_bytes_ = bytes;
    current_ = alternate;
    bounds_of_ = no_stack;
    pop_all(stacks_[alternate]);
    enter(interrupted);
  }
  if (make_room()) push(above, selected());
  end();
}

}  // namespace tally::engine::instrument
