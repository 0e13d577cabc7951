/// Mapped files and shared memory: which addresses show the same bytes, and who else may write them. Program code in
/// them changes by a write to any of these addresses, or through a descriptor.
///
/// The caller must hold the lock of exec_regions.cpp for everything here.
#pragma once
#include "tally/engine/base.hpp"

namespace tally::engine::translate {

/// A mapping of a part of a file.
struct FileMapping {
  u64 start = 0, end = 0;
  u64 offset = 0;  // of `start` in the file
  u64 device = 0, inode = 0;
  bool writable = false, executable = false;
  bool shared = false;         // writes go to the file, and appear at its other addresses
  bool by_descriptor = false;  // the descriptor used for the mapping may be written
  bool others = false;         // processes unknown to this one may write it
};

/// Device numbers for memory that has none.
inline constexpr u64 anonymous_device = ~u64{0}, system_v_device = ~u64{1};

void files_forget(u64 start, u64 end);
/// Returns the end of the System V shared memory that is attached at `a`, or `a` if there is none.
u64 attached_end(u64 a);
void files_add(const FileMapping& m);
/// Adds the mappings that the kernel lists between `start` and `end`.
void files_learn(u64 start, u64 end);
/// After a thread was killed while it changed these tables: reads the changed ranges from the kernel again.
void files_repair();
void files_protect(u64 start, u64 end, bool writable, bool executable);
/// Follows mremap(2); `old_bytes` 0 makes a second mapping.
void files_move(u64 old, u64 old_bytes, u64 to, u64 bytes);
/// From now on, other processes may write all shared memory and mapped files, also those that are mapped later.
void files_shared_with_others();
/// Whether that was called. Takes no lock.
bool files_are_shared_with_others();

/// Returns the mapping at an address, or null.
const FileMapping* file_at(u64 address);
/// Returns the mapping with index `i`, or null after the last one.
const FileMapping* file_number(u32 i);
/// Returns the address in `m` of the byte that is at `address` in `of`, or 0 if `m` does not contain it.
u64 same_byte(const FileMapping& of, u64 address, const FileMapping& m);

/// Whether code in a mapped file may be written through a descriptor. Takes no lock.
bool files_may_be_written();

}  // namespace tally::engine::translate
