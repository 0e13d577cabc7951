/// The program's executable memory: which ranges are known, and how changes of code are noticed.
#pragma once
#include "tally/engine/records.hpp"

namespace tally::engine::translate {

struct FileMapping;

/// Copies up to `n` bytes of executable program memory at `pc`. Returns their number, 0 if it cannot be executed.
u32 read_code(u64 pc, u8* to, u32 n);
/// Starts watching the page of `pc`, before its code is read. Returns true if it cannot be watched: then its code must
/// be compared with its copy at each entry.
bool watch_page(u64 pc);
/// Handles a write fault at `address`. If the page is watched, makes it writable and suspends its traces. Returns
/// whether the page is or was watched and the program may write it.
bool unwatch_page(u64 address);
/// Reads the pointer at `address`, if every change of it would be noticed by the functions below. A trace that relies
/// on it must register for its page.
bool read_pointer(u64 address, u64& value);
/// Whether such pointers may have changed since the last call. Then all threads must leave their traces once: one may
/// be executing a trace that was dropped, and must not use the old pointer.
bool pointers_changed();
/// Whether code at `pc` may be written without immediate notice to the engine.
bool may_change(u64 pc);
/// Whether `pc` is executable and nobody can write it now without notice: by its mapping, or because it is watched.
bool is_guarded_code(u64 pc);
/// Queries the kernel about code that is about to run, if it is unknown.
void query_code(u64 pc);
/// Whether [a, a + n) is known code that nobody can write as it is mapped now, so that it needs no watching. Does not
/// query the kernel: for addresses without code, it would be queried again and again.
bool is_constant(u64 a, u64 n);
/// Returns the known range around `pc` that nobody can write as it is mapped now. Returns false if it can be written.
bool constant_around(u64 pc, u64& start, u64& end);
/// Restores the protection of watched pages in a range, and suspends their traces. Returns whether there were any.
bool unwatch_range(u64 a, u64 n);
bool unwatch_all();
/// The same for all pages in a range whose protection is about to change.
void begin_protecting(u64 a, u64 n);
/// A range is about to be unmapped, replaced or emptied: keeps its code for cycles.
void begin_replacing(u64 a, u64 n);
/// The kernel is about to write there. Never protects these pages again.
void open_for_kernel(u64 a, u64 n);
/// Compares code there instead of watching it, because the current protection could not be restored later.
void compare_range(u64 a, u64 n);
/// Sets whether the kernel may write anywhere at any time; then nothing is watched. Returns the previous setting.
bool compare_all(bool on);
/// Watches pages again that were written too often. The caller must hold cache_lock.
void watch_again();
/// The program mapped memory (of `file`, unless null) or unmapped it (protection -1); changed its protection; moved it.
void note_mapping(u64 a, u64 n, s64 protection, const FileMapping* file = nullptr);
void note_protection(u64 a, u64 n, s64 protection);
void note_move(u64 old, u64 old_bytes, u64 to, u64 bytes);
/// One of these may have happened: the thread that did it was killed. The kernel is queried when the range is needed.
void note_unknown(u64 a, u64 n);
/// How much System V shared memory is attached at `a`.
u64 attached_bytes(u64 a);
/// The program discarded memory (madvise). `of_file`: the same bytes at other addresses, too.
void note_discarded_memory(u64 a, u64 n, bool of_file);
/// Shared memory was mapped to another part of its file (remap_file_pages).
void note_other_pages(u64 a, u64 n, u64 offset);
/// A system call wrote to a file; device 0: to any mapped file.
void note_written(u64 device, u64 inode);
/// Writes to this file, a /proc/PID/mem, write memory regardless of its protection.
void note_memory_file(u64 device, u64 inode);
/// Whether any known code may be written through a descriptor. Takes no lock.
bool may_be_written();
/// Other processes may write all shared memory and all files that are mapped now or later: they have the descriptors.
/// The caller must hold lock_tables().
void note_shared_with_others();
void code_init();
/// Whether readable memory is executable (READ_IMPLIES_EXEC), in mappings that are made from now on.
void reading_executes(bool yes);
void lock_code();
void unlock_code();
/// Lock::release_for_dead() for the lock of lock_code().
void release_code_for_dead(u32 holder);

}  // namespace tally::engine::translate
