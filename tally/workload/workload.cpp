#include "tally/workload/workload.hpp"

#include <algorithm>

namespace tally::workload {
namespace {

// The counts follow from the listings in x86_64/ and aarch64/: a line of code is a term.

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

template <StringShape shape>
Counts loop_form(const Parameters& p) {
  return {.instructions = 2 * p.n + shape.pointers + 6,
          .conditional = p.n,
          .taken = p.n - 1,
          .far = 1,
          .loads = shape.loads * p.n,
          .stores = shape.stores * p.n};
}

template <StringShape shape>
Counts rep_form(const Parameters& p) {
  return {.instructions = shape.pointers + 7, .far = 1, .loads = shape.loads * p.n, .stores = shape.stores * p.n};
}

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

Counts stride(const Parameters& p) {
  return {.instructions = 4 * p.bytes + 4 * p.stride + 4,
          .conditional = p.bytes + p.stride,
          .taken = p.bytes - 1,
          .far = 1,
          .loads = p.bytes};
}

constexpr Workload table[] = {
    {"loop_lodsb", "n", 1, loop_form<lods>}, {"loop_lodsw", "n", 1, loop_form<lods>},
    {"loop_stosb", "n", 1, loop_form<stos>}, {"loop_stosw", "n", 1, loop_form<stos>},
    {"loop_scasb", "n", 1, loop_form<scas>}, {"loop_scasw", "n", 1, loop_form<scas>},
    {"loop_movsb", "n", 1, loop_form<movs>}, {"loop_movsw", "n", 1, loop_form<movs>},
    {"loop_cmpsb", "n", 1, loop_form<cmps>}, {"loop_cmpsw", "n", 1, loop_form<cmps>},
    {"rep_lodsb", "n", 0, rep_form<lods>},   {"rep_lodsw", "n", 0, rep_form<lods>},
    {"rep_stosb", "n", 0, rep_form<stos>},   {"rep_stosw", "n", 0, rep_form<stos>},
    {"rep_scasb", "n", 0, rep_form<scas>},   {"rep_scasw", "n", 0, rep_form<scas>},
    {"rep_movsb", "n", 0, rep_form<movs>},   {"rep_movsw", "n", 0, rep_form<movs>},
    {"rep_cmpsb", "n", 0, rep_form<cmps>},   {"rep_cmpsw", "n", 0, rep_form<cmps>},
    {"fact5", "n", 1, factorial5<0>},        {"fact4", "n", 2, factorial4},
    {"fact3", "n", 1, factorial3},           {"fact5_3nops", "n", 1, factorial5<1>},
    {"fact5_9nops", "n", 1, factorial5<3>},  {"matmul", "n", 1, matmul},
    {"stride", "bytes stride", 0, stride},
};

Counts countdown(const Parameters& p) {
  return {.instructions = 2 * p.n + 5, .conditional = p.n, .taken = p.n - 1, .far = 1};
}

Counts system_calls(const Parameters& p) {
  return {.instructions = 4 * p.n + 4, .conditional = p.n, .taken = p.n - 1, .far = p.n + 1};
}

Counts touch(const Parameters& p) {
  return {.instructions = 5 * p.n + 5, .conditional = p.n, .taken = p.n - 1, .far = 1, .loads = p.n, .stores = p.n};
}

constexpr Workload common_table[] = {
    {"countdown", "n", 1, countdown},
    {"system_calls", "n", 1, system_calls},
    {"touch", "n", 1, touch},
};

}  // namespace

std::span<const Workload> all() { return table; }

std::span<const Workload> all_common() { return common_table; }

const Workload* find(std::string_view name) {
  for (const auto programs : {all(), all_common()}) {
    const auto found = std::ranges::find(programs, name, &Workload::name);
    if (found != programs.end()) return &*found;
  }
  return nullptr;
}

}  // namespace tally::workload
