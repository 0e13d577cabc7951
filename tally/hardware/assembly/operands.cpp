#include "tally/hardware/assembly/operands.hpp"

#include <algorithm>
#include <cctype>
#include <span>
#include <utility>

#include "tally/core/base/text.hpp"

namespace tally::assembly {
namespace {

constexpr std::array<std::array<std::string_view, 4>, 8> old_names{{{"rax", "eax", "ax", "al"},
                                                                    {"rcx", "ecx", "cx", "cl"},
                                                                    {"rdx", "edx", "dx", "dl"},
                                                                    {"rbx", "ebx", "bx", "bl"},
                                                                    {"rsp", "esp", "sp", "spl"},
                                                                    {"rbp", "ebp", "bp", "bpl"},
                                                                    {"rsi", "esi", "si", "sil"},
                                                                    {"rdi", "edi", "di", "dil"}}};
constexpr std::array<int, 4> widths{64, 32, 16, 8};
constexpr std::array<std::string_view, 4> suffixes{"", "d", "w", "b"};

using Names = std::span<const std::string_view>;
bool has(Names names, std::string_view word) { return std::find(names.begin(), names.end(), word) != names.end(); }
bool begins(Names names, std::string_view word) {
  return std::any_of(names.begin(), names.end(), [&](auto name) { return word.starts_with(name); });
}

// Instructions that write only flags or memory.
constexpr std::string_view without_result[] = {
    "cmp",     "test",    "bt",       "push",     "ptest",   "vptest",  "comiss", "comisd",  "ucomiss",    "ucomisd",
    "vcomiss", "vcomisd", "vucomiss", "vucomisd", "vtestps", "vtestpd", "nop",    "clflush", "clflushopt", "clwb"};
// Instructions that only write their first operand; for `v…` see below.
constexpr std::string_view result_alone[] = {
    "mov",        "movabs",    "movzx",     "movsx",    "movsxd",   "movbe",     "lea",
    "popcnt",     "lzcnt",     "tzcnt",     "bsf",      "bsr",      "andn",      "bextr",
    "bzhi",       "pdep",      "pext",      "rorx",     "sarx",     "shlx",      "shrx",
    "blsi",       "blsr",      "blsmsk",    "movd",     "movq",     "movaps",    "movapd",
    "movups",     "movupd",    "movdqa",    "movdqu",   "lddqu",    "movntdqa",  "sqrtps",
    "sqrtpd",     "rcpps",     "rsqrtps",   "roundps",  "roundpd",  "aesimc",    "aeskeygenassist",
    "phminposuw", "movddup",   "movshdup",  "movsldup", "pop",      "cvtps2pd",  "cvtpd2ps",
    "cvtdq2ps",   "cvtps2dq",  "cvttps2dq", "cvtdq2pd", "cvtpd2dq", "cvttpd2dq", "cvtss2si",
    "cvtsd2si",   "cvttss2si", "cvttsd2si"};
constexpr std::string_view result_alone_beginnings[] = {"set",     "pmovsx", "pmovzx",    "pabs",
                                                        "pshufd",  "pshufl", "pshufh",    "movmsk",
                                                        "pmovmsk", "pextr",  "extractps", "prefetch"};
// AVX instructions that read their first operand.
constexpr std::string_view vector_accumulators[] = {"vfm",      "vfnm",    "vpermi2",   "vpermt2", "vpdp",
                                                    "vpgather", "vgather", "vpternlog", "vpmadd52"};
constexpr std::string_view fixed_results[] = {"mul",  "div",     "idiv",      "mulx",      "xchg",
                                              "xadd", "cmpxchg", "cmpxchg8b", "cmpxchg16b"};
constexpr std::string_view carry_flag_readers[] = {"adc", "sbb", "rcl", "rcr", "adcx", "adox"};
// Instructions without operands and results.
constexpr std::string_view bare[] = {"nop",     "lfence", "mfence", "sfence", "pause",
                                     "endbr64", "clc",    "stc",    "cld",    "std"};
constexpr std::string_view idioms[] = {"xor",   "sub",    "pxor",   "xorps",  "xorpd",
                                       "vpxor", "vpxord", "vpxorq", "vxorps", "vxorpd"};
constexpr std::string_view idiom_beginnings[] = {"psub", "pcmpeq", "pcmpgt", "vpsub", "vpcmpeq", "vpcmpgt"};
constexpr std::string_view prefixes[] = {"lock", "rep", "repe", "repne", "repz", "repnz"};

std::string without_comment(std::string_view code) {
  std::string text = trimmed(code.substr(0, code.find('#')));
  while (!text.empty() && text.back() == ';') text = trimmed(text.substr(0, text.size() - 1));
  return lower(text);
}

std::vector<std::string> words_of(const std::string& text) {
  std::vector<std::string> words;
  std::string word;
  for (const char c : text + " ") {
    if (std::isalnum(static_cast<unsigned char>(c)) != 0) {
      word += c;
    } else if (!word.empty()) {
      words.push_back(std::exchange(word, ""));
    }
  }
  return words;
}

void add_operands(const std::string& text, Instruction& to) {
  int depth = 0;
  std::string part;
  for (const char c : text) {
    depth += c == '[' ? 1 : c == ']' ? -1 : 0;
    if (c == ',' && depth == 0) {
      to.operands.push_back(trimmed(part));
      part.clear();
    } else {
      part += c;
    }
  }
  if (!trimmed(part).empty()) to.operands.push_back(trimmed(part));
}

}  // namespace

std::optional<Register> register_of(std::string_view name) {
  for (std::size_t number = 0; number < old_names.size(); ++number) {
    for (std::size_t i = 0; i < widths.size(); ++i) {
      if (old_names[number][i] == name) return Register{Register::Kind::general, static_cast<int>(number), widths[i]};
    }
  }
  std::string_view digits = name;
  Register one;
  if (name.starts_with("xmm") || name.starts_with("ymm") || name.starts_with("zmm")) {
    one.kind = Register::Kind::vector;
    one.width = name[0] == 'x' ? 128 : name[0] == 'y' ? 256 : 512;
    digits.remove_prefix(3);
  } else if (name.starts_with("r")) {
    digits.remove_prefix(1);
    if (!digits.empty() && std::isdigit(static_cast<unsigned char>(digits.back())) == 0) {
      const auto at = std::find(suffixes.begin(), suffixes.end(), digits.substr(digits.size() - 1));
      if (at == suffixes.end()) return std::nullopt;
      one.width = widths[static_cast<std::size_t>(at - suffixes.begin())];
      digits.remove_suffix(1);
    }
  } else {
    return std::nullopt;
  }
  const auto number = parse_integer(digits);
  const bool general = one.kind == Register::Kind::general;
  if (!number || *number < (general ? 8 : 0) || *number > (general ? 15 : 31)) return std::nullopt;
  one.number = static_cast<int>(*number);
  return one;
}

std::string name(const Register& one) {
  if (one.kind == Register::Kind::vector) {
    return (one.width == 128 ? "xmm" : one.width == 256 ? "ymm" : "zmm") + std::to_string(one.number);
  }
  const auto width_index =
      static_cast<std::size_t>(std::find(widths.begin(), widths.end(), one.width) - widths.begin());
  if (one.number < 8) return std::string(old_names[static_cast<std::size_t>(one.number)][width_index]);
  return "r" + std::to_string(one.number) + std::string(suffixes[width_index]);
}

std::string Instruction::text() const { return operands.empty() ? head : head + " " + join(operands, ", "); }

std::optional<Register> Instruction::reg(std::size_t operand) const {
  return operand < operands.size() ? register_of(operands[operand]) : std::nullopt;
}

bool Instruction::is_memory(std::size_t operand) const {
  return operand < operands.size() && operands[operand].find('[') != std::string::npos;
}

std::vector<Register> Instruction::address(std::size_t operand) const {
  std::vector<Register> all;
  if (!is_memory(operand)) return all;
  const std::string& text = operands[operand];
  for (const std::string& word : words_of(text.substr(text.find('[')))) {
    if (const auto one = register_of(word)) all.push_back(*one);
  }
  return all;
}

std::optional<Instruction> one_instruction(std::string_view code) {
  const std::string text = without_comment(code);
  if (text.empty() || text.find_first_of(";\n:") != std::string::npos || text[0] == '.') return std::nullopt;
  Instruction one;
  std::size_t at = 0;
  do {
    const std::size_t end = std::min(text.find_first_of(" \t", at), text.size());
    one.mnemonic = text.substr(at, end - at);
    one.head += (one.head.empty() ? "" : " ") + one.mnemonic;
    at = std::min(text.find_first_not_of(" \t", end), text.size());
  } while (has(prefixes, one.mnemonic) && at < text.size());
  add_operands(text.substr(at), one);
  return one;
}

Effects effects_of(const Instruction& one) {
  Effects effects;
  const std::string& what = one.mnemonic;
  if ((what.starts_with("j") || what == "call" || what.starts_with("ret") || what.starts_with("loop"))) {
    effects.branches = true;
  }
  effects.waits_for_flags = has(carry_flag_readers, what);
  const bool one_operand_multiply = what == "imul" && one.operands.size() == 1;
  effects.fixed_result = has(fixed_results, what) || one_operand_multiply ||
                         (one.operands.empty() && !has(bare, what)) || one.head != what;
  effects.writes_first =
      !one.operands.empty() && !effects.fixed_result && !has(without_result, what) && !what.starts_with("prefetch");
  const bool vector = what.starts_with("v") && what != "verr" && what != "verw";
  // movss and movsd between registers keep the upper part; loads clear it.
  const bool loads_scalar = (what == "movss" || what == "movsd") && one.is_memory(1);
  effects.reads_first =
      !(has(result_alone, what) || begins(result_alone_beginnings, what) || loads_scalar ||
        (what == "imul" && one.operands.size() == 3) || (vector && !begins(vector_accumulators, what)));
  return effects;
}

bool is_idiom(const Instruction& one) {
  const std::size_t count = one.operands.size();
  if (count < 2 || !one.reg(count - 1) || one.operands[count - 1] != one.operands[count - 2]) return false;
  return has(idioms, one.mnemonic) || begins(idiom_beginnings, one.mnemonic);
}

}  // namespace tally::assembly
