// Helpers for tests: runs a verification of a backend, and reads its result.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "programs/verify/grade_counts.hpp"
#include "programs/verify/scripted_testing.hpp"

namespace tally::verify {

using event::Id;
using result::Verdict;

inline result::Verify verified(backend::Backend& backend, bool quick = true) {
  auto signals = linux::Signals::watch();
  EXPECT_TRUE(signals);
  Options options;
  options.quick = quick;
  options.events = all_events();
  auto result = verify(backend, options, *signals);
  EXPECT_TRUE(result) << result.error().message;
  return *result;
}

inline std::string failures(const result::Verify& result) {
  std::string text;
  for (const result::Check& check : result.checks) {
    if (check.verdict == Verdict::fail) text += check.goal + " " + check.event + ": " + check.why + "\n";
  }
  return text;
}

inline bool fails(const result::Verify& result, const std::string& goal) {
  return std::any_of(result.checks.begin(), result.checks.end(), [&goal](const result::Check& check) {
    return check.goal == goal && check.verdict == Verdict::fail;
  });
}

inline result::EventGrade grade(const result::Verify& result, const std::string& event) {
  const auto found = std::find_if(result.events.begin(), result.events.end(),
                                  [&event](const auto& one) { return one.event.text() == event; });
  EXPECT_NE(found, result.events.end()) << event;
  return found == result.events.end() ? result::EventGrade::absent : found->grade;
}

}  // namespace tally::verify
