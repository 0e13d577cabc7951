// An x86-64 instruction in Intel's syntax, in pieces, and what is known of its operands. Pure.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tally::assembly {

/// A register that can take another one's place.
struct Register {
  enum class Kind { general, vector };
  Kind kind = Kind::general;
  int number = 0;  ///< rax is 0, rcx 1, as they are encoded; xmm3 is 3
  int width = 64;  ///< bits
  bool same_place(const Register& other) const { return kind == other.kind && number == other.number; }
  bool operator==(const Register&) const = default;
};

/// The register of that name; nothing for other words, and for ah to bh, whose place is shared.
std::optional<Register> register_of(std::string_view name);
std::string name(const Register& one);

/// The instruction in pieces.
struct Instruction {
  std::string mnemonic;               ///< with its prefixes in `head`
  std::string head;                   ///< "lock add"
  std::vector<std::string> operands;  ///< as they are written, in lower case

  std::string text() const;
  std::optional<Register> reg(std::size_t operand) const;
  bool is_memory(std::size_t operand) const;
  /// Registers in the address of a memory operand.
  std::vector<Register> address(std::size_t operand) const;
};

/// Nothing where the text is more, or less, than one instruction.
std::optional<Instruction> one_instruction(std::string_view code);

/// What the mnemonic's description says (Intel SDM vol. 2), as far as chains need it.
struct Effects {
  bool writes_first = true;      ///< the result is in the first operand
  bool reads_first = true;       ///< which is an operand, too
  bool fixed_result = false;     ///< results in registers that are not written in the text, or in two of them
  bool waits_for_flags = false;  ///< reads flags that it writes
  bool branches = false;
};
Effects effects_of(const Instruction& one);

/// Whether processors know that the result depends on nothing: both operands are the same register (Intel optimization
/// manual, "Zero idioms" and "Ones idioms").
bool is_idiom(const Instruction& one);

}  // namespace tally::assembly
