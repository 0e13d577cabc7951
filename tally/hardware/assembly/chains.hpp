// One instruction as a chain, in which each copy waits for the one before it, and as copies that wait for none.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tally::assembly {

/// One way to repeat an instruction.
struct Repetition {
  std::string init;                ///< what it takes before the loop
  std::vector<std::string> texts;  ///< the copies take them in turns; empty where there is no such way
  std::string why_not;             ///< the reason for that
};

/// Both ways.
struct Chains {
  Repetition latency;     ///< the cycles of a copy are those from an operand to the result
  Repetition throughput;  ///< results go to different registers: the cycles of a copy are what the units take
};

/// The chains of a code that is a single x86-64 instruction in Intel's syntax; of other code both are empty, with the
/// reason. It goes by the text: the code has been assembled before.
Chains chains_of(std::string_view code);

}  // namespace tally::assembly
