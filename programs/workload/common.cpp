#include "programs/workload/table.hpp"

namespace tally::workload {

Counts countdown(const Parameters& p) {
  return {.instructions = 2 * p.n + 5, .conditional = p.n, .taken = p.n - 1, .far = 1};
}

uint64_t random_taken(const Parameters& p) {
  // Cached, because it takes a millisecond and is called repeatedly.
  thread_local Parameters last;
  thread_local uint64_t last_taken = 0;
  if (p == last) return last_taken;
  auto state = static_cast<uint32_t>(p.seed);
  uint64_t taken = 0;
  for (uint64_t i = 0; i < p.n; ++i) {
    state ^= state << 13;
    state ^= state >> 17;
    state ^= state << 5;
    taken += (state & 0x10000) == 0;
  }
  last = p;
  return last_taken = taken;
}

uint64_t code_page(const Parameters&) { return 1; }

Buffers matrices(const Parameters& p) { return {4 * p.n * p.n, 4 * p.n * p.n, 4 * p.n * p.n}; }

Buffers array(const Parameters& p) { return {p.bytes}; }

uint64_t array_faults(const Parameters& p) { return 1 + pages_of(p.bytes); }

Buffers lines(const Parameters& p) { return {64 * p.n}; }

uint64_t lines_faults(const Parameters& p) { return 1 + pages_of(64 * p.n); }

Buffers touched(const Parameters& p) { return {4096 * p.n}; }

uint64_t touched_faults(const Parameters& p) { return 1 + 2 * p.n; }

Buffers stacks(const Parameters& p) { return {4096 * p.n}; }

Buffers arguments(const Parameters& p) { return {8 * (p.n + 2)}; }

namespace everywhere {

Counts factorial5(const Parameters& p, uint64_t instructions) {
  return {.instructions = instructions, .conditional = p.n, .taken = 1, .direct_jumps = p.n - 1, .far = 1};
}

Counts factorial4(const Parameters& p, uint64_t instructions) {
  return {.instructions = instructions, .conditional = p.n - 1, .taken = p.n - 2, .far = 1};
}

Counts factorial3(const Parameters& p, uint64_t instructions) {
  return {.instructions = instructions, .conditional = p.n, .taken = p.n - 1, .far = 1};
}

Counts nothing(const Parameters&) { return {.instructions = 3, .far = 1}; }

Counts matmul(const Parameters& p, uint64_t instructions) {
  const uint64_t n2 = p.n * p.n;
  const uint64_t n3 = n2 * p.n;
  return {.instructions = instructions,
          .conditional = n3 + 2 * n2 + p.n,
          .taken = n3 + n2 - 2,
          .far = 1,
          .loads = 2 * n3,
          .stores = 3 * n2};
}

Counts stride(const Parameters& p, uint64_t instructions) {
  return {.instructions = instructions,
          .conditional = p.bytes + p.stride,
          .taken = p.bytes - 1,
          .far = 1,
          .loads = p.bytes};
}

Counts calls(const Parameters& p, uint64_t instructions) {
  return {.instructions = instructions,
          .conditional = p.n,
          .taken = p.n - 1,
          .indirect_jumps = 4 * p.n,
          .direct_calls = 2 * p.n,
          .indirect_calls = p.n,
          .returns = 3 * p.n,
          .far = 1};
}

Counts branches(const Parameters& p, uint64_t taken, uint64_t instructions) {
  return {.instructions = instructions, .conditional = 2 * p.n, .taken = taken + p.n - 1, .far = 1};
}

Counts loops(const Parameters& p, uint64_t instructions) {
  return {.instructions = instructions, .conditional = p.n * p.k + p.n, .taken = p.n * (p.k - 1) + p.n - 1, .far = 1};
}

Counts chase(const Parameters& p, uint64_t instructions) {
  const uint64_t steps = p.n * p.k;
  return {.instructions = instructions,
          .conditional = p.n + steps,
          .taken = p.n - 1 + steps - 1,
          .far = 1,
          .loads = steps,
          .stores = p.n};
}

Counts system_calls(const Parameters& p, uint64_t instructions) {
  return {.instructions = instructions, .conditional = p.n, .taken = p.n - 1, .far = p.n + 1};
}

Counts touch(const Parameters& p, uint64_t instructions) {
  return {.instructions = instructions, .conditional = p.n, .taken = p.n - 1, .far = 1, .loads = p.n, .stores = p.n};
}

Counts threads(const Parameters& p, uint64_t instructions) {
  return {.instructions = instructions,
          .conditional = 3 * p.n + p.n + p.n * p.k,
          .taken = 2 * (p.n - 1) + p.n + p.n * (p.k - 1),
          .far = 2 * p.n + 1 + p.n,
          .loads = p.n,
          .stores = p.n};
}

Counts forks(const Parameters& p, uint64_t instructions) {
  return {.instructions = instructions,
          .conditional = 2 * p.n + p.n + p.n * p.k,
          .taken = p.n - 1 + p.n + p.n * (p.k - 1),
          .far = 2 * p.n + 1 + p.n};
}

uint64_t arguments_of_execs(const Parameters& p) { return (p.n - 1) * p.n / 2; }

Counts execs(const Parameters& p, uint64_t instructions) {
  const uint64_t before = p.n - 1;
  const uint64_t sum = arguments_of_execs(p);
  return {.instructions = instructions,
          .conditional = before + sum + before + 1,
          .taken = sum + 1,
          .far = p.n,
          .loads = 2 * before + 1,
          .stores = sum + before};
}

}  // namespace everywhere

}  // namespace tally::workload
