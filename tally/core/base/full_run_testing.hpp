#pragma once
#include <cstdlib>

namespace tally::test {

/// Whether tests try all seeds, sizes and rounds: `./dev test --all` sets TALLY_TEST_FULL. Otherwise each tries the
/// few that find most faults, so that a default run ends soon.
inline bool is_full_run() {
  const char* const full = std::getenv("TALLY_TEST_FULL");
  return full != nullptr && *full != 0;
}

/// `all` in a full run, else `few`.
template <class T>
T in_full_run(T all, T few) {
  return is_full_run() ? all : few;
}

}  // namespace tally::test
