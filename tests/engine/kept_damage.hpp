#pragma once
#include <string>
#include <vector>

namespace tally::engine_test {

/// Damages a file of translations at random, again and again: a program that is run with it counts and prints the same
/// as without one. `options`: of the command, with models.
void damage_kept_translations(int rounds, unsigned seed, const std::vector<std::string>& options = {});

}  // namespace tally::engine_test
