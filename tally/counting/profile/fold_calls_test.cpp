// Tests that a recursive function is in each stack once, and that its inner frames count for the outer one.
#include "tally/counting/profile/fold_calls.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace tally::profile {
namespace {

constexpr std::uint32_t root = result::CodeCall::no_parent;

/// A frame of a chain: `parent` is the index of its caller, which calls `callee` from the address `site`.
struct Frame {
  std::uint32_t parent, callee;
  std::uint64_t site, target;
  std::int64_t self;
};

result::Profile profile_of(const std::vector<Frame>& frames) {
  result::Profile profile;
  profile.stat.events.resize(1);
  for (const Frame& frame : frames) {
    result::ProfileCall call;
    call.parent = frame.parent;
    call.callee = frame.callee;
    call.site = frame.site;
    call.target = frame.target;
    profile.calls.push_back(call);
    profile.self.push_back(frame.self);
  }
  return profile;
}

using Numbers = std::vector<std::int64_t>;

TEST(FoldRecursion, leaves_stacks_without_recursion_as_they_are) {
  auto profile = profile_of({{root, 1, 0, 10, 1}, {0, 2, 11, 20, 2}, {1, 3, 21, 30, 4}, {0, 3, 12, 30, 8}});
  const auto calls = profile.calls;
  fold_recursion(profile);
  EXPECT_EQ(profile.calls, calls);
  EXPECT_EQ(profile.self, (Numbers{1, 2, 4, 8}));
  EXPECT_EQ(profile.inclusive, (Numbers{15, 6, 4, 8}));
}

// main → f → f → f → g: the inner frames of f are at another instruction than the outer one.
TEST(FoldRecursion, moves_calls_of_inner_frames_below_the_outer_function) {
  auto profile =
      profile_of({{root, 0, 0, 5, 0}, {0, 1, 6, 10, 1}, {1, 1, 11, 12, 2}, {2, 1, 11, 12, 4}, {3, 2, 13, 20, 8}});
  fold_recursion(profile);
  std::int64_t self = 0;
  for (const std::int64_t count : profile.self) self += count;
  EXPECT_EQ(self, 15);
  EXPECT_EQ(profile.inclusive.at(0), 15);
  // No path to the root has a function twice.
  for (std::size_t i = 0; i < profile.calls.size(); ++i) {
    if (profile.calls[i].recursive) continue;
    for (std::uint32_t at = profile.calls[i].parent; at != root; at = profile.calls[at].parent)
      EXPECT_NE(profile.calls[at].callee, profile.calls[i].callee) << "call " << i;
  }
  // g is there once, with its own count.
  std::int64_t of_g = 0;
  int calls_of_g = 0;
  for (std::size_t i = 0; i < profile.calls.size(); ++i) {
    if (profile.calls[i].callee != 2) continue;
    of_g += profile.self[i];
    ++calls_of_g;
  }
  EXPECT_EQ(calls_of_g, 1);
  EXPECT_EQ(of_g, 8);
}

// Recursions of depth 1,000 and 3 fold into the same number of calls.
TEST(FoldRecursion, needs_as_many_calls_for_every_depth) {
  const auto folded = [](std::uint32_t depth) {
    std::vector<Frame> frames = {{root, 0, 0, 5, 1}};
    for (std::uint32_t i = 0; i < depth; ++i) frames.push_back({i, 1, 11, 12, 1});
    auto profile = profile_of(frames);
    fold_recursion(profile);
    EXPECT_EQ(profile.inclusive.at(0), depth + 1);
    return profile.calls.size();
  };
  EXPECT_EQ(folded(1000), folded(3));
}

TEST(FoldRecursion, keeps_events_separate) {
  auto profile = profile_of({{root, 1, 0, 10, 1}, {0, 1, 11, 10, 2}});
  profile.stat.events.resize(2);
  profile.self = {1, 100, 2, 200};
  fold_recursion(profile);
  EXPECT_EQ(profile.inclusive.at(0), 3);
  EXPECT_EQ(profile.inclusive.at(1), 300);
}

TEST(FoldRecursion, of_an_empty_profile_is_empty) {
  auto profile = profile_of({});
  fold_recursion(profile);
  EXPECT_TRUE(profile.calls.empty());
  EXPECT_TRUE(profile.inclusive.empty());
}

}  // namespace
}  // namespace tally::profile
