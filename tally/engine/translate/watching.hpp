/// Pages of code that the program may write. Either such a page is protected, so that a write is noticed before it
/// happens: then what was translated from it is dropped, and the page is as the program made it again. Or it stays as
/// the program made it, and each trace compares the code that it was made from when it is entered (compared_code.cpp):
/// where there is no protection to be had, where the kernel writes, and where it would be lifted all the time.
///
/// Everything here wants the lock of exec_regions.cpp, unless it says otherwise.
#pragma once
#include "tally/engine/thread.hpp"

namespace tally::engine::translate {

enum class Compared : u8 { no, while_written_often, for_good };

struct Watched {
  u64 page;
  bool on;    // it is protected
  u8 before;  // the protection that it had
  u8 writes;  // how often it was written when it was protected
  Compared compared;
};

/// Whether the kernel may write into this page in the name of `t`, which is in a system call or will end. Set once, at
/// the start.
extern bool (*kernel_may_write)(const Thread& t, u64 page);

/// The page cannot be written from now on; `before`: how it can be used otherwise. False: its code is to be compared.
bool watch(u64 page, u8 before);
/// It is as the program made it. False where the kernel refuses that.
bool unwatch(Watched& w);
/// The same for `n` pages side by side, none of which is to be protected again.
bool unwatch_together(Watched* const* pages, u32 n);
/// Who changed something here was killed: what is said to be protected is.
void repair_watched();
/// A protected page is written: it is to be compared if that happens all the time.
void note_write(Watched& w);

bool is_protected(u64 page);
/// The entry of a page that is, or was, or null.
Watched* watched_page(u64 page);
/// Calls `each` with the entries of all pages from `first` to `last`.
template <class Each>
void each_watched(u64 first, u64 last, Each&& each);
/// Protections were set again from page `first` on to before `end`: nothing is known.
void forget_watched(u64 first, u64 end);
/// What is written often has to show that again: calls `each` with every such page, whose code is to be dropped.
template <class Each>
void each_written_often(Each&& each);

/// Code of these pages is compared even where nobody can write it.
void always_compare(u64 a, u64 n);
bool is_always_compared(u64 page);
/// No page is protected, where the kernel writes whenever it wants to; or some are.
void never_watch_any(bool on);
bool watches_nothing();

/// Whether any page is, or may be in this memory. Need no lock; who enters a system call has said so before.
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
