// Measures the reference models of the simulated machine: the stride table for a machine's caches, and the cost of an
// access, a branch and an instruction.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "tally/core/base/text.hpp"
#include "tally/engine/machines/machine_model.hpp"
#include "tally/engine/models/branch/branches.hpp"
#include "tally/engine/models/core/core_flow.hpp"
#include "tally/engine/models/table_memory.hpp"

namespace {

using namespace tally;
using models::Access;

struct Caches {
  explicit Caches(const models::HierarchyShape& shape)
      : own(models::private_words(shape)),
        shared(models::shared_words(shape)),
        view(shape, models::tables_in(shape, own.data(), shared.data())) {}
  std::vector<std::uint64_t> own, shared;
  models::Hierarchy view;
};

std::uint32_t noise(std::uint32_t& state) { return (state = state * 1664525 + 1013904223) >> 4; }

// Nanoseconds per repetition if `work` makes `times`: the median of five.
double nanoseconds(std::uint64_t times, const std::function<void()>& work) {
  std::vector<double> runs;
  for (int i = 0; i < 5; ++i) {
    const auto begin = std::chrono::steady_clock::now();
    work();
    const std::chrono::duration<double, std::nano> time = std::chrono::steady_clock::now() - begin;
    runs.push_back(time.count() / static_cast<double>(times));
  }
  std::sort(runs.begin(), runs.end());
  return runs[2];
}

// Every stride-th byte of `bytes`, `stride` times.
models::HierarchyCounts walk(const models::HierarchyShape& shape, std::uint64_t bytes, std::uint64_t stride) {
  Caches caches(shape);
  for (std::uint64_t round = 0; round < stride; ++round)
    for (std::uint64_t i = 0; i < bytes; i += stride) caches.view.access(0x7f00'0000'0000 + i, 1, Access::load);
  return caches.view.counts();
}

// The table without a prefetcher, checked against A·min(s, 64)/64, and with one.
bool stride_table(const machines::MachineModel& machine, std::uint64_t bytes) {
  models::HierarchyShape plain = machine.caches;
  plain.prefetch = {};
  fmt::print("misses in L1D of {} loads: every s-th byte of as many, s times\n",
             thousands(static_cast<std::int64_t>(bytes)));
  fmt::print("{:>8}{:>16}{:>16}{:>16}{:>16}{:>16}\n", "stride", "expected", "L1D misses", "LLC misses",
             "with prefetcher", "LLC");
  bool all_right = true;
  const auto number = [](std::uint64_t value) { return thousands(static_cast<std::int64_t>(value)); };
  for (std::uint64_t stride = 1; stride <= 1024; stride *= 2) {
    const std::uint64_t expected = bytes * std::min<std::uint64_t>(stride, 64) / 64;
    const models::HierarchyCounts counts = walk(plain, bytes, stride);
    const models::HierarchyCounts fetched = walk(machine.caches, bytes, stride);
    const bool right = counts.l1d.load_misses == expected;
    all_right = all_right && right;
    fmt::print("{:>8}{:>16}{:>16}{:>16}{:>16}{:>16}{}\n", stride, number(expected), number(counts.l1d.load_misses),
               number(counts.llc.load_misses), number(fetched.l1d.load_misses), number(fetched.llc.load_misses),
               right ? "" : "  WRONG");
  }
  return all_right;
}

void print_cost(const std::string& what, double cost) { fmt::print("{:<58}{:>8.1f} ns\n", what, cost); }

void access_costs(const machines::MachineModel& machine) {
  constexpr std::uint64_t times = 2'000'000;
  models::HierarchyShape plain = machine.caches;
  plain.prefetch = {};
  const auto cost = [&](const models::HierarchyShape& shape, const std::string& what, std::uint64_t bytes,
                        bool in_order) {
    Caches caches(shape);
    // Created before the timing starts.
    std::vector<std::uint64_t> addresses(times);
    std::uint32_t state = 1;
    for (std::uint64_t i = 0; i < times; ++i) addresses[i] = (in_order ? i * 8 : noise(state) & ~7U) % bytes;
    print_cost(what, nanoseconds(times, [&] {
                 for (const std::uint64_t address : addresses) caches.view.access(address, 8, Access::load);
               }));
  };
  cost(plain, "access, L1D, one line after the other", 16 << 10, true);
  cost(plain, "access, L1D, at random", 16 << 10, false);
  cost(plain, "access, L2, at random", 200 << 10, false);
  cost(plain, "access, LLC, at random", 8 << 20, false);
  cost(plain, "access, memory, at random", 256 << 20, false);
  cost(plain, "access, memory, one line after the other", 256 << 20, true);
  cost(machine.caches, "the same with the prefetchers", 256 << 20, true);
  std::vector<std::uint64_t> table(models::tlb_words(machine.tlbs));
  models::Tlbs tlbs(machine.tlbs, models::tables_in(machine.tlbs, table.data()));
  std::uint32_t state = 1;
  print_cost("translation, at random in 1 MB", nanoseconds(times, [&] {
               for (std::uint64_t i = 0; i < times; ++i) tlbs.access(noise(state) % (1 << 20), 8, Access::load);
             }));
}

// A mix of loops, patterns and noise over 200 branches.
void branch_costs() {
  constexpr std::uint64_t times = 2'000'000;
  const auto branches = std::make_unique<models::Branches>();
  std::uint32_t state = 1;
  const double cost = nanoseconds(times, [&] {
    for (std::uint64_t i = 0; i < times; ++i) {
      const std::uint64_t branch = i % 200;
      const bool taken = branch % 10 == 0 ? (noise(state) & 1) != 0 : (i / 200) % (branch % 7 + 2) != 0;
      branches->conditional(0x40'1000 + branch * 12, taken);
    }
  });
  const double wrong = 100.0 * static_cast<double>(branches->counts().conditional_misses) /
                       static_cast<double>(branches->counts().conditional);
  print_cost(fmt::format("conditional branch, TAGE ({:.1f} % wrong)", wrong), cost);
  const double indirect = nanoseconds(times, [&] {
    for (std::uint64_t i = 0; i < times; ++i) branches->indirect_jump(0x40'1000 + i % 20 * 12, 0x40'2000 + i % 70 * 16);
  });
  print_cost("indirect jump, ITTAGE", indirect);
}

void core_cost(const machines::MachineModel& machine) {
  const models::CoreTable& core = *machines::core_named(machine.core);
  std::vector<models::CoreInstruction> code;
  for (unsigned i = 0; i < 1000; ++i) {
    code.push_back({.operation = static_cast<models::Operation>(1 + i % (models::operations - 1)),
                    .sources = {static_cast<models::Register>(1 + i % 16), static_cast<models::Register>(1 + i % 7)},
                    .results = {static_cast<models::Register>(1 + i % 11)}});
  }
  models::CoreState state;
  print_cost("instruction in the core model, once", nanoseconds(1'000'000, [&] {
               for (int i = 0; i < 1000; ++i) models::run(core, code, state);
             }));
}

}  // namespace

int main(int argc, char** argv) {
  const std::string name = argc > 1 ? argv[1] : "haswell";
  const auto machine = name.find('/') == std::string::npos ? machines::named(name, "/") : machines::from_file(name);
  if (!machine) {
    fmt::print(stderr, "bench_models: {}\n  {}\n", machine.error().message, machine.error().hint);
    return 2;
  }
  fmt::print("{}: {}\nL1D {}; LLC {}\n\n", machine->name, machine->title, machines::geometry_text(machine->caches.l1d),
             machines::geometry_text(machine->caches.llc));
  const std::uint64_t bytes = std::max<std::uint64_t>(machine->caches.llc.size_bytes() * 2, 1 << 20);
  const bool right = bytes > 64 << 20 || stride_table(*machine, bytes);
  if (bytes > 64 << 20) fmt::print("(no stride table: the last level is too large for one in a minute)\n");
  fmt::print("\n");
  access_costs(*machine);
  branch_costs();
  core_cost(*machine);
  return right ? 0 : 1;
}
