#include "tally/hardware/assembly/chains.hpp"

#include <algorithm>
#include <optional>

#include "tally/hardware/assembly/operands.hpp"

namespace tally::assembly {
namespace {

constexpr std::size_t most_registers = 10;   // covers 5 cycles of latency at two per cycle
constexpr std::size_t fewest_registers = 4;  // with fewer, each copy would wait for an earlier one
constexpr int stack_pointer = 4, memory_pointer = 14;

#if defined(__x86_64__)
constexpr bool is_supported = true;
#else
constexpr bool is_supported = false;
#endif

using Kind = Register::Kind;

Repetition refused(std::string why) { return {{}, {}, std::move(why)}; }

bool is_among(const std::vector<Register>& list, const Register& one) {
  return std::any_of(list.begin(), list.end(), [&](const Register& other) { return other.same_place(one); });
}

bool waits_for_itself(const Instruction& one, const Effects& effects, const Register& result) {
  if (effects.reads_first) return true;
  for (std::size_t i = 1; i < one.operands.size(); ++i) {
    if (const auto source = one.reg(i); source && source->same_place(result)) return true;
    if (is_among(one.address(i), result)) return true;
  }
  return false;
}

// Turns "mov rax, [r14]" into "mov rax, [rax]": the first word of the memory contains its own address.
std::optional<Repetition> pointer_chase(const Instruction& one, std::size_t operand, const Register& result) {
  const std::string& text = one.operands[operand];
  const auto address = one.address(operand);
  if (one.mnemonic != "mov" || result.kind != Kind::general || result.width != 64 || address.size() != 1) {
    return std::nullopt;
  }
  const std::string base = name(address.front());
  const std::size_t at = text.rfind(base + "]");
  if (at == std::string::npos || text[at - 1] != '[') return std::nullopt;
  Instruction chained = one;
  chained.operands[operand] = text.substr(0, at) + name(result) + "]";
  return Repetition{"mov " + name(result) + ", r14", {chained.text()}, {}};
}

// Turns "lea rax, [rbx + 8]" into "lea rax, [rax + 8]".
std::optional<Repetition> address_chain(const Instruction& one, const Register& result) {
  const auto address = one.address(1);
  if (one.mnemonic != "lea" || address.empty() || address.front().kind != Kind::general) return std::nullopt;
  const std::string base = name(address.front());
  Instruction chained = one;
  std::string& text = chained.operands[1];
  text.replace(text.find(base, text.find('[')), base.size(),
               name({Kind::general, result.number, address.front().width}));
  return Repetition{{}, {chained.text()}, {}};
}

Repetition latency_of(const Instruction& one, const Effects& effects) {
  const auto result = one.reg(0);
  if (!result || !effects.writes_first) return refused("it has no result in a register that its text names");
  if (is_idiom(one)) return refused("its result depends on no operand");
  if (waits_for_itself(one, effects, *result)) return {{}, {one.text()}, {}};
  for (std::size_t i = 1; i < one.operands.size(); ++i) {
    if (const auto source = one.reg(i); source && source->kind == result->kind) {
      Instruction chained = one;
      chained.operands[i] = name({source->kind, result->number, source->width});
      return {{}, {chained.text()}, {}};
    }
    if (auto chase = pointer_chase(one, i, *result)) return *std::move(chase);
  }
  if (auto chain = address_chain(one, *result)) return *std::move(chain);
  return refused("its result and its operands are in different kinds of registers");
}

Repetition throughput_of(const Instruction& one, const Effects& effects) {
  if (effects.fixed_result) return refused("its results go to registers that cannot be chosen");
  if (effects.waits_for_flags) return refused("each copy waits for the flags of the one before it");
  const auto result = one.reg(0);
  if (!effects.writes_first || one.is_memory(0)) return {{}, {one.text()}, {}};
  if (!result) return refused("its result is in an unsupported kind of register");
  std::vector<Register> used{{Kind::general, stack_pointer, 64}, {Kind::general, memory_pointer, 64}};
  for (std::size_t i = 1; i < one.operands.size(); ++i) {
    if (const auto source = one.reg(i); source && !source->same_place(*result)) used.push_back(*source);
    for (const Register& base : one.address(i)) used.push_back(base);
  }
  Repetition repetition;
  const int last = result->kind == Kind::general || result->width < 512 ? 15 : 31;
  for (int number = 0; number <= last && repetition.texts.size() < most_registers; ++number) {
    if (is_among(used, {result->kind, number, result->width})) continue;
    Instruction renamed = one;
    for (std::size_t i = 0; i < one.operands.size(); ++i) {
      const auto operand = one.reg(i);
      if (operand && operand->same_place(*result)) renamed.operands[i] = name({operand->kind, number, operand->width});
    }
    repetition.texts.push_back(renamed.text());
  }
  if (repetition.texts.size() < fewest_registers) return refused("there are too few registers for its results");
  return repetition;
}

}  // namespace

Chains chains_of(std::string_view code) {
  if (!is_supported) {
    const char* const why = "chains support only x86-64 instructions";
    return {refused(why), refused(why)};
  }
  const auto one = one_instruction(code);
  if (!one) {
    const char* const why = "the code is more than one instruction";
    return {refused(why), refused(why)};
  }
  const Effects effects = effects_of(*one);
  if (effects.branches) return {refused("a branch has no result"), refused("a branch has no result")};
  return {latency_of(*one, effects), throughput_of(*one, effects)};
}

}  // namespace tally::assembly
