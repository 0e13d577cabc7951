#include "tally/engine/guest/rights.hpp"

#include "tally/engine/guest/guest_signals.hpp"
#include "tally/engine/guest/process_calls.hpp"
#include "tally/engine/persist/translation_store.hpp"

namespace tally::engine::guest {
namespace {

/// User or group IDs of this thread.
struct Ids {
  u32 real = 0, effective = 0, saved = 0, filesystem = 0;

  bool all_are(u32 id) const { return real == id && effective == id && saved == id && filesystem == id; }
};

Ids read_ids(u64 get_call, u64 set_filesystem_call) {
  constexpr u64 invalid = ~u64{0};  // changes nothing
  Ids ids;
  kernel(get_call, reinterpret_cast<u64>(&ids.real), reinterpret_cast<u64>(&ids.effective),
         reinterpret_cast<u64>(&ids.saved));
  ids.filesystem = static_cast<u32>(kernel(set_filesystem_call, invalid));
  return ids;
}
Ids user_ids() { return read_ids(SYS_getresuid, SYS_setfsuid); }
Ids group_ids() { return read_ids(SYS_getresgid, SYS_setfsgid); }

/// Whether a call sets an ID with this value to `wanted` without changing it; −1 stands for the current value.
bool keeps(u32 current, u64 wanted) { return static_cast<u32>(wanted) == ~0u || static_cast<u32>(wanted) == current; }

/// setresuid(2); it also sets the file system ID to the effective one.
bool keeps_three(const Ids& ids, const u64* g) {
  return keeps(ids.real, g[rdi]) && keeps(ids.effective, g[rsi]) && keeps(ids.saved, g[rdx]) &&
         ids.filesystem == ids.effective;
}

/// setreuid(2); it may also set the saved and the file system ID to the effective one.
bool keeps_two(const Ids& ids, const u64* g) {
  return keeps(ids.real, g[rdi]) && keeps(ids.effective, g[rsi]) && ids.saved == ids.effective &&
         ids.filesystem == ids.effective;
}

/// Gives up what a call that reduces rights must not keep, and makes the call.
s64 give_up_and_run(Thread* t) {
  give_up_writing();
  return run(t);
}

template <class T>
bool equal(const T* a, const T* b, u64 n) {
  for (u64 i = 0; i < n; i++)
    if (a[i] != b[i]) return false;
  return true;
}

}  // namespace

bool keeps_ids(const Thread& t) {
  const u64* const g = t.gpr;
  switch (g[rax]) {
    case SYS_setuid: return user_ids().all_are(static_cast<u32>(g[rdi]));
    case SYS_setgid: return group_ids().all_are(static_cast<u32>(g[rdi]));
    case SYS_setreuid: return keeps_two(user_ids(), g);
    case SYS_setregid: return keeps_two(group_ids(), g);
    case SYS_setresuid: return keeps_three(user_ids(), g);
    case SYS_setresgid: return keeps_three(group_ids(), g);
    case SYS_setfsuid: return keeps(user_ids().filesystem, g[rdi]);
    case SYS_setfsgid: return keeps(group_ids().filesystem, g[rdi]);
    default: return false;
  }
}

// The kernel gets the list that was compared: another thread may change the program's.
s64 set_groups(Thread* t) {
  constexpr u32 limit = 64;
  u32 wanted[limit], current[limit];
  const u32 n = static_cast<u32>(t->gpr[rdi]);
  const s64 groups = kernel(SYS_getgroups, limit, reinterpret_cast<u64>(current));
  if (groups != n || get(wanted, t->gpr[rsi], n * sizeof *wanted) != 0 || !equal(wanted, current, n))
    return give_up_and_run(t);
  return kernel(SYS_setgroups, n, reinterpret_cast<u64>(wanted));
}

s64 set_capabilities(Thread* t) {
  constexpr u32 version = 0x20080522;
  struct {
    u32 version, process;
  } head;
  u32 wanted[6], current[6];  // effective, permitted, inheritable: the low halves, then the high ones
  if (get(&head, t->gpr[rdi], sizeof head) != 0 || head.version != version ||
      get(wanted, t->gpr[rsi], sizeof wanted) != 0 ||
      kernel(SYS_capget, reinterpret_cast<u64>(&head), reinterpret_cast<u64>(current)) != 0 ||
      !equal(wanted, current, 6))
    return give_up_and_run(t);
  return kernel(SYS_capset, reinterpret_cast<u64>(&head), reinterpret_cast<u64>(wanted));
}

bool makes_namespace(u64 flags) {
  constexpr u64 time = 0x80, mount = 0x20000, others = 0x7e000000;  // CLONE_NEWCGROUP to CLONE_NEWNET
  return (flags & (time | mount | others)) != 0;
}

bool loses_rights_by(u32 option, u64 argument) {
  enum : u64 {
    read_bounding_set = 23,
    drop_capability = 24,
    get_securebits = 27,
    set_securebits = 28,
    no_new_privileges = 38,
    get_no_new_privileges = 39,
    ambient = 47
  };
  constexpr u64 ambient_is_set = 1;
  switch (option) {
    case drop_capability: return kernel(SYS_prctl, read_bounding_set, argument) != 0;
    case set_securebits: return kernel(SYS_prctl, get_securebits) != static_cast<s64>(argument);
    case no_new_privileges: return kernel(SYS_prctl, get_no_new_privileges, 0, 0, 0, 0) == 0;
    case ambient: return argument != ambient_is_set;
    default: return false;
  }
}

}  // namespace tally::engine::guest
