/// Pages of code that the program may write. Such a page is either *watched* or *compared*. A watched page is
/// protected, so that a write is noticed before it happens; then its translations are dropped and its protection is
/// restored. Code of a compared page is compared with its copy when a trace is entered (compared_code.cpp). This is
/// necessary if the page cannot be protected, if the kernel writes to it, or if it is written very often.
///
/// The caller must hold the lock of exec_regions.cpp for everything here, unless noted otherwise.
#pragma once
#include "tally/engine/guest_thread.hpp"

namespace tally::engine::translate {

enum class Compared : u8 { no, while_written_often, for_good };

struct Watched {
  u64 page;
  bool on;    // it is protected now
  u8 before;  // its original protection
  u8 writes;  // how often it was written while protected
  Compared compared;
};

/// Whether the kernel may write to this page for `t`, which is in a system call or about to end. Set once at the start.
extern bool (*kernel_may_write)(const Thread& t, u64 page);

/// Protects the page against writes; `before` is its original protection. Returns false if its code must be compared.
bool watch(u64 page, u8 before);
/// Restores the page's protection. Returns false if the kernel refuses.
bool unwatch(Watched& w);
/// The same for `n` adjacent pages, which are never protected again.
bool unwatch_together(Watched* const* pages, u32 n);
/// After a thread was killed while it changed this data: protects all pages that are recorded as protected.
void repair_watched();
/// A protected page is written. Switches it to comparison if that happens often.
void note_write(Watched& w);

bool is_protected(u64 page);
/// Returns the entry of a page that is or was watched, or null.
Watched* watched_page(u64 page);
/// Calls `each` with the entries of all pages from `first` to `last`.
template <class Each>
void each_watched(u64 first, u64 last, Each&& each);
/// Protections of the pages from `first` to before `end` were set again: forgets their entries' state.
void forget_watched(u64 first, u64 end);
/// Watches frequently written pages again: calls `each` with every such page, whose code must be dropped.
template <class Each>
void each_written_often(Each&& each);

/// Always compares code of these pages, even if nobody can write to them.
void always_compare(u64 a, u64 n);
bool is_always_compared(u64 page);
/// Watches no page from now on, because the kernel may write at any time; or watches pages again.
void never_watch_any(bool on);
bool watches_nothing();

/// Whether any page, or any page of this range, may be watched. Take no lock: a thread announces its system call before
/// it calls these.
bool anything_watched();
bool may_be_watched(u64 a, u64 n);

struct WatchedTable {
  Watched* entry = nullptr;  // open addressing by page number
  u32 mask = 0, used = 0;
};
extern WatchedTable watched;

template <class Each>
void each_watched(u64 first, u64 last, Each&& each) {
  if (watched.entry == nullptr) return;
  if (last - first <= watched.mask) {
    for (u64 page = first; page <= last; page++)
      if (Watched* const w = watched_page(page)) each(*w);
    return;
  }
  for (u32 i = 0; i <= watched.mask; i++) {
    Watched& w = watched.entry[i];
    if (w.page != 0 && w.page >= first && w.page <= last) each(w);
  }
}

template <class Each>
void each_written_often(Each&& each) {
  each_watched(1, ~u64{0}, [&](Watched& w) {
    if (w.compared != Compared::while_written_often) return;
    w.compared = Compared::no;
    w.writes = 0;
    each(w);
  });
}

}  // namespace tally::engine::translate
