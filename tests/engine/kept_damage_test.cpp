// Stored translations are executed only if they are unchanged.
#include "tests/engine/kept_damage.hpp"

#include <gtest/gtest.h>

namespace tally::engine_test {
namespace {

TEST(KeptDamage, costs_time_only) { damage_kept_translations(1000, 2); }

}  // namespace
}  // namespace tally::engine_test
