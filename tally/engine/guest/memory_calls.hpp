/// System calls that may change the program's code: mappings, and writes by the kernel.
#pragma once
#include "tally/engine/records.hpp"

namespace tally::engine::guest {

/// mmap, munmap, mprotect, pkey_mprotect, mremap, shmat, shmdt, remap_file_pages, mseal.
s64 emulate_mapping(Thread* t);
/// brk.
s64 emulate_break(Thread* t);
/// mincore, msync, mlock, mlock2, munlock.
s64 emulate_on_range(Thread* t);
/// madvise and process_madvise.
s64 emulate_madvise(Thread* t);
/// userfaultfd: pages of code may be absent from now on.
s64 emulate_userfaultfd(Thread* t);
/// ioctls: those of userfaultfd have the same effect, and may move pages.
s64 emulate_ioctl(Thread* t);
/// Makes a call after which the kernel writes memory without a further call (io_uring, asynchronous I/O), or after
/// which protections cannot be lifted. From then on the engine compares code instead of protecting it.
s64 emulate_unseen_writes(Thread* t, s64 (*make)(Thread*));
s64 emulate_membarrier(Thread* t);
s64 emulate_mlockall(Thread* t);
/// A message with descriptors was sent or received: another process may map the same files, and write code there.
void note_descriptors_exchanged();
/// Makes a call that opens a file with these flags.
s64 emulate_open(Thread* t, u64 flags);
/// Makes a call that writes to file `fd`; ~0 if the call has no descriptor.
s64 emulate_write(Thread* t, u64 fd);

/// Used around a fork, so that no other thread is in the middle of a mapping call.
void lock_mappings(Thread* t);
void unlock_mappings();
/// Calls Lock::release_for_dead() on the mappings lock.
void release_mappings_for_dead(u32 holder);

}  // namespace tally::engine::guest
