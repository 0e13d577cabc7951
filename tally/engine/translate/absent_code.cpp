#include "tally/engine/translate/absent_code.hpp"

#include "tally/engine/stop_the_world.hpp"
#include "tally/engine/translate/code_cache.hpp"
#include "tally/engine/translate/entry.hpp"
#include "tally/engine/translate/protection_keys.hpp"

namespace tally::engine::translate {
namespace {

bool may_be_absent;

/// How many of the `n` bytes are in pages that are present. Must not request absent pages that the program does not
/// touch: the program that fills them would count each one.
u64 bytes_present(u64 address, u64 n) {
  if (!code_may_be_absent()) return n;
  u8 present = 0;
  u64 page = page_down(address);
  while (page < address + n && kernel(SYS_mincore, page, page_bytes, reinterpret_cast<u64>(&present)) == 0 &&
         (present & 1) != 0)
    page += page_bytes;
  return page <= address ? 0 : page - address < n ? page - address : n;
}

}  // namespace

void note_absent_code() {
  // The thread that holds the cache may sleep until a thread of this process fills a page, possibly the waiting one.
  const auto hurry = [](const Lock& lock) {
    if (&lock == &cache_lock) stop_readers();
  };
  __atomic_store_n(&Lock::on_long_wait, hurry, __ATOMIC_RELAXED);
  __atomic_store_n(&may_be_absent, true, __ATOMIC_RELAXED);
}
bool code_may_be_absent() { return __atomic_load_n(&may_be_absent, __ATOMIC_RELAXED); }

void await_code(Thread* t) {
  begin_reading(t);
  u8 byte;
  safe_copy(&byte, reinterpret_cast<const void*>(t->pc), 1);
  end_reading(t);
}

u64 copy_code(void* to, u64 from, u64 n) {
  if (current()->reads_code == gave_up_reading) return n;
  const u64 present = bytes_present(from, n);
  const u64 left = safe_copy(to, reinterpret_cast<const void*>(from), present);
  if (left == 0 || !has_protection_keys()) return n - present + left;
  const ScopedKeys every(0);  // execute-only memory has a key of its own
  return n - present + safe_copy(to, reinterpret_cast<const void*>(from), present);
}

u64 compare_code(const void* ours, u64 theirs, u64 n) {
  if (current()->reads_code == gave_up_reading || bytes_present(theirs, n) != n) return 1;
  return safe_compare(ours, reinterpret_cast<const void*>(theirs), n);
}

u64 give_up_reading(Thread* t, u64 ip) {
  if (t->reads_code == reads_none || !code_may_be_absent()) return ip;
  const bool compares = ip >= reinterpret_cast<u64>(safe_compare) && ip < reinterpret_cast<u64>(safe_compare_differs);
  if (ip != reinterpret_cast<u64>(safe_copy_instruction) && !compares) return ip;
  t->reads_code = gave_up_reading;
  return reinterpret_cast<u64>(compares ? safe_compare_differs : safe_copy_end);
}

void stop_readers() {
  Guard guard(threads_lock);
  const Thread* const t = current();
  for (const Thread* o = threads(); o != nullptr; o = o->next)
    if (o != t && __atomic_load_n(&o->reads_code, __ATOMIC_RELAXED) == reads_code) ask_out(t, o);
}

}  // namespace tally::engine::translate
