/// Random numbers from a fixed seed, instead of the kernel's and the processor's (Settings::repeatable). They are not
/// secret.
#pragma once
#include "tally/engine/records.hpp"

namespace tally::engine::guest {

/// Whether programs get such numbers.
inline bool random_is_fixed() { return settings().repeatable != 0; }

void fill_random(void* to, u64 bytes);
/// The process is about to fork: chooses the seed of the child, which uses it after forked_random().
void fork_random();
void forked_random();

/// Replaces the `r` bytes at `buffer` that a system call wrote, unless `r` is an error. Returns `r`.
s64 with_fixed_bytes(s64 r, u64 buffer);
/// The same for a call of the family of read(2), if programs get such numbers and it read from such a device.
s64 with_fixed_read(const Thread* t, s64 r);
/// Whether the descriptor is /dev/random or /dev/urandom, by whatever name it was opened.
bool is_random_device(u64 fd);

}  // namespace tally::engine::guest
