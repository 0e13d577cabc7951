/// System calls by which a program's code may change: what is mapped, what is written by the kernel.
#pragma once
#include "tally/engine/records.hpp"

namespace tally::engine::guest {

/// mmap, munmap, mprotect, pkey_mprotect, mremap, shmat, shmdt, remap_file_pages, mseal.
s64 emulate_mapping(Thread* t);
/// brk.
s64 emulate_break(Thread* t);
/// madvise and process_madvise.
s64 emulate_madvise(Thread* t);
/// Pages of code may be absent from now on.
s64 emulate_userfaultfd(Thread* t);
/// The same for ioctls of userfaultfd, and pages may be moved.
s64 emulate_ioctl(Thread* t);
/// A call by which the kernel will write where no call says so (io_uring, asynchronous I/O), or by which protections
/// cannot be lifted any more: from then on no code is protected, but compared.
s64 emulate_unseen_writes(Thread* t, s64 (*make)(Thread*));
s64 emulate_membarrier(Thread* t);
/// A call that opens a file, with these flags.
s64 emulate_open(Thread* t, u64 flags);
/// A call that writes into a file; one without a descriptor: ~0.
s64 emulate_write(Thread* t, u64 fd);

/// Around a fork: no other thread is in the middle of a mapping call.
void lock_mappings(Thread* t);
void unlock_mappings();
/// Lock::release_for_dead() for their lock.
void release_mappings_for_dead(u32 holder);

}  // namespace tally::engine::guest
