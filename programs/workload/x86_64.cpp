// Counts derived from the listings in x86_64/: one term per line of code.
#include "programs/workload/table.hpp"

namespace tally::workload {
namespace {

constexpr Elements lods{1, 1, 0};
constexpr Elements stos{1, 0, 1};
constexpr Elements movs{2, 1, 1};
constexpr Elements scas{1, 1, 0};
constexpr Elements cmps{2, 2, 0};

// Mapping the buffers with all pages comes first: nine instructions, including one system call.
constexpr uint64_t mapping_instructions = 9;

template <Elements shape, bool warm>
Counts loop_form(const Parameters& p) {
  return {.instructions = 2 * p.n + shape.pointers + 6 + (warm ? mapping_instructions : 0),
          .conditional = p.n,
          .taken = p.n - 1,
          .far = warm ? 2u : 1u,
          .loads = shape.loads * p.n,
          .stores = shape.stores * p.n};
}

template <Elements shape, bool warm>
Counts rep_form(const Parameters& p) {
  return {.instructions = shape.pointers + 7 + (warm ? mapping_instructions : 0),
          .far = warm ? 2u : 1u,
          .loads = shape.loads * p.n,
          .stores = shape.stores * p.n};
}

template <uint64_t nops>
Counts factorial5(const Parameters& p) {
  return everywhere::factorial5(p, (5 + 3 * nops) * (p.n - 1) + 2 + 5);
}

Counts factorial4(const Parameters& p) { return everywhere::factorial4(p, 4 * (p.n - 1) + 5); }

Counts factorial3(const Parameters& p) { return everywhere::factorial3(p, 3 * p.n + 5); }

// 2 + 1, the first read and the code after it, the loop of 20, the second read and the code after it.
Counts region(const Parameters&) {
  return {.instructions = 3 + 4 + 97 + 2 + 3 + 3, .conditional = 20, .taken = 1, .direct_jumps = 19, .far = 1};
}

Counts matmul(const Parameters& p) { return everywhere::matmul(p, 7 * p.n * p.n * p.n + 15 * p.n * p.n + 5 * p.n + 9); }

Counts stride(const Parameters& p) { return everywhere::stride(p, 4 * p.bytes + 4 * p.stride + 4); }

Counts calls(const Parameters& p) {
  Counts counts = everywhere::calls(p, 12 * p.n + 9);
  counts.loads = counts.stores = 3 * p.n;
  return counts;
}

/// `each`: instructions in an iteration without the nop, which runs only if the branch is not taken.
Counts branches(const Parameters& p, uint64_t each, uint64_t taken) {
  return everywhere::branches(p, taken, each * p.n + (p.n - taken) + 5);
}

Counts branches_always(const Parameters& p) { return branches(p, 4, p.n); }
Counts branches_never(const Parameters& p) { return branches(p, 4, 0); }
Counts branches_alternating(const Parameters& p) { return branches(p, 4, p.n / 2); }
Counts branches_random(const Parameters& p) { return branches(p, 13, random_taken(p)); }

Counts loops(const Parameters& p) { return everywhere::loops(p, p.n * (2 * p.k + 3) + 4); }

Counts chase(const Parameters& p) { return everywhere::chase(p, 8 + 10 * p.n + 3 * p.n * p.k); }

Counts system_calls(const Parameters& p) { return everywhere::system_calls(p, 4 * p.n + 4); }

Counts touch(const Parameters& p) { return everywhere::touch(p, 5 * p.n + 5); }

Counts threads(const Parameters& p) { return everywhere::threads(p, 7 + 22 * p.n + p.n * (2 * p.k + 6)); }

Counts forks(const Parameters& p) { return everywhere::forks(p, 4 + 12 * p.n + p.n * (2 * p.k + 6)); }

Counts execs(const Parameters& p) {
  return everywhere::execs(p, 13 * (p.n - 1) + 4 * everywhere::arguments_of_execs(p) + 6);
}

constexpr uint64_t million = 1'000'000;

#define STRING(op, letter, width)                                                                                  \
  {"loop_" #op #letter,                                                                                            \
   "n",                                                                                                            \
   1,                                                                                                              \
   loop_form<op, false>,                                                                                           \
   element_buffers<op, width>,                                                                                     \
   element_faults<op, width>,                                                                                      \
   {.n = million},                                                                                                 \
   #op #letter                                                                                                     \
   " by loop: 2n + "                                                                                               \
   "7, 8 with two pointers"},                                                                                      \
      {"rep_" #op #letter,                                                                                         \
       "n",                                                                                                        \
       0,                                                                                                          \
       rep_form<op, false>,                                                                                        \
       element_buffers<op, width>,                                                                                 \
       element_faults<op, width>,                                                                                  \
       {.n = million},                                                                                             \
       #op #letter " by REP: 8, 9 with two pointers, whatever n"},                                                 \
      {"loop_" #op #letter "_warm",                                                                                \
       "n",                                                                                                        \
       1,                                                                                                          \
       loop_form<op, true>,                                                                                        \
       element_buffers<op, width>,                                                                                 \
       code_page,                                                                                                  \
       {.n = million},                                                                                             \
       "the same, its pages mapped before: 9 more"},                                                               \
  {                                                                                                                \
    "rep_" #op #letter "_warm", "n", 1, rep_form<op, true>, element_buffers<op, width>, code_page, {.n = million}, \
        "the same, its pages mapped before: 9 more"                                                                \
  }

constexpr Workload programs[] = {
    STRING(lods, b, 1),
    STRING(lods, w, 2),
    STRING(stos, b, 1),
    STRING(stos, w, 2),
    STRING(movs, b, 1),
    STRING(movs, w, 2),
    STRING(scas, b, 1),
    STRING(scas, w, 2),
    STRING(cmps, b, 1),
    STRING(cmps, w, 2),
    {"nothing", "", 0, everywhere::nothing, nullptr, code_page, {}, "ends at once: 3"},
    {"countdown", "n", 1, countdown, nullptr, code_page, {.n = million}, "dec, jnz: 2n + 5"},
    {"region",
     "",
     0,
     region,
     nullptr,
     code_page,
     {},
     "102 instructions between two rdpmc; its exit code is what they "
     "say: 112"},
    {"fact5", "n", 1, factorial5<0>, nullptr, code_page, {.n = million}, "factorial, five instructions: 5n + 2"},
    {"fact4", "n", 2, factorial4, nullptr, code_page, {.n = million}, "four instructions: 4n + 1"},
    {"fact3", "n", 1, factorial3, nullptr, code_page, {.n = million}, "three instructions: 3n + 5"},
    {"fact5_3nops", "n", 1, factorial5<1>, nullptr, code_page, {.n = million}, "fact5 with 3 nops: 8n - 1"},
    {"fact5_9nops", "n", 1, factorial5<3>, nullptr, code_page, {.n = million}, "fact5 with 9 nops: 14n - 7"},
    {"matmul", "n", 1, matmul, matrices, nullptr, {.n = 40}, "product of n x n matrices: 7n^3 + 15n^2 + 5n + 9"},
    {"stride",
     "bytes stride",
     0,
     stride,
     array,
     array_faults,
     {.bytes = 1 << 20, .stride = 64},
     "a load of every stride-th byte, stride times over: 4 bytes + 4 stride + 4"},
    {"calls",
     "n",
     1,
     calls,
     nullptr,
     nullptr,
     {.n = 100'000},
     "2 calls, one through a register, 4 jumps through registers: 12n + 9"},
    {"branches_always", "n", 1, branches_always, nullptr, code_page, {.n = million}, "a branch always taken: 4n + 5"},
    {"branches_never", "n", 1, branches_never, nullptr, code_page, {.n = million}, "a branch never taken: 5n + 5"},
    {"branches_alternating",
     "n",
     1,
     branches_alternating,
     nullptr,
     code_page,
     {.n = million},
     "a branch taken every second time: 4n + ceil(n/2) + 5"},
    {"branches_random",
     "n seed",
     1,
     branches_random,
     nullptr,
     code_page,
     {.n = million, .seed = 2463534242},
     "a branch of xorshift32: 14n - taken + 5"},
    {"loops", "n k", 1, loops, nullptr, code_page, {.n = 100'000, .k = 8}, "n loops of k: n (2k + 3) + 4"},
    {"chase",
     "n k",
     1,
     chase,
     lines,
     lines_faults,
     {.n = 4096, .k = 50},
     "n lines in a ring (a power of two), k rounds: 10n + 3nk + 8"},
    {"system_calls", "n", 1, system_calls, nullptr, code_page, {.n = 10'000}, "n times getpid: 4n + 4"},
    {"touch", "n", 1, touch, touched, touched_faults, {.n = 1000}, "n pages read, then written: 5n + 5"},
    {"threads",
     "n k",
     1,
     threads,
     stacks,
     nullptr,
     {.n = 4, .k = 100'000},
     "n threads count down from k: n (2k + 28) + 7"},
    {"forks",
     "n k",
     1,
     forks,
     nullptr,
     nullptr,
     {.n = 4, .k = 100'000},
     "n children count down from k: n (2k + 18) + 4"},
    {"execs", "n", 1, execs, arguments, nullptr, {.n = 8}, "n images of one process: 2n(n-1) + 13(n-1) + 6"},
};
#undef STRING

}  // namespace

std::span<const Workload> table() { return programs; }

}  // namespace tally::workload
