// Repeats an instruction as a dependency chain, to measure its latency, and as independent copies, to measure its
// throughput.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tally::assembly {

/// One way to repeat an instruction.
struct Repetition {
  std::string init;                ///< code to run before the loop
  std::vector<std::string> texts;  ///< the copies use them in turn; empty if it cannot be repeated this way
  std::string why_not;             ///< the reason if `texts` is empty
};

/// Both ways to repeat an instruction.
struct Chains {
  Repetition latency;     ///< each copy waits for the previous one: measures the latency from operand to result
  Repetition throughput;  ///< results go to different registers: measures the throughput
};

/// The chains of a single x86-64 instruction in Intel syntax; for other code both are empty, with the reason. Analyses
/// only the text, which must have been assembled before.
Chains chains_of(std::string_view code);

}  // namespace tally::assembly
