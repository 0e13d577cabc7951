// The lengths of x86-64 instructions: Intel's Software Developer's Manual, volume 2, appendix A.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace tally::symbol {

/// Returns the bytes of the instruction that `code` begins with; 0 if it is incomplete or not in the tables. Accepts
/// some invalid instructions.
std::size_t instruction_length(std::string_view code);

/// Returns 0 after the end.
inline std::uint8_t byte_at(std::string_view code, std::size_t at) {
  return at < code.size() ? static_cast<std::uint8_t>(code[at]) : 0;
}

/// Returns the bytes of a ModRM byte at `at` with what follows it.
std::size_t operand_bytes(std::string_view code, std::size_t at);

}  // namespace tally::symbol
