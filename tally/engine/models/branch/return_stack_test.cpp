#include "tally/engine/models/branch/return_stack.hpp"

#include <gtest/gtest.h>

namespace tally::models {
namespace {

// Returns the mispredictions of `depth` nested calls and their returns.
int wrong(ReturnStack& stack, std::uint64_t depth) {
  int count = 0;
  for (std::uint64_t i = 0; i < depth; ++i) stack.call(0x1000 + i);
  for (std::uint64_t i = depth; i-- > 0;) count += !stack.predict(0x1000 + i);
  return count;
}

TEST(ReturnStack, NestedCalls) {
  ReturnStack stack;
  for (int round = 0; round < 10; ++round) EXPECT_EQ(wrong(stack, ReturnStack::entries), 0);
}

TEST(ReturnStack, DeeperNestsLoseTheOldest) {
  ReturnStack stack;
  EXPECT_EQ(wrong(stack, ReturnStack::entries + 5), 5);
}

TEST(ReturnStack, AReturnWithoutACall) {
  ReturnStack stack;
  EXPECT_FALSE(stack.predict(0x1000));
  EXPECT_EQ(wrong(stack, 3), 0) << "the stack continues";
}

TEST(ReturnStack, ALongjmpShiftsWhatFollows) {
  ReturnStack stack;
  stack.call(0x1000);
  stack.call(0x2000);
  stack.call(0x3000);  // left without returning
  EXPECT_FALSE(stack.predict(0x2000));
  EXPECT_FALSE(stack.predict(0x1000));
}

}  // namespace
}  // namespace tally::models
