/// The IDs that the system assigns to new processes, for tests that compare the counts of several runs.
///
/// A shell writes its parent's ID into $PPID when it starts, which takes it 19 instructions a digit (dash 0.5.12): runs
/// with other numbers of digits are not comparable. The number of digits changes at any time, because all programs of
/// the machine use up the IDs: with the usual limit of 32768, a build next to the tests does it several times a minute.
/// So every program that is linked with process_numbers.cpp runs a test again if it failed while the number changed.
#pragma once
#include <functional>

namespace tally::test {

/// Calls `run` until the number of digits stays the same during a call, for tests in which it is likely to change.
void run_with_equal_process_numbers(const std::function<void()>& run);

}  // namespace tally::test
