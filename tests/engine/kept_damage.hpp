#pragma once

namespace tally::engine_test {

/// Damages a file of translations at random, again and again: a program that is run with it counts and prints the same
/// as without one.
void damage_kept_translations(int rounds, unsigned seed);

}  // namespace tally::engine_test
