// The counts follow from the listings in x86_64/: a line of code is a term.
#include "tally/workload/table.hpp"

namespace tally::workload {
namespace {

/// Of a string instruction: how many pointers it takes and what an element costs.
struct StringShape {
  uint64_t pointers;
  uint64_t loads;
  uint64_t stores;
};

constexpr StringShape lods{1, 1, 0};
constexpr StringShape stos{1, 0, 1};
constexpr StringShape movs{2, 1, 1};
constexpr StringShape scas{1, 1, 0};
constexpr StringShape cmps{2, 2, 0};

// What maps the buffers with their pages comes before it: nine instructions, one of them a system call.
constexpr uint64_t mapping_instructions = 9;

template <StringShape shape, bool warm>
Counts loop_form(const Parameters& p) {
  return {.instructions = 2 * p.n + shape.pointers + 6 + (warm ? mapping_instructions : 0),
          .conditional = p.n,
          .taken = p.n - 1,
          .far = warm ? 2u : 1u,
          .loads = shape.loads * p.n,
          .stores = shape.stores * p.n};
}

template <StringShape shape, bool warm>
Counts rep_form(const Parameters& p) {
  return {.instructions = shape.pointers + 7 + (warm ? mapping_instructions : 0),
          .far = warm ? 2u : 1u,
          .loads = shape.loads * p.n,
          .stores = shape.stores * p.n};
}

template <StringShape shape, uint64_t width>
Buffers string_buffers(const Parameters& p) {
  return {width * p.n, shape.pointers == 2 ? width * p.n : 0};
}

// The page that both buffers of movs share is read first, and written later: a fault each time.
template <StringShape shape, uint64_t width>
uint64_t string_faults(const Parameters& p) {
  const uint64_t bytes = shape.pointers * width * p.n;
  const bool shared = shape.pointers == 2 && shape.stores != 0 && width * p.n % 4096 != 0;
  return 1 + pages_of(bytes) + (shared ? 1 : 0);
}

uint64_t code_page(const Parameters&) { return 1; }

template <uint64_t nops>
Counts factorial5(const Parameters& p) {
  const uint64_t body = 5 + 3 * nops;
  return {.instructions = body * (p.n - 1) + 2 + 5, .conditional = p.n, .taken = 1, .direct_jumps = p.n - 1, .far = 1};
}

Counts factorial4(const Parameters& p) {
  return {.instructions = 4 * (p.n - 1) + 5, .conditional = p.n - 1, .taken = p.n - 2, .far = 1};
}

Counts factorial3(const Parameters& p) {
  return {.instructions = 3 * p.n + 5, .conditional = p.n, .taken = p.n - 1, .far = 1};
}

Counts nothing(const Parameters&) { return {.instructions = 3, .far = 1}; }

// 2 + 1, the first read and what follows it, the loop of 20, the second read and what follows it.
Counts region(const Parameters&) {
  return {.instructions = 3 + 4 + 97 + 2 + 3 + 3, .conditional = 20, .taken = 1, .direct_jumps = 19, .far = 1};
}

Counts matmul(const Parameters& p) {
  const uint64_t n2 = p.n * p.n;
  const uint64_t n3 = n2 * p.n;
  return {.instructions = 7 * n3 + 15 * n2 + 5 * p.n + 9,
          .conditional = n3 + 2 * n2 + p.n,
          .taken = n3 + n2 - 2,
          .far = 1,
          .loads = 2 * n3,
          .stores = 3 * n2};
}

Buffers matrices(const Parameters& p) { return {4 * p.n * p.n, 4 * p.n * p.n, 4 * p.n * p.n}; }

Counts stride(const Parameters& p) {
  return {.instructions = 4 * p.bytes + 4 * p.stride + 4,
          .conditional = p.bytes + p.stride,
          .taken = p.bytes - 1,
          .far = 1,
          .loads = p.bytes};
}

Buffers array(const Parameters& p) { return {p.bytes}; }

uint64_t array_faults(const Parameters& p) { return 1 + pages_of(p.bytes); }

Counts calls(const Parameters& p) {
  return {.instructions = 12 * p.n + 9,
          .conditional = p.n,
          .taken = p.n - 1,
          .indirect_jumps = 4 * p.n,
          .direct_calls = 2 * p.n,
          .indirect_calls = p.n,
          .returns = 3 * p.n,
          .far = 1,
          .loads = 3 * p.n,
          .stores = 3 * p.n};
}

/// `each` instructions in an iteration, the nop aside; it is executed where the branch is not taken.
Counts branches(const Parameters& p, uint64_t each, uint64_t taken) {
  return {.instructions = each * p.n + (p.n - taken) + 5, .conditional = 2 * p.n, .taken = taken + p.n - 1, .far = 1};
}

Counts branches_always(const Parameters& p) { return branches(p, 4, p.n); }
Counts branches_never(const Parameters& p) { return branches(p, 4, 0); }
Counts branches_alternating(const Parameters& p) { return branches(p, 4, p.n / 2); }
Counts branches_random(const Parameters& p) { return branches(p, 13, random_taken(p)); }

Counts loops(const Parameters& p) {
  return {.instructions = p.n * (2 * p.k + 3) + 4,
          .conditional = p.n * p.k + p.n,
          .taken = p.n * (p.k - 1) + p.n - 1,
          .far = 1};
}

Counts chase(const Parameters& p) {
  const uint64_t steps = p.n * p.k;
  return {.instructions = 8 + 10 * p.n + 3 * steps,
          .conditional = p.n + steps,
          .taken = p.n - 1 + steps - 1,
          .far = 1,
          .loads = steps,
          .stores = p.n};
}

Buffers lines(const Parameters& p) { return {64 * p.n}; }

uint64_t lines_faults(const Parameters& p) { return 1 + pages_of(64 * p.n); }

Counts system_calls(const Parameters& p) {
  return {.instructions = 4 * p.n + 4, .conditional = p.n, .taken = p.n - 1, .far = p.n + 1};
}

Counts touch(const Parameters& p) {
  return {.instructions = 5 * p.n + 5, .conditional = p.n, .taken = p.n - 1, .far = 1, .loads = p.n, .stores = p.n};
}

Buffers touched(const Parameters& p) { return {4096 * p.n}; }

// Each page is read first, and written then: the page of zeroes, and one of its own.
uint64_t touched_faults(const Parameters& p) { return 1 + 2 * p.n; }

// Of the parent, and of each thread behind the call that made it.
Counts threads(const Parameters& p) {
  return {.instructions = 7 + 22 * p.n + p.n * (2 * p.k + 6),
          .conditional = 3 * p.n + p.n + p.n * p.k,
          .taken = 2 * (p.n - 1) + p.n + p.n * (p.k - 1),
          .far = 2 * p.n + 1 + p.n,
          .loads = p.n,
          .stores = p.n};
}

Buffers stacks(const Parameters& p) { return {4096 * p.n}; }

Counts forks(const Parameters& p) {
  return {.instructions = 4 + 12 * p.n + p.n * (2 * p.k + 6),
          .conditional = 2 * p.n + p.n + p.n * p.k,
          .taken = p.n - 1 + p.n + p.n * (p.k - 1),
          .far = 2 * p.n + 1 + p.n};
}

// Image j of those that execute another one fills in j + 1 arguments.
Counts execs(const Parameters& p) {
  const uint64_t before = p.n - 1;
  const uint64_t sum = before * p.n / 2;
  return {.instructions = 13 * before + 4 * sum + 6,
          .conditional = before + sum + before + 1,
          .taken = sum + 1,
          .far = p.n,
          .loads = 2 * before + 1,
          .stores = sum + before};
}

Buffers arguments(const Parameters& p) { return {8 * (p.n + 2)}; }

constexpr uint64_t million = 1'000'000;

#define STRING(op, letter, width)                                                                                 \
  {"loop_" #op #letter,                                                                                           \
   "n",                                                                                                           \
   1,                                                                                                             \
   loop_form<op, false>,                                                                                          \
   string_buffers<op, width>,                                                                                     \
   string_faults<op, width>,                                                                                      \
   {.n = million},                                                                                                \
   #op #letter                                                                                                    \
   " by loop: 2n + "                                                                                              \
   "7, 8 with two pointers"},                                                                                     \
      {"rep_" #op #letter,                                                                                        \
       "n",                                                                                                       \
       0,                                                                                                         \
       rep_form<op, false>,                                                                                       \
       string_buffers<op, width>,                                                                                 \
       string_faults<op, width>,                                                                                  \
       {.n = million},                                                                                            \
       #op #letter " by REP: 8, 9 with two pointers, whatever n"},                                                \
      {"loop_" #op #letter "_warm",                                                                               \
       "n",                                                                                                       \
       1,                                                                                                         \
       loop_form<op, true>,                                                                                       \
       string_buffers<op, width>,                                                                                 \
       code_page,                                                                                                 \
       {.n = million},                                                                                            \
       "the same, its pages mapped before: 9 more"},                                                              \
  {                                                                                                               \
    "rep_" #op #letter "_warm", "n", 1, rep_form<op, true>, string_buffers<op, width>, code_page, {.n = million}, \
        "the same, its pages mapped before: 9 more"                                                               \
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
    {"nothing", "", 0, nothing, nullptr, code_page, {}, "ends at once: 3"},
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
