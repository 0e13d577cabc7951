// Runs signal_fuzz natively and under the engine, seed after seed, until the time is over or something differs.
#include <fmt/format.h>

#include <chrono>
#include <cstdlib>
#include <sstream>

#include "tally/core/base/full_run_testing.hpp"
#include "tests/engine/run.hpp"

namespace {

using namespace tally::engine_test;

/// The first lines that differ, after the line that names their seed.
void show_difference(const std::string& native, const std::string& engine) {
  std::istringstream a(native), b(engine);
  std::string x, y, seed;
  while (std::getline(a, x)) {
    if (!std::getline(b, y)) y = "(nothing)";
    if (x.starts_with("seed ")) seed = x;
    if (x == y) continue;
    fmt::print("{}\n  natively:   {}\n  the engine: {}\n", seed, x, y);
    return;
  }
  fmt::print("the engine printed more than a native run\n");
}

}  // namespace

int main(int count, char** words) {
  if (count != 2 && count != 3) {
    fmt::print(stderr, "usage: signal_fuzz_compare FIRST_SEED [SECONDS]\n");
    return 2;
  }
  const int seconds = count == 3 ? std::atoi(words[2]) : tally::test::in_full_run(30, 8);
  constexpr std::uint64_t seeds_per_run = 50;
  std::uint64_t seed = std::strtoull(words[1], nullptr, 10);
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(seconds);
  std::uint64_t done = 0;
  do {
    Command command;
    command.words = {PROGRAM, std::to_string(seed), std::to_string(seeds_per_run)};
    const Outcome native = run_native(command);
    const Outcome engine = run_counted(command, done % 2 == 0 ? 0 : 1).outcome;
    if (!(native == engine)) {
      show_difference(native.out, engine.out);
      fmt::print("exit codes {} and {}\n", native.code, engine.code);
      return 1;
    }
    seed += seeds_per_run;
    done++;
  } while (std::chrono::steady_clock::now() < end);
  fmt::print("{} sequences without a difference\n", done * seeds_per_run);
}
