/// System calls by which a program's code may change: what is mapped, what is written by the kernel.
#pragma once
#include "tally/engine/thread.hpp"

namespace tally::engine {

/// mmap, munmap, mprotect, pkey_mprotect, mremap, shmat, shmdt.
s64 emulate_mapping(Thread* t);
s64 emulate_madvise(Thread* t);
s64 emulate_membarrier(Thread* t);
/// A call that opens a file, with these flags.
s64 emulate_open(Thread* t, u64 flags);
/// A call that writes into a file; one without a descriptor: ~0.
s64 emulate_write(Thread* t, u64 fd);

/// Around a fork: no other thread is in the middle of a mapping call.
void lock_mappings(Thread* t);
void unlock_mappings();

}  // namespace tally::engine
