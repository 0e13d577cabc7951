#include "tally/workload/table.hpp"

namespace tally::workload {

Counts countdown(const Parameters& p) {
  return {.instructions = 2 * p.n + 5, .conditional = p.n, .taken = p.n - 1, .far = 1};
}

uint64_t random_taken(const Parameters& p) {
  // It takes a millisecond, and is asked for again and again.
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

}  // namespace tally::workload
