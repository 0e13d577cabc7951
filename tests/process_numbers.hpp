/// The IDs that the system assigns to new processes, for tests that compare the counts of several runs.
#pragma once
#include <cstddef>

namespace tally::test {

/// Digits of the ID that a process gets now. A shell writes its parent's ID into $PPID when it starts, which takes it
/// 19 instructions a digit (dash 0.5.12): runs with other numbers of digits are not comparable.
std::size_t digits_of_process_numbers();

}  // namespace tally::test
