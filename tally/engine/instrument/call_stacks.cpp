#include "tally/engine/instrument/call_stacks.hpp"

#include <sys/mman.h>

#include "tally/engine/records.hpp"

namespace tally::engine::instrument {
namespace {

template <class T>
bool allocate(T*& at, u32 n) {
  if (at == nullptr) at = reinterpret_cast<T*>(try_reserve(page_up(u64{n} * sizeof(T)), PROT_READ | PROT_WRITE));
  return at != nullptr;
}

}  // namespace

bool CallStacks::reserve() {
  return allocate(frames_, frame_limit) && allocate(stacks_, stack_limit) && allocate(order_, stack_limit);
}

void CallStacks::clear() {
  used_ = free_ = interrupted_ = 0;
  has_lost_ = false;
  alternate_base_ = alternate_bytes_ = 0;
  // Until the first call, nothing is known of the thread's stack.
  stacks_[alternate] = {0, 0, 0};
  stacks_[1] = {0, 0, 0};
  stack_count_ = 2;
  current_ = 1;
}

void CallStacks::leave_alternate() {
  Stack& s = stacks_[alternate];
  pop_below(s, ~u64{0});
  current_ = interrupted_;
}

/// Returns the stack that contains `sp`, as far as is known: the next one that begins above it.
u32 CallStacks::find(u64 sp) const {
  const u32 end = stack_count_ - 1;
  u32 low = 0, high = end;
  while (low < high) {
    const u32 middle = (low + high) / 2;
    if (stacks_[order_[middle]].highest + slack < sp)
      low = middle + 1;
    else
      high = middle;
  }
  return low < end ? order_[low] : no_stack;
}

void CallStacks::add(u64 sp) {
  if (stack_count_ == stack_limit) {
    // Drop the other stacks; those still in use are found again by their returns.
    for (u32 i = 1; i < stack_count_; i++)
      if (i != current_) pop_below(stacks_[i], ~u64{0});
    stacks_[1] = stacks_[current_];
    order_[0] = 1;
    stack_count_ = 2;
  }
  const u32 added = stack_count_++;
  stacks_[added] = {sp + 8, 0, 0};
  u32 position = added - 1;
  for (; position > 0 && stacks_[order_[position - 1]].highest > sp + 8; position--)
    order_[position] = order_[position - 1];
  order_[position] = static_cast<u16>(added);
  current_ = added;
}

bool CallStacks::select_far(u64 sp) {
  if (current_ == alternate) {
    if (is_on_alternate(sp)) {
      pop_below(stacks_[alternate], sp + 1);
      return false;
    }
    leave_alternate();  // its handlers have ended
  }
  if (stacks_[1].highest == 0) {
    stacks_[1].highest = sp + 8;
    order_[0] = 1;
    return false;
  }
  left_ = node();
  if (const u32 found = find(sp); found != no_stack) {
    Stack& s = stacks_[found];
    const bool had_frames = s.frame != 0;
    pop_below(s, sp + 1);  // a frame at the same address was left, too
    const u64 lowest = s.frame != 0 ? frames_[s.frame].sp : s.highest;
    const bool is_other = found != current_;
    if (!is_other || sp >= lowest || lowest - sp < near_bytes) {
      current_ = found;
      return is_other && !had_frames && found != 1;
    }
  }
  add(sp);
  return true;
}

bool CallStacks::return_far(u64 sp) {
  if (current_ == alternate) {
    Stack& s = stacks_[alternate];
    if (is_on_alternate(sp)) {
      pop_below(s, sp);
      if (s.frame != 0 && frames_[s.frame].sp == sp) pop(s);
      return false;
    }
    leave_alternate();
  }
  if (stacks_[1].highest == 0) return false;
  if (const u32 found = find(sp); found != no_stack) {
    Stack& s = stacks_[found];
    u32 outer = s.frame, left = 0;
    for (; outer != 0 && frames_[outer].sp < sp; outer = frames_[outer].outer) left = outer;
    const bool is_known = outer != 0 && frames_[outer].sp == sp, is_other = found != current_;
    if (is_known || (left != 0 && (outer == 0 || sp - frames_[left].sp < near_bytes))) {
      pop_below(s, sp);
      if (is_known) pop(s);
      current_ = found;
      // The return is above all frames of a stack that was left: another stack begins at the same addresses.
      return is_other && outer == 0 && found != 1;
    }
    const u64 lowest = s.frame != 0 ? frames_[s.frame].sp : s.highest;
    if (left == 0 && (lowest - sp < near_bytes || sp >= lowest || (!is_other && has_lost_))) {
      // The program uses a return as a jump, or continues where it left this stack.
      current_ = found;
      return is_other && s.frame == 0 && found != 1;
    }
  }
  // A stack may be in an array on another stack.
  for (u32 i = 1; i < stack_count_; i++) {
    Stack& s = stacks_[i];
    if (s.frame == 0 || frames_[s.frame].sp != sp) continue;
    pop(s);
    current_ = i;
    return false;
  }
  add(sp);
  return true;
}

void CallStacks::begin_handler(u64 sp, u64 base, u64 bytes) {
  if (bytes == 0) {
    if (select(sp)) enter(left());
  } else {
    if (current_ == alternate) leave_alternate();
    interrupted_ = current_;
    stacks_[alternate] = {base + bytes, 0, node()};
    alternate_base_ = base;
    alternate_bytes_ = bytes;
    current_ = alternate;
  }
  if (has_room()) push(sp, node());
}

}  // namespace tally::engine::instrument
