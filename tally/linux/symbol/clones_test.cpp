#include "tally/linux/symbol/clones.hpp"

#include <gtest/gtest.h>

namespace tally::symbol {
namespace {

using Addresses = std::vector<std::uint64_t>;

TEST(Clones, belong_to_the_function_of_their_name) {
  EXPECT_EQ(functions_of_clones({{"helper", 1}, {"helper.constprop.0", 2, 7}, {"helper.cold", 3, 7}, {"other", 4}}),
            (Addresses{0, 1, 1, 0}));
}

TEST(Clones, static_functions_of_one_name_stay_apart) {
  EXPECT_EQ(functions_of_clones({{"helper", 1, 1}, {"helper.isra.0", 2, 1}, {"helper", 3, 2}, {"helper.cold", 4, 2}}),
            (Addresses{0, 1, 0, 3}));
  // Without units nothing says which.
  EXPECT_EQ(functions_of_clones({{"helper", 1}, {"helper.isra.0", 2, 1}, {"helper", 3, 2}, {"helper.cold", 4, 3}}),
            (Addresses{0, 1, 0, 1}));
  EXPECT_EQ(functions_of_clones({{"helper", 1, 1}, {"helper", 3, 2}, {"helper.cold", 4, 3}}), (Addresses{0, 0, 0}));
}

TEST(Clones, without_the_function_itself_belong_together) {
  EXPECT_EQ(functions_of_clones({{"helper.constprop.1", 9, 1}, {"helper.constprop.0", 5, 1}, {"helper.cold", 2, 1}}),
            (Addresses{5, 5, 5}));
  EXPECT_EQ(functions_of_clones({{"helper.constprop.1", 9, 1}, {"helper.constprop.0", 5, 2}}), (Addresses{9, 5}));
  EXPECT_EQ(functions_of_clones({{"main.cold", 2}}), (Addresses{0}));
}

TEST(Clones, of_ThinLTO_are_another_function_of_their_name_unless_in_its_file) {
  EXPECT_EQ(functions_of_clones({{"helper", 1, 1}, {"helper.llvm.5", 2}, {"helper.llvm.6", 3}}), (Addresses{0, 2, 3}));
  EXPECT_EQ(functions_of_clones({{"helper", 1, 1}, {"helper.llvm.5", 2, 1}}), (Addresses{0, 1}));
  EXPECT_EQ(functions_of_clones({{"helper", 1, 1}, {"helper.lto_priv.0", 2, 1}}), (Addresses{0, 2}));
}

}  // namespace
}  // namespace tally::symbol
