/// Mapped files and shared memory: the same bytes at several addresses, and who else may write them. Program code in
/// them changes by a write to any of these addresses, or through a descriptor.
///
/// Everything here wants the lock of exec_regions.cpp.
#pragma once
#include "tally/engine/base.hpp"

namespace tally::engine::translate {

/// One mapping of a part of a file.
struct FileMapping {
  u64 start = 0, end = 0;
  u64 offset = 0;  // of `start` in the file
  u64 device = 0, inode = 0;
  bool writable = false, executable = false;
  bool shared = false;         // what is written here is in the file, and at its other addresses
  bool by_descriptor = false;  // the descriptor that it was mapped by may be written
  bool others = false;         // so may processes that this one knows nothing of
};

/// What has no device number of its own.
inline constexpr u64 anonymous_device = ~u64{0}, system_v_device = ~u64{1};

void files_forget(u64 start, u64 end);
/// The end of the System V shared memory that is attached at `a`; `a` where none is.
u64 attached_end(u64 a);
void files_add(const FileMapping& m);
/// Adds what the kernel lists from `start` to `end`.
void files_learn(u64 start, u64 end);
/// Who changed something here was killed: what was changed is read from the kernel again.
void files_repair();
void files_protect(u64 start, u64 end, bool writable, bool executable);
/// mremap(2): `old_bytes` 0 makes a second mapping.
void files_move(u64 old, u64 old_bytes, u64 to, u64 bytes);
/// Another process has all that is shared now.
void files_forked();

/// The mapping at an address, or null.
const FileMapping* file_at(u64 address);
/// One after the other, from 0; null at the end.
const FileMapping* file_number(u32 i);
/// Where `m` has what `of` has at `address`; 0 where it has not.
u64 same_byte(const FileMapping& of, u64 address, const FileMapping& m);

/// Whether code of a mapped file may be written through a descriptor. Needs no lock.
bool files_may_be_written();

}  // namespace tally::engine::translate
