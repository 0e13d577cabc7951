// The workload table of the architecture that tally is built for: x86_64.cpp or aarch64.cpp.
#pragma once

#include <span>

#include "programs/workload/workload.hpp"

namespace tally::workload {

std::span<const Workload> table();

/// The same counts on every architecture.
Counts countdown(const Parameters& p);

/// How often the random branch of branches.S is taken; computed with its generator, xorshift with shifts of 13, 17 and
/// 5 (Marsaglia, 2003).
uint64_t random_taken(const Parameters& p);

constexpr uint64_t pages_of(uint64_t bytes) { return (bytes + 4095) / 4096; }

/// The pointers of a loop over elements or of a string instruction, and the accesses for each element.
struct Elements {
  uint64_t pointers;
  uint64_t loads;
  uint64_t stores;
};

template <Elements shape, uint64_t width>
Buffers element_buffers(const Parameters& p) {
  return {width * p.n, shape.pointers == 2 ? width * p.n : 0};
}

// A copy reads the page that both buffers share before it writes it: two faults.
template <Elements shape, uint64_t width>
uint64_t element_faults(const Parameters& p) {
  const uint64_t bytes = shape.pointers * width * p.n;
  const bool shared = shape.pointers == 2 && shape.stores != 0 && width * p.n % 4096 != 0;
  return 1 + pages_of(bytes) + (shared ? 1 : 0);
}

uint64_t code_page(const Parameters& p);
Buffers matrices(const Parameters& p);
Buffers array(const Parameters& p);
uint64_t array_faults(const Parameters& p);
Buffers lines(const Parameters& p);
uint64_t lines_faults(const Parameters& p);
Buffers touched(const Parameters& p);
/// Each page is read, then written: one fault for the zero page, one for a page of its own.
uint64_t touched_faults(const Parameters& p);
Buffers stacks(const Parameters& p);
Buffers arguments(const Parameters& p);

/// The counts of programs that exist on every architecture. The caller passes the number of instructions.
namespace everywhere {
Counts factorial5(const Parameters& p, uint64_t instructions);
Counts factorial4(const Parameters& p, uint64_t instructions);
Counts factorial3(const Parameters& p, uint64_t instructions);
Counts nothing(const Parameters& p);
Counts matmul(const Parameters& p, uint64_t instructions);
Counts stride(const Parameters& p, uint64_t instructions);
/// Excludes the memory accesses of calls and returns.
Counts calls(const Parameters& p, uint64_t instructions);
Counts branches(const Parameters& p, uint64_t taken, uint64_t instructions);
Counts loops(const Parameters& p, uint64_t instructions);
Counts chase(const Parameters& p, uint64_t instructions);
Counts system_calls(const Parameters& p, uint64_t instructions);
Counts touch(const Parameters& p, uint64_t instructions);
/// Of the parent, and of each thread after the call that created it.
Counts threads(const Parameters& p, uint64_t instructions);
Counts forks(const Parameters& p, uint64_t instructions);
/// Image j writes j + 1 arguments; this is their total.
uint64_t arguments_of_execs(const Parameters& p);
Counts execs(const Parameters& p, uint64_t instructions);
}  // namespace everywhere

}  // namespace tally::workload
