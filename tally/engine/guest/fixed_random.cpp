#include "tally/engine/guest/fixed_random.hpp"

#include <sys/stat.h>

#include "tally/engine/guest/guest_signals.hpp"

namespace tally::engine::guest {
namespace {

constexpr u64 golden = 0x9e3779b97f4a7c15;

u64 seed = golden, drawn, child_seed;

/// The generator splitmix64: a counter whose bits are mixed.
u64 next() {
  u64 z = seed + golden * __atomic_add_fetch(&drawn, 1, __ATOMIC_RELAXED);
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
  z = (z ^ z >> 27) * 0x94d049bb133111eb;
  return z ^ z >> 31;
}

/// with_fixed_bytes() for the buffers of a vector of `n` struct iovec.
s64 with_fixed_vector(s64 r, u64 vector, u64 n) {
  u64 left = failed(r) ? 0 : static_cast<u64>(r);
  for (u64 i = 0; i < n && left != 0; i++) {
    u64 buffer[2]{};  // address, bytes
    if (get(buffer, vector + i * sizeof buffer, sizeof buffer) != 0) break;
    const u64 bytes = buffer[1] < left ? buffer[1] : left;
    (void)with_fixed_bytes(static_cast<s64>(bytes), buffer[0]);
    left -= bytes;
  }
  return r;
}

}  // namespace

void fill_random(void* to, u64 bytes) {
  u8* p = static_cast<u8*>(to);
  for (u64 word = 0, i = 0; i < bytes; i++, word >>= 8) {
    if (i % 8 == 0) word = next();
    p[i] = static_cast<u8>(word);
  }
}

void fork_random() { child_seed = next(); }

void forked_random() {
  seed = child_seed;
  drawn = 0;
}

s64 with_fixed_bytes(s64 r, u64 buffer) {
  u8 part[256];
  for (u64 at = 0, end = failed(r) ? 0 : static_cast<u64>(r); at < end; at += sizeof part) {
    const u64 n = end - at < sizeof part ? end - at : sizeof part;
    fill_random(part, n);
    put(buffer + at, part, n);
  }
  return r;
}

bool is_random_device(u64 fd) {
  constexpr u64 random = 1 << 8 | 8, urandom = 1 << 8 | 9;
  struct stat file;
  return kernel(SYS_fstat, fd, reinterpret_cast<u64>(&file)) == 0 && S_ISCHR(file.st_mode) &&
         (file.st_rdev == random || file.st_rdev == urandom);
}

s64 with_fixed_read(const Thread* t, s64 r) {
  const u64* const g = t->gpr;
  if (!random_is_fixed() || !is_random_device(g[rdi])) return r;
  const bool has_vector = g[rax] == SYS_readv || g[rax] == SYS_preadv || g[rax] == SYS_preadv2;
  return has_vector ? with_fixed_vector(r, g[rsi], g[rdx]) : with_fixed_bytes(r, g[rsi]);
}

}  // namespace tally::engine::guest
