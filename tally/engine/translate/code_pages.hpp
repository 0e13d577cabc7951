/// Pages of program code: which traces rely on which lines of each page, and what happens to them if code changes.
///
/// Before a page becomes writable, its traces are *suspended*: nothing enters them, and the engine keeps a copy of the
/// page. When code of the page is about to run again, the page is compared with the copy. Traces of lines that are
/// equal are resumed; the others are dropped.
///
/// The caller must hold cache_lock for everything here.
#pragma once
#include "tally/engine/base.hpp"

namespace tally::engine::translate {

void code_pages_init();
/// Forgets everything: all traces were discarded.
void code_pages_reset();
/// Whether there is room for one more trace; or for these numbers of entries. Enlarges the tables.
bool code_pages_have_room();
bool code_pages_have_room(u32 nodes, u32 different_pages);

/// Records that the trace with this index relies on `bytes` bytes of the program at `a`. They can change only with
/// notice to the functions below.
void register_code(u32 trace, u64 a, u64 bytes);
/// Drops the traces that rely on [a, a + n), except suspended ones, which are compared before they are resumed.
void invalidate(u64 a, u64 n);
/// Code that traces compare is now equal to these bytes, or differs from those of the traces at `pc`, which it drops.
void note_compared(u64 a, const u8* bytes, u32 n);
void drop_compared(u64 pc);
/// The program is about to unmap or replace these pages: keeps what cycles need of them (past_code.hpp).
void keep_code(u64 a, u64 n);
/// The program unmapped or replaced these pages: drops all of their traces.
void forget_code(u64 a, u64 n);
/// Suspends the traces that rely on pages of [a, a + n), which are about to become writable. The pages must be equal to
/// what the traces were made of.
void suspend_code(u64 a, u64 n);
/// Resumes the traces of the page of `pc`, if it is suspended. The page must be watched, if it can be.
void resume_code(u64 pc);
/// Whether the page of `pc` became writable since it was mapped. Other runs do not have such code.
bool is_changing_code(u64 pc);

}  // namespace tally::engine::translate
