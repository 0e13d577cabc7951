// The counts follow from the listings in aarch64/: a line of code is a term, and SET and PLACE are two.
#include "tally/workload/table.hpp"

namespace tally::workload {
namespace {

// What maps the buffers with their pages comes before it: ten instructions, one of them a system call.
constexpr uint64_t mapping_instructions = 10;

/// Of a loop over elements: its pointers, and what an element costs.
struct Elements {
  uint64_t pointers;
  uint64_t loads;
  uint64_t stores;
};

constexpr Elements load{1, 1, 0};
constexpr Elements store{1, 0, 1};
constexpr Elements copy{2, 1, 1};
constexpr Elements compare{2, 2, 0};

template <Elements shape, bool warm>
Counts elements(const Parameters& p) {
  return {.instructions =
              (2 + shape.loads + shape.stores) * p.n + 2 * shape.pointers + 5 + (warm ? mapping_instructions : 0),
          .conditional = p.n,
          .taken = p.n - 1,
          .far = warm ? 2u : 1u,
          .loads = shape.loads * p.n,
          .stores = shape.stores * p.n};
}

template <Elements shape, uint64_t width>
Buffers element_buffers(const Parameters& p) {
  return {width * p.n, shape.pointers == 2 ? width * p.n : 0};
}

// The page that both buffers of a copy share is read first, and written later: a fault each time.
template <Elements shape, uint64_t width>
uint64_t element_faults(const Parameters& p) {
  const uint64_t bytes = shape.pointers * width * p.n;
  const bool shared = shape.pointers == 2 && shape.stores != 0 && width * p.n % 4096 != 0;
  return 1 + pages_of(bytes) + (shared ? 1 : 0);
}

uint64_t code_page(const Parameters&) { return 1; }

template <uint64_t nops>
Counts factorial5(const Parameters& p) {
  const uint64_t body = 5 + 3 * nops;
  return {.instructions = body * (p.n - 1) + 2 + 6, .conditional = p.n, .taken = 1, .direct_jumps = p.n - 1, .far = 1};
}

Counts factorial4(const Parameters& p) {
  return {.instructions = 4 * (p.n - 1) + 6, .conditional = p.n - 1, .taken = p.n - 2, .far = 1};
}

Counts factorial3(const Parameters& p) {
  return {.instructions = 3 * p.n + 6, .conditional = p.n, .taken = p.n - 1, .far = 1};
}

Counts nothing(const Parameters&) { return {.instructions = 3, .far = 1}; }

Counts matmul(const Parameters& p) {
  const uint64_t n2 = p.n * p.n;
  const uint64_t n3 = n2 * p.n;
  return {.instructions = 6 * n3 + 13 * n2 + 7 * p.n + 18,
          .conditional = n3 + 2 * n2 + p.n,
          .taken = n3 + n2 - 2,
          .far = 1,
          .loads = 2 * n3,
          .stores = 3 * n2};
}

Buffers matrices(const Parameters& p) { return {4 * p.n * p.n, 4 * p.n * p.n, 4 * p.n * p.n}; }

Counts stride(const Parameters& p) {
  return {.instructions = 4 * p.bytes + 6 * p.stride + 6,
          .conditional = p.bytes + p.stride,
          .taken = p.bytes - 1,
          .far = 1,
          .loads = p.bytes};
}

Buffers array(const Parameters& p) { return {p.bytes}; }

uint64_t array_faults(const Parameters& p) { return 1 + pages_of(p.bytes); }

// Returns go by a register: no memory.
Counts calls(const Parameters& p) {
  return {.instructions = 12 * p.n + 10,
          .conditional = p.n,
          .taken = p.n - 1,
          .indirect_jumps = 4 * p.n,
          .direct_calls = 2 * p.n,
          .indirect_calls = p.n,
          .returns = 3 * p.n,
          .far = 1};
}

/// `each` instructions in an iteration, the nop aside; it is executed where the branch is not taken. `begin`: before.
Counts branches(const Parameters& p, uint64_t each, uint64_t taken, uint64_t begin) {
  return {.instructions = begin + each * p.n + (p.n - taken) + 3,
          .conditional = 2 * p.n,
          .taken = taken + p.n - 1,
          .far = 1};
}

Counts branches_always(const Parameters& p) { return branches(p, 4, p.n, 3); }
Counts branches_never(const Parameters& p) { return branches(p, 4, 0, 3); }
Counts branches_alternating(const Parameters& p) { return branches(p, 4, p.n / 2, 3); }
Counts branches_random(const Parameters& p) { return branches(p, 6, random_taken(p), 4); }

Counts loops(const Parameters& p) {
  return {.instructions = p.n * (2 * p.k + 4) + 5,
          .conditional = p.n * p.k + p.n,
          .taken = p.n * (p.k - 1) + p.n - 1,
          .far = 1};
}

Counts chase(const Parameters& p) {
  const uint64_t steps = p.n * p.k;
  return {.instructions = 17 + 8 * p.n + 3 * steps,
          .conditional = p.n + steps,
          .taken = p.n - 1 + steps - 1,
          .far = 1,
          .loads = steps,
          .stores = p.n};
}

Buffers lines(const Parameters& p) { return {64 * p.n}; }

uint64_t lines_faults(const Parameters& p) { return 1 + pages_of(64 * p.n); }

Counts system_calls(const Parameters& p) {
  return {.instructions = 4 * p.n + 5, .conditional = p.n, .taken = p.n - 1, .far = p.n + 1};
}

Counts touch(const Parameters& p) {
  return {.instructions = 5 * p.n + 7, .conditional = p.n, .taken = p.n - 1, .far = 1, .loads = p.n, .stores = p.n};
}

Buffers touched(const Parameters& p) { return {4096 * p.n}; }

// Each page is read first, and written then: the page of zeroes, and one of its own.
uint64_t touched_faults(const Parameters& p) { return 1 + 2 * p.n; }

// Of the parent, and of each thread behind the call that made it.
Counts threads(const Parameters& p) {
  return {.instructions = 11 + 22 * p.n + p.n * (2 * p.k + 6),
          .conditional = 3 * p.n + p.n + p.n * p.k,
          .taken = 2 * (p.n - 1) + p.n + p.n * (p.k - 1),
          .far = 2 * p.n + 1 + p.n,
          .loads = p.n,
          .stores = p.n};
}

Buffers stacks(const Parameters& p) { return {4096 * p.n}; }

Counts forks(const Parameters& p) {
  return {.instructions = 5 + 16 * p.n + p.n * (2 * p.k + 6),
          .conditional = 2 * p.n + p.n + p.n * p.k,
          .taken = p.n - 1 + p.n + p.n * (p.k - 1),
          .far = 2 * p.n + 1 + p.n};
}

// Image j of those that execute another one fills in j + 1 arguments.
Counts execs(const Parameters& p) {
  const uint64_t before = p.n - 1;
  const uint64_t sum = before * p.n / 2;
  return {.instructions = 17 * before + 3 * sum + 8,
          .conditional = before + sum + before + 1,
          .taken = sum + 1,
          .far = p.n,
          .loads = 2 * before + 1,
          .stores = sum + before};
}

Buffers arguments(const Parameters& p) { return {8 * (p.n + 2)}; }

constexpr uint64_t million = 1'000'000;

#define ELEMENTS(op, letter, width, formula)                                                                        \
  {"loop_" #op #letter,                                                                                             \
   "n",                                                                                                             \
   1,                                                                                                               \
   elements<op, false>,                                                                                             \
   element_buffers<op, width>,                                                                                      \
   element_faults<op, width>,                                                                                       \
   {.n = million},                                                                                                  \
   #op " of n elements: " formula},                                                                                 \
  {                                                                                                                 \
    "loop_" #op #letter "_warm", "n", 1, elements<op, true>, element_buffers<op, width>, code_page, {.n = million}, \
        "the same, its pages mapped before: 10 more"                                                                \
  }

// clang-format off
constexpr Workload programs[] = {
    ELEMENTS(load, b, 1, "3n + 7"),
    ELEMENTS(load, w, 2, "3n + 7"),
    ELEMENTS(store, b, 1, "3n + 7"),
    ELEMENTS(store, w, 2, "3n + 7"),
    ELEMENTS(copy, b, 1, "4n + 9"),
    ELEMENTS(copy, w, 2, "4n + 9"),
    ELEMENTS(compare, b, 1, "4n + 9"),
    ELEMENTS(compare, w, 2, "4n + 9"),
    {"nothing", "", 0, nothing, nullptr, code_page, {}, "ends at once: 3"},
    {"countdown", "n", 1, countdown, nullptr, code_page, {.n = million}, "subs, b.ne: 2n + 5"},
    {"fact5", "n", 1, factorial5<0>, nullptr, code_page, {.n = million}, "factorial, five instructions: 5n + 3"},
    {"fact4", "n", 2, factorial4, nullptr, code_page, {.n = million}, "four instructions: 4n + 2"},
    {"fact3", "n", 1, factorial3, nullptr, code_page, {.n = million}, "three instructions: 3n + 6"},
    {"fact5_3nops", "n", 1, factorial5<1>, nullptr, code_page, {.n = million}, "fact5 with 3 nops: 8n"},
    {"fact5_9nops", "n", 1, factorial5<3>, nullptr, code_page, {.n = million}, "fact5 with 9 nops: 14n - 6"},
    {"matmul", "n", 1, matmul, matrices, nullptr, {.n = 40}, "product of n x n matrices: 6n^3 + 13n^2 + 7n + 18"},
    {"stride", "bytes stride", 0, stride, array, array_faults, {.bytes = 1 << 20, .stride = 64},
     "a load of every stride-th byte, stride times over: 4 bytes + 6 stride + 6"},
    {"calls", "n", 1, calls, nullptr, nullptr, {.n = 100'000},
     "2 calls, one through a register, 4 jumps through registers: 12n + 10"},
    {"branches_always", "n", 1, branches_always, nullptr, code_page, {.n = million}, "a branch always taken: 4n + 6"},
    {"branches_never", "n", 1, branches_never, nullptr, code_page, {.n = million}, "a branch never taken: 5n + 6"},
    {"branches_alternating", "n", 1, branches_alternating, nullptr, code_page, {.n = million},
     "a branch taken every second time: 4n + ceil(n/2) + 6"},
    {"branches_random", "n seed", 1, branches_random, nullptr, code_page, {.n = million, .seed = 2463534242},
     "a branch of xorshift32: 7n - taken + 7"},
    {"loops", "n k", 1, loops, nullptr, code_page, {.n = 100'000, .k = 8}, "n loops of k: n (2k + 4) + 5"},
    {"chase", "n k", 1, chase, lines, lines_faults, {.n = 4096, .k = 50},
     "n lines in a ring (a power of two), k rounds: 8n + 3nk + 17"},
    {"system_calls", "n", 1, system_calls, nullptr, code_page, {.n = 10'000}, "n times getpid: 4n + 5"},
    {"touch", "n", 1, touch, touched, touched_faults, {.n = 1000}, "n pages read, then written: 5n + 7"},
    {"threads", "n k", 1, threads, stacks, nullptr, {.n = 4, .k = 100'000},
     "n threads count down from k: n (2k + 28) + 11"},
    {"forks", "n k", 1, forks, nullptr, nullptr, {.n = 4, .k = 100'000},
     "n children count down from k: n (2k + 22) + 5"},
    {"execs", "n", 1, execs, arguments, nullptr, {.n = 8}, "n images of one process: 3n(n-1)/2 + 17(n-1) + 8"},
};
// clang-format on
#undef ELEMENTS

}  // namespace

std::span<const Workload> table() { return programs; }

}  // namespace tally::workload
