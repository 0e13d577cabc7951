// Parses an x86-64 instruction in Intel syntax, and describes its operands. Pure.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tally::assembly {

/// A register that chains can replace by another.
struct Register {
  enum class Kind { general, vector };
  Kind kind = Kind::general;
  int number = 0;  ///< the encoding: rax is 0, rcx 1, xmm3 is 3
  int width = 64;  ///< bits
  bool same_place(const Register& other) const { return kind == other.kind && number == other.number; }
  bool operator==(const Register&) const = default;
};

/// Finds a register by name. Returns nullopt for other words, and for ah to bh, which share a register with al to bl.
std::optional<Register> register_of(std::string_view name);
std::string name(const Register& one);

/// A parsed instruction.
struct Instruction {
  std::string mnemonic;               ///< without its prefixes
  std::string head;                   ///< with prefixes: "lock add"
  std::vector<std::string> operands;  ///< as written, in lower case

  std::string text() const;
  std::optional<Register> reg(std::size_t operand) const;
  bool is_memory(std::size_t operand) const;
  /// The registers in a memory operand's address.
  std::vector<Register> address(std::size_t operand) const;
};

/// Parses a single instruction. Returns nullopt for other text.
std::optional<Instruction> one_instruction(std::string_view code);

/// The effects of an instruction that chains need, by mnemonic (Intel SDM vol. 2).
struct Effects {
  bool writes_first = true;      ///< the result is in the first operand
  bool reads_first = true;       ///< the first operand is also read
  bool fixed_result = false;     ///< the result is in an implicit register, or in two registers
  bool waits_for_flags = false;  ///< reads flags that it also writes
  bool branches = false;
};
Effects effects_of(const Instruction& one);

/// Whether processors recognize that the result does not depend on the operands, which are the same register (Intel
/// optimization manual, "Zero idioms" and "Ones idioms").
bool is_idiom(const Instruction& one);

}  // namespace tally::assembly
