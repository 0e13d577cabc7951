// Hand-written instruction lists for the tests of the core model.
#pragma once

#include <vector>

#include "tally/engine/models/core/core_model.hpp"
#include "tally/engine/models/core/cores.hpp"

namespace tally::models::testing {

using Code = std::vector<CoreInstruction>;

/// General register n (0 is RAX) as numbered by the model.
constexpr Register general(unsigned n) { return static_cast<Register>(first_general + n); }
constexpr Register vector_register(unsigned n) { return static_cast<Register>(first_vector + n); }
constexpr Register r11 = general(11), r12 = general(12), r13 = general(13);

/// imul, add …: writes `to` and the flags, reads `to` and `from`.
inline CoreInstruction arithmetic(Operation operation, Register to, Register from) {
  return {.operation = operation, .sources = {to, from}, .results = {to, flags_register}};
}
inline CoreInstruction multiply(Register to, Register from) { return arithmetic(Operation::multiply, to, from); }
inline CoreInstruction add(Register to, Register from) { return arithmetic(Operation::alu, to, from); }
inline CoreInstruction decrement(Register to) { return arithmetic(Operation::alu, to, no_register); }
inline CoreInstruction compare(Register a) {
  return {.operation = Operation::alu, .sources = {a}, .results = {flags_register}};
}
inline CoreInstruction branch() { return {.operation = Operation::jump, .sources = {flags_register}}; }
inline CoreInstruction jump() { return {.operation = Operation::jump}; }
inline CoreInstruction nop() { return {.operation = Operation::nop}; }
/// mov to, [base]
inline CoreInstruction load(Register to, Register base) {
  return {.operation = Operation::move, .memory = CoreInstruction::loads, .address = {base}, .results = {to}};
}
/// mov [base], from
inline CoreInstruction store(Register base, Register from) {
  return {.operation = Operation::move, .memory = CoreInstruction::stores, .address = {base}, .sources = {from}};
}

/// The loops of the RDPMC article: compare, branch, multiply, decrement, jump, with `nops` nops before each of the last
/// three.
inline Code factorial5(int nops = 0) {
  Code code{compare(r11), branch()};
  for (const CoreInstruction& instruction : {multiply(r12, r11), decrement(r11), jump()}) {
    code.insert(code.end(), static_cast<std::size_t>(nops), nop());
    code.push_back(instruction);
  }
  return code;
}
inline Code factorial4() { return {multiply(r12, r11), decrement(r11), compare(r11), branch()}; }
inline Code factorial3() { return {multiply(r12, r11), decrement(r11), branch()}; }

/// Returns the cycles of one iteration after the loop has settled.
inline double per_iteration(const Code& loop, const CoreTable& core = haswell_core) {
  CoreState state;
  for (int i = 0; i < 1000; ++i) run(core, loop, state);
  std::int64_t ticks = 0;
  for (int i = 0; i < 1000; ++i) ticks += run(core, loop, state).ticks;
  return static_cast<double>(ticks) / 1000 / ticks_per_cycle;
}

}  // namespace tally::models::testing
