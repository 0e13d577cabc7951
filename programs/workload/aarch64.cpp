// Counts derived from the listings in aarch64/: one term per line of code; SET and PLACE are two instructions.
#include "programs/workload/table.hpp"

namespace tally::workload {
namespace {

// Mapping the buffers with all pages comes first: ten instructions, including one system call.
constexpr uint64_t mapping_instructions = 10;

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

template <uint64_t nops>
Counts factorial5(const Parameters& p) {
  return everywhere::factorial5(p, (5 + 3 * nops) * (p.n - 1) + 2 + 6);
}

Counts factorial4(const Parameters& p) { return everywhere::factorial4(p, 4 * (p.n - 1) + 6); }

Counts factorial3(const Parameters& p) { return everywhere::factorial3(p, 3 * p.n + 6); }

Counts matmul(const Parameters& p) {
  return everywhere::matmul(p, 6 * p.n * p.n * p.n + 13 * p.n * p.n + 7 * p.n + 18);
}

Counts stride(const Parameters& p) { return everywhere::stride(p, 4 * p.bytes + 6 * p.stride + 6); }

// Calls and returns use registers, not memory.
Counts calls(const Parameters& p) { return everywhere::calls(p, 12 * p.n + 10); }

/// `each`: instructions in an iteration without the nop, which runs only if the branch is not taken. `begin`:
/// instructions before the loop.
Counts branches(const Parameters& p, uint64_t each, uint64_t taken, uint64_t begin) {
  return everywhere::branches(p, taken, begin + each * p.n + (p.n - taken) + 3);
}

Counts branches_always(const Parameters& p) { return branches(p, 4, p.n, 3); }
Counts branches_never(const Parameters& p) { return branches(p, 4, 0, 3); }
Counts branches_alternating(const Parameters& p) { return branches(p, 4, p.n / 2, 3); }
Counts branches_random(const Parameters& p) { return branches(p, 6, random_taken(p), 4); }

Counts loops(const Parameters& p) { return everywhere::loops(p, p.n * (2 * p.k + 4) + 5); }

Counts chase(const Parameters& p) { return everywhere::chase(p, 17 + 8 * p.n + 3 * p.n * p.k); }

Counts system_calls(const Parameters& p) { return everywhere::system_calls(p, 4 * p.n + 5); }

Counts touch(const Parameters& p) { return everywhere::touch(p, 5 * p.n + 7); }

Counts threads(const Parameters& p) { return everywhere::threads(p, 11 + 22 * p.n + p.n * (2 * p.k + 6)); }

Counts forks(const Parameters& p) { return everywhere::forks(p, 5 + 16 * p.n + p.n * (2 * p.k + 6)); }

Counts execs(const Parameters& p) {
  return everywhere::execs(p, 17 * (p.n - 1) + 3 * everywhere::arguments_of_execs(p) + 8);
}

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
    {"nothing", "", 0, everywhere::nothing, nullptr, code_page, {}, "ends at once: 3"},
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
