/// The program's executable memory: what is known of it, and how it is noticed that code changes.
#pragma once
#include "tally/engine/records.hpp"

namespace tally::engine::translate {

struct FileMapping;

/// Copies up to `n` bytes of executable program memory at `pc`; returns how many there are, 0 when it cannot be
/// executed.
u32 read_code(u64 pc, u8* to, u32 n);
/// Writes to the page of `pc` will be noticed from now on. Called before its code is read. True: they will not be; the
/// code is to be compared with what it was when it is entered.
bool watch_page(u64 pc);
/// A write fault at `address`: true when the page was watched; then it is writable again and its traces are dropped.
bool unwatch_page(u64 address);
/// The pointer at `address`, if the program can change it only in ways that are noted below. Who relies on it is
/// registered for its page.
bool read_pointer(u64 address, u64& value);
/// Whether such pointers may have changed since this was last asked. Then all threads must come out of their traces
/// once: one may be in the middle of one that was dropped, and must not go by the old pointer any more.
bool pointers_changed();
/// Whether code at `pc` may be written without the engine hearing of it at once.
bool may_change(u64 pc);
/// Asks the kernel about code that is about to run, where nothing is known of it.
void know_code(u64 pc);
/// Whether [a, a + n) is known as code that nobody can write as it is mapped now, so that none of it needs to be
/// watched. The kernel is not asked: where no code is expected to be, it would be asked again and again.
bool is_constant(u64 a, u64 n);
/// The known code around `pc` that nobody can write as it is mapped now; false where it can be written.
bool constant_around(u64 pc, u64& start, u64& end);
/// The watched pages of a range are as the program made them, what was translated from them is dropped. False when
/// there are none.
bool unwatch_range(u64 a, u64 n);
bool unwatch_all();
/// The kernel is about to write there: it can, from now on and for good.
void open_for_kernel(u64 a, u64 n);
/// Code there cannot be watched: what protects it now could not be lifted any more.
void compare_range(u64 a, u64 n);
/// The kernel may write anywhere at any time: nothing is watched. Or it may not, after all. Returns what was before.
bool compare_all(bool on);
/// Pages that were written too often to be watched may be so no more. Wants cache_lock held.
void watch_again();
/// The program made a mapping, of a file or shared memory unless null, or unmapped it (protection -1); changed its
/// protection; moved it.
void note_mapping(u64 a, u64 n, s64 protection, const FileMapping* file = nullptr);
void note_protection(u64 a, u64 n, s64 protection);
void note_move(u64 old, u64 old_bytes, u64 to, u64 bytes);
/// Some of that happened, or did not: who did it was killed. The kernel is asked when it matters.
void note_unknown(u64 a, u64 n);
/// How much System V shared memory is attached at `a`.
u64 attached_bytes(u64 a);
/// Memory that the program does not want any more (madvise); `of_file`: the same bytes at other addresses, too.
void note_thrown_away(u64 a, u64 n, bool of_file);
/// Shared memory shows another part of its file (remap_file_pages).
void note_other_pages(u64 a, u64 n, u64 offset);
/// A file was written by a system call; device 0: any of those that are mapped.
void note_written(u64 device, u64 inode);
/// Writing to this file, one of /proc/PID/mem, writes memory, whatever its protection.
void note_memory_file(u64 device, u64 inode);
/// Whether anything that is known of may be written through a descriptor. Needs no lock.
bool may_be_written();
/// Shared memory is another process's, too. Wants lock_code.
void note_forked();
void code_init();
/// Whether what can be read may be executed (READ_IMPLIES_EXEC), in mappings that are made from now on.
void reading_executes(bool yes);
void lock_code();
void unlock_code();
/// Lock::release_for_dead() for it.
void release_code_for_dead(u32 holder);

}  // namespace tally::engine::translate
