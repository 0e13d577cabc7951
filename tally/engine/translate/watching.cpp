#include "tally/engine/translate/watching.hpp"

#include <sys/mman.h>

#include "tally/engine/channel/hash.hpp"
#include "tally/engine/records.hpp"

namespace tally::engine::translate {

WatchedTable watched;

namespace {

/// After this number of writes to a protected page, comparing its code is cheaper for a while. A fault takes as long as
/// a hundred comparisons, and dropped code must be translated again.
constexpr u8 writes_limit = 16;

// Where a page was ever protected: one bit for 2 MB of addresses, and for those at multiples of 8 GB from there.
constexpr u32 chunk_bits = 21, chunks = 4096;
u64 watched_chunks[chunks / 64];
bool any_announced;

struct PageRange {
  u64 first, last;
};
constexpr u32 compared_limit = 64;
PageRange compared[compared_limit];
u32 compared_count;
bool nothing_is_watched;

Watched& slot_of(u64 page) {
  u32 i = channel::hash32(page) & watched.mask;
  while (watched.entry[i].page != 0 && watched.entry[i].page != page) i = (i + 1) & watched.mask;
  return watched.entry[i];
}

// The table before it grows. If a thread dies while it grows the table, this one is used again.
WatchedTable before_growth;
bool is_growing;

void grow() {
  const WatchedTable old = before_growth = watched;
  __atomic_store_n(&is_growing, true, __ATOMIC_RELEASE);
  const u32 n = old.entry == nullptr ? 1024 : (old.mask + 1) * 2;
  watched.mask = n - 1;
  watched.entry = reinterpret_cast<Watched*>(reserve(page_up(n * sizeof(Watched)), PROT_READ | PROT_WRITE));
  for (u32 i = 0; old.entry != nullptr && i <= old.mask; i++)
    if (old.entry[i].page != 0) slot_of(old.entry[i].page) = old.entry[i];
  __atomic_store_n(&is_growing, false, __ATOMIC_RELEASE);
}

Watched& entry_of(u64 page) {
  if (watched.entry == nullptr || watched.used * 2 > watched.mask) grow();
  Watched& w = slot_of(page);
  if (w.page == 0) {
    watched.used++;
    w.page = page;
  }
  return w;
}

bool protect(const Watched& w) {
  return !failed(kernel(SYS_mprotect, w.page * page_bytes, page_bytes, w.before & ~static_cast<u64>(PROT_WRITE)));
}

/// From now on, a thread that enters a system call sees that the page may be protected.
void announce(u64 page) {
  const u64 chunk = (page * page_bytes >> chunk_bits) % chunks;
  __atomic_or_fetch(&watched_chunks[chunk / 64], 1ull << chunk % 64, __ATOMIC_SEQ_CST);
  __atomic_store_n(&any_announced, true, __ATOMIC_SEQ_CST);
}

/// Whether a system call in progress may write there, because it started before the page was protected.
bool is_written_by_kernel(u64 page) {
  Guard guard(threads_lock);
  for (const Thread* t = threads(); t != nullptr; t = t->next)
    if (kernel_may_write(*t, page)) return true;
  return false;
}

}  // namespace

bool (*kernel_may_write)(const Thread& t, u64 page);

bool watch(u64 page, u8 before) {
  Watched& w = entry_of(page);
  if (w.on) return true;
  if (w.compared != Compared::no) return false;
  announce(page);
  w.before = before;
  if (!nothing_is_watched && !is_always_compared(page) && !is_written_by_kernel(page)) {
    w.on = true;  // set before it is protected and cleared after: see repair_watched()
    w.on = protect(w);
  }
  if (!w.on) w.compared = Compared::for_good;
  return w.on;
}

bool unwatch(Watched& w) {
  const s64 r = kernel(SYS_mprotect, w.page * page_bytes, page_bytes, w.before);
  w.on = false;
  return !failed(r);
}

bool unwatch_together(Watched* const* pages, u32 n) {
  const s64 r = kernel(SYS_mprotect, pages[0]->page * page_bytes, n * page_bytes, pages[0]->before);
  for (u32 i = 0; i < n; i++) {
    pages[i]->on = false;
    pages[i]->compared = Compared::for_good;
  }
  return !failed(r);
}

void repair_watched() {
  if (is_growing) {
    watched = before_growth;
    is_growing = false;
  }
  each_watched(1, ~u64{0}, [](Watched& w) {
    if (!w.on || protect(w)) return;
    w.on = false;
    w.compared = Compared::for_good;
  });
}

void note_write(Watched& w) {
  if (w.compared == Compared::no && ++w.writes == writes_limit) w.compared = Compared::while_written_often;
}

Watched* watched_page(u64 page) {
  if (watched.entry == nullptr) return nullptr;
  Watched& w = slot_of(page);
  return w.page == page ? &w : nullptr;
}

bool is_protected(u64 page) {
  const Watched* const w = watched_page(page);
  return w != nullptr && w->on;
}

void forget_watched(u64 first, u64 end) {
  if (first == end) return;
  each_watched(first, end - 1, [](Watched& w) { w = {w.page, false, 0, 0, Compared::no}; });
}

void always_compare(u64 a, u64 n) {
  const PageRange pages{a / page_bytes, (a + n - 1) / page_bytes};
  if (compared_count < compared_limit)
    compared[compared_count++] = pages;
  else
    compared[0] = {1, ~u64{0}};  // too many ranges: compare everything
}

bool is_always_compared(u64 page) {
  for (u32 i = 0; i < compared_count; i++)
    if (page >= compared[i].first && page <= compared[i].last) return true;
  return false;
}

void never_watch_any(bool on) { nothing_is_watched = on; }
bool watches_nothing() { return nothing_is_watched; }

bool anything_watched() { return __atomic_load_n(&any_announced, __ATOMIC_SEQ_CST); }

bool may_be_watched(u64 a, u64 n) {
  const u64 first = a >> chunk_bits, last = (a + n - 1) >> chunk_bits;
  if (last - first >= chunks) return true;
  for (u64 chunk = first; chunk <= last; chunk++)
    if (__atomic_load_n(&watched_chunks[chunk % chunks / 64], __ATOMIC_RELAXED) >> chunk % 64 & 1) return true;
  return false;
}

}  // namespace tally::engine::translate
