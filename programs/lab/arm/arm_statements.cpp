#include "programs/lab/arm/arm_statements.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <regex>

#include "programs/lab/arm/arm_assemble.hpp"
#include "programs/register/pmu/spec.hpp"
#include "tally/core/base/text.hpp"

namespace tally::lab::arm {
namespace {

using pmu::parse_number;
using pmu::emulated::ArmProfile;

// Repeated instructions are written out, because the instructions of a loop would be counted as well.
constexpr std::uint64_t most_repetitions = 1'000'000;

// Returns the code before the statements: sets up the interrupt handler and unmasks interrupts.
std::string prologue(const ArmProfile& profile) {
  const std::string_view serve = profile.model == &pmu::apple_model
                                     ? "  mrs x16, PMCR0_EL1\n  bic x16, x16, #0xF00\n  msr PMCR0_EL1, x16\n  isb\n"
                                     : "  CLEAR_OVERFLOWS\n  isb\n";
  return fmt::format(
      ".include \"lab.inc\"\n.globl _start\n_start:\n  adr x0, lab_serve\n  bl set_interrupt_handler\n"
      "  mov x0, #0\n  msr daifclr, #3\n  b lab_begin\n"
      "lab_serve:\n  str x16, [sp, #-16]!\n{}  ldr x16, [sp], #16\n  eret\nlab_begin:\n",
      serve);
}

tl::unexpected<Error> refuse(const std::string& statement, const std::string& what, const std::string& hint) {
  return fail(Code::bad_usage, fmt::format("'{}': {}", printable(statement), what), hint);
}

// Loads a value with MOVZ, and a MOVK for each further part that is not 0.
std::string load(std::uint64_t value) {
  std::string text = fmt::format("  movz x9, #{:#x}\n", value & 0xFFFF);
  for (int shift = 16; shift < 64; shift += 16) {
    const std::uint64_t part = value >> shift & 0xFFFF;
    if (part != 0) text += fmt::format("  movk x9, #{:#x}, lsl #{}\n", part, shift);
  }
  return text;
}

// Handles "msr pmcr_el0, 1", "msr pmcr_el0=1", "msr PMCR_EL0:E,P"; with a general register it is the instruction
// itself.
Result<std::string> write_register(const std::string& statement, const std::string& rest, const ArmProfile& profile) {
  const std::size_t end = rest.find_first_of(" ,=:\t");
  std::string name = rest.substr(0, end);
  std::string spec = end == std::string::npos ? std::string() : trimmed(rest.substr(end));
  if (spec.starts_with(",")) spec = trimmed(spec.substr(1));
  if (spec.starts_with("#")) spec = spec.substr(1);
  static const std::regex register_name("[xX]([0-9]|[12][0-9]|30|[zZ][rR])");
  const auto place = pmu::find_register(name, profile.model);
  if (std::regex_match(spec, register_name) || !place || place->reg->space != pmu::Space::system_register) {
    // The tables do not have it, but the assembler may.
    const auto value = parse_number(spec);
    return value && !place && lower(name).substr(0, 4) != "daif" ? load(*value) + fmt::format("  msr {}, x9\n", name)
                                                                 : fmt::format("  {}\n", statement);
  }
  if (!spec.starts_with(":") && !spec.starts_with("=")) spec = "=" + spec;
  const auto request = pmu::parse_request(name + spec, {profile.model, std::nullopt});
  if (!request) return refuse(statement, request.error().message, request.error().hint);
  if (!request->has_value || request->values.size() != 1) {
    return refuse(statement, "a value is missing", "msr REGISTER, VALUE, as msr pmcr_el0, 1");
  }
  return load(request->values.front().bits) + fmt::format("  msr {}, x9\n", pmu::address(*place));
}

Result<std::string> read_register(const std::string& statement, const std::string& rest, const ArmProfile& profile) {
  if (rest.find(',') != std::string::npos) return fmt::format("  {}\n", statement);
  const auto place = pmu::find_register(rest, profile.model);
  return fmt::format("  mrs x0, {}\n", place ? pmu::address(*place) : rest);
}

Result<std::string> repeat(const std::string& statement, const std::string& rest) {
  const std::size_t blank = rest.find_first_of(" \t");
  const auto times = parse_number(rest.substr(0, blank));
  if (!times) return refuse(statement, "how often?", "run N INSTRUCTION, as run 100 nop");
  if (*times > most_repetitions) {
    return refuse(statement, fmt::format("more than {} times", thousands(most_repetitions)),
                  "write a loop into a file");
  }
  const std::string what = blank == std::string::npos ? "nop" : trimmed(rest.substr(blank));
  return fmt::format(".rept {}\n  {}\n.endr\n", *times, what);
}

Result<std::string> assembly_of(const std::string& statement, std::size_t number, const ArmProfile& profile) {
  const std::size_t blank = statement.find_first_of(" \t");
  const std::string first = lower(statement.substr(0, blank));
  const std::string rest = blank == std::string::npos ? std::string() : trimmed(statement.substr(blank));
  if (first == "msr" && !rest.empty()) return write_register(statement, rest, profile);
  if (first == "mrs" && !rest.empty()) return read_register(statement, rest, profile);
  if (first == "run") return repeat(statement, rest);
  if (first == "user") return fmt::format("  ENTER_USER lab_user_{0}\nlab_user_{0}:\n", number);
  return "  " + statement + "\n";
}

}  // namespace

Result<Script> compile(const std::string& text, const ArmProfile& profile) {
  Script script;
  std::string source = prologue(profile);
  std::string all = text;
  std::replace(all.begin(), all.end(), '\n', ';');
  for (const std::string& part : split(all, ';')) {
    const std::string statement = trimmed(part);
    if (statement.empty()) continue;
    const auto lines = assembly_of(statement, script.statements.size(), profile);
    if (!lines) return fail(lines.error());
    source += fmt::format("lab_statement_{}:\n{}", script.statements.size(), *lines);
    script.statements.push_back({statement});
  }
  if (script.statements.empty()) {
    return fail(Code::bad_usage, "there is no statement",
                "tally lab -e 'msr pmcr_el0, 1; run 100 nop; mrs pmccntr_el0'");
  }
  source += "lab_end:\n  EXIT 0\n";
  auto image = assemble("statements", source, profile);
  if (!image) {
    // Line numbers of the generated source mean nothing to the author of the statements.
    static const std::regex line_number("statements:[0-9]+: ");
    Error error = image.error();
    error.message = std::regex_replace(error.message, line_number, "");
    return fail(error);
  }
  script.image = *std::move(image);
  script.image.lines.clear();
  script.image.line_word = "statement";
  for (std::size_t i = 0; i < script.statements.size(); ++i) {
    Statement& one = script.statements[i];
    one.address = script.image.symbols.at(fmt::format("lab_statement_{}", i));
    script.image.lines.push_back({one.address, static_cast<int>(i) + 1, false, one.text});
  }
  script.end = script.image.symbols.at("lab_end");
  std::erase_if(script.image.symbols, [](const auto& symbol) { return symbol.first.starts_with("lab_"); });
  return script;
}

}  // namespace tally::lab::arm
