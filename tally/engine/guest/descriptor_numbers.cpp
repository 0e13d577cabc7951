#include "tally/engine/guest/descriptor_numbers.hpp"

#include <fcntl.h>

#include "tally/engine/guest/descriptors.hpp"
#include "tally/engine/guest/guest_signals.hpp"
#include "tally/engine/guest/process_calls.hpp"
#include "tally/engine/stop_the_world.hpp"

namespace tally::engine::guest {
namespace {

constexpr u64 own_count = channel::inherited_count;
constexpr u64 number_limit = 7;  // RLIMIT_NOFILE
constexpr s64 no_number = -EMFILE;

/// Each fork copies a table up to its highest number, so numbers above this limit are used only if the program uses
/// them too.
constexpr u64 cheap_numbers = 4096;

bool shared;     // the table, with other memory
bool has_rings;  // of io_uring
bool no_better_numbers;

u64 first_own() { return inherited(channel::inherited_channel); }

/// The distance that the program's numbers must keep: one message can add 253 descriptors.
u64 margin() { return first_own() >= 1024 ? 256 : first_own() / 4; }

u64 limit() {
  u64 now[2] = {};
  kernel(SYS_prlimit64, 0, number_limit, 0, reinterpret_cast<u64>(now));
  return now[0];
}

bool is_unused(u64 number) { return kernel(SYS_fcntl, number, F_GETFD) == -EBADF; }

bool are_unused(u64 first) {
  for (u64 i = 0; i < own_count; i++)
    if (!is_unused(first + i)) return false;
  return true;
}

/// Moves the engine's descriptors there. No other code reads their numbers meanwhile.
bool move_to(u64 first) {
  if (!are_unused(first)) return false;
  const RaisedNumberLimit raised(first + own_count);
  const u64 old = first_own();
  for (u64 i = 0; i < own_count; i++) {
    const s64 r = kernel(SYS_fcntl, old + i, F_DUPFD_CLOEXEC, first + i);
    if (r == static_cast<s64>(first + i)) continue;
    if (!failed(r)) kernel(SYS_close, static_cast<u64>(r));
    for (u64 k = 0; k < i; k++) kernel(SYS_close, first + k);
    return false;
  }
  set_inherited(static_cast<u32>(first));
  for (u64 i = 0; i < own_count; i++) kernel(SYS_close, old + i);
  return true;
}

/// Moves to numbers after the limit if possible, and otherwise far above the current ones.
bool move_to_better_numbers() {
  const u64 end = limit();
  if (end <= cheap_numbers && move_to(end)) return true;
  const u64 first_choice = first_own() < cheap_numbers / 2 ? cheap_numbers - own_count : 2 * first_own();
  constexpr u64 tries = 64;
  for (u64 at = first_choice, i = 0; at + own_count <= end && i < tries; at += own_count, i++)
    if (move_to(at)) return true;
  return move_to(end);
}

/// Moves to the highest numbers that are free.
bool move_to_any_numbers() {
  const u64 end = limit();
  for (u64 i = own_count; i + 3 <= end && i < cheap_numbers; i++)
    if (move_to(end - i)) return true;
  return false;
}

enum class Target : u8 { better, any };

/// No other thread is between reading a number and using it.
bool move_away(Thread* t, Target target) {
  if (shared || (no_better_numbers && target == Target::better)) return false;
  take_turn(t);
  bool moved = false;
  if (!leaving() && hold_others(t)) {
    Guard guard(threads_lock);
    moved = move_to_better_numbers();
    no_better_numbers = !moved;
    if (!moved && target == Target::any) moved = move_to_any_numbers();
  }
  give_turn(t);
  return moved;
}

/// Returns the lowest free number, or EMFILE.
s64 lowest_free() {
  const s64 r = kernel(SYS_fcntl, first_own(), F_DUPFD_CLOEXEC, 0);
  if (!failed(r)) kernel(SYS_close, static_cast<u64>(r));
  return r;
}

}  // namespace

RaisedNumberLimit::RaisedNumberLimit(u64 least) {
  if (failed(kernel(SYS_prlimit64, 0, number_limit, 0, reinterpret_cast<u64>(before_))) || before_[0] >= least) return;
  const u64 raised[2] = {least, before_[1] > least ? before_[1] : least};
  changed_ = !failed(kernel(SYS_prlimit64, 0, number_limit, reinterpret_cast<u64>(raised), 0));
}

RaisedNumberLimit::~RaisedNumberLimit() {
  if (changed_) kernel(SYS_prlimit64, 0, number_limit, reinterpret_cast<u64>(before_), 0);
}

bool free_number(Thread* t, u64 number) {
  if (!is_own_descriptor(number) || static_cast<u32>(number) >= limit()) return true;  // or the kernel refuses it
  if (!move_away(t, Target::any) && !shared) continue_natively(t, channel::partial_descriptors);
  return !is_own_descriptor(number);
}

bool numbers_were_short(Thread* t, s64 result) {
  const u64 first = first_own();
  const bool near = static_cast<u64>(result) + margin() >= first && static_cast<u64>(result) < first + margin();
  if ((!near && result != no_number) || first >= limit()) return false;
  const s64 free = lowest_free();
  if (free != no_number && (failed(free) || static_cast<u64>(free) + margin() < first)) return false;
  const bool moved = move_away(t, Target::better);
  if (result != no_number) return false;
  if (!moved && !shared) continue_natively(t, channel::partial_descriptors);
  return moved;
}

bool number_was_skipped(Thread* t, u64 lowest, s64 result) {
  const u64 first = first_own();
  if (failed(result) || lowest >= first + own_count || static_cast<u64>(result) < first + own_count) return false;
  // All numbers from `lowest` to the engine's are in use: natively the result would be one of the engine's numbers.
  kernel(SYS_close, static_cast<u64>(result));
  if (move_away(t, Target::any)) return true;
  if (!shared) continue_natively(t, channel::partial_descriptors);
  return true;
}

void number_limit_changed(Thread* t) {
  no_better_numbers = false;
  if (first_own() < limit()) move_away(t, Target::better);
}

void has_own_numbers(Thread* t) { inherited_of_its_own(t); }

void numbers_are_shared() { shared = true; }

void numbers_are_changed_by_rings() { has_rings = true; }

bool numbers_are_followed(const Thread* t) {
  return !shared && !has_rings && t->vfork_child == 0 && t->first_descriptor == 0;
}

void numbers_after_fork(Thread* t) {
  const u64 first = first_own();
  t->first_descriptor = 0;
  set_inherited(static_cast<u32>(first));
}

void close_own_descriptors() {
  constexpr u32 nowhere = 0x7fffff00;
  const u64 first = first_own();
  if (first == nowhere || shared) return;
  Guard guard(threads_lock);
  set_inherited(nowhere);
  for (u64 i = 0; i < own_count; i++) kernel(SYS_close, first + i);
}

}  // namespace tally::engine::guest
