#include "programs/lab/x86_statements.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <regex>
#include <utility>

#include "programs/register/pmu/spec.hpp"
#include "tally/core/base/text.hpp"

namespace tally::lab {
namespace {

using pmu::parse_number;

// Repeated instructions are written out, because the instructions of a loop would be counted as well.
constexpr std::uint64_t most_repetitions = 1'000'000;

// A handler for every vector from 20H on. It sends an EOI and leaves the local vector masked, as the hardware does.
constexpr const char* handlers = R"(
  mov edi, lab_handler
  mov esi, 20h
lab_gate:
  call set_interrupt_handler
  inc esi
  cmp esi, 100h
  jb lab_gate
  xor esi, esi
  xor edi, edi
  sti
  jmp lab_begin
lab_handler:
  push rax
  mov eax, APIC_BASE + EOI
  mov dword [rax], 0
  pop rax
  iretq
lab_begin:
)";

struct Words {
  std::string first;
  std::string rest;
};

Words split_first(const std::string& text) {
  const std::size_t blank = text.find_first_of(" \t");
  if (blank == std::string::npos) return {lower(text), ""};
  return {lower(text.substr(0, blank)), trimmed(text.substr(blank))};
}

tl::unexpected<Error> refuse_statement(const std::string& statement, const std::string& what, const std::string& hint) {
  return fail(Code::bad_usage, fmt::format("'{}': {}", printable(statement), what), hint);
}

std::string load_and(std::string_view instruction, std::uint64_t index, std::optional<std::uint64_t> value) {
  std::string text = fmt::format("  mov ecx, {:#x}\n", index);
  if (value) text += fmt::format("  mov eax, {:#x}\n  mov edx, {:#x}\n", *value & 0xFFFF'FFFF, *value >> 32);
  return text + fmt::format("  {}\n", instruction);
}

std::uint64_t index_of(const pmu::RegisterInstance& place) {
  return place.reg->number + static_cast<std::uint64_t>(place.index) * place.reg->stride;
}

// "0x186 0x5300c0", "0x186=0x5300c0", "IA32_PERFEVTSEL0:event=0xc0,OS,EN".
Result<std::string> write_register(const std::string& statement, const std::string& rest) {
  std::string spec = rest;
  const std::size_t blank = spec.find_first_of(" \t");
  if (blank != std::string::npos && spec.find('=') == std::string::npos) {
    spec = spec.substr(0, blank) + "=" + trimmed(spec.substr(blank));
  }
  const std::size_t equals = spec.find('=');
  const auto number = equals == std::string::npos ? std::nullopt : parse_number(trimmed(spec.substr(0, equals)));
  // Any number is permitted, to show what a missing register does.
  if (number && !pmu::find_register(fmt::format("{:#x}", *number), &pmu::intel_model)) {
    const auto value = parse_number(trimmed(spec.substr(equals + 1)));
    if (value) return load_and("wrmsr", *number, *value);
  }
  const auto request = pmu::parse_request(spec, {&pmu::intel_model, std::nullopt});
  if (!request) return refuse_statement(statement, request.error().message, request.error().hint);
  if (!request->has_value || request->values.size() != 1) {
    return refuse_statement(statement, "a value is missing", "wrmsr REGISTER VALUE, as wrmsr 0x38f 1");
  }
  const pmu::Value& value = request->values.front();
  if (value.place.reg->space != pmu::Space::msr) return refuse_statement(statement, "WRMSR writes only MSRs", "");
  return load_and("wrmsr", index_of(value.place), value.bits);
}

Result<std::string> read_register(const std::string& statement, const std::string& rest) {
  if (const auto number = parse_number(rest)) return load_and("rdmsr", *number, std::nullopt);
  const auto place = pmu::find_register(rest, &pmu::intel_model);
  if (!place) return refuse_statement(statement, place.error().message, place.error().hint);
  return load_and("rdmsr", index_of(*place), std::nullopt);
}

Result<std::string> read_counter(const std::string& statement, const std::string& rest) {
  const Words words = split_first(rest);
  const bool fixed = words.first == "fixed";
  const auto number = parse_number(fixed ? words.rest : rest);
  if (!number)
    return refuse_statement(statement, "not a counter", "rdpmc 0 reads IA32_PMC0, rdpmc fixed 0 IA32_FIXED_CTR0");
  return load_and("rdpmc", *number | (fixed ? 0x4000'0000 : 0), std::nullopt);
}

Result<std::string> repeat(const std::string& statement, const std::string& rest) {
  const Words words = split_first(rest);
  const auto times = parse_number(words.first);
  if (!times) return refuse_statement(statement, "how often?", "run N INSTRUCTION, as run 100 nop");
  if (*times > most_repetitions) {
    return refuse_statement(statement, fmt::format("more than {} times", thousands(most_repetitions)),
                            "write a loop in a file");
  }
  // In a line with TIMES, $ is the address of the first one.
  if (words.rest.find('$') != std::string::npos) return fmt::format("%rep {}\n  {}\n%endrep\n", *times, words.rest);
  return fmt::format("  times {} {}\n", *times, words.rest.empty() ? "nop" : words.rest);
}

Result<std::string> assembly_of(const std::string& statement, std::size_t number) {
  const Words words = split_first(statement);
  if (words.first == "wrmsr" && !words.rest.empty()) return write_register(statement, words.rest);
  if (words.first == "rdmsr" && !words.rest.empty()) return read_register(statement, words.rest);
  if (words.first == "rdpmc" && !words.rest.empty()) return read_counter(statement, words.rest);
  if (words.first == "run") return repeat(statement, words.rest);
  if (words.first == "user") return fmt::format("  ENTER_USER lab_user_{0}\nlab_user_{0}:\n", number);
  return "  " + statement + "\n";
}

// Replaces messages of nasm, which are about lines of a file, by messages about a statement.
tl::unexpected<Error> refuse_assembly(std::string message) {
  // Line numbers of the generated source mean nothing to the author of the statements.
  static const std::regex line_number("statements:[0-9]+: ");
  static constexpr const char* unknown = "this is neither a statement nor an instruction";
  static constexpr std::pair<std::string_view, std::string_view> words[] = {
      {"label alone on a line without a colon might be in error", unknown},
      {"parser: instruction expected", unknown},
      {"invalid combination of opcode and operands", "the instruction does not have these operands"},
      {"expression syntax error", "a number or a register is missing"},
      {"comma, colon, decorator or end of line expected after operand", "the operands are not separated by commas"}};
  message = std::regex_replace(message, line_number, "");
  for (const auto& [from, to] : words) {
    for (std::size_t at = message.find(from); at != std::string::npos; at = message.find(from)) {
      message.replace(at, from.size(), to);
    }
  }
  return fail(Code::bad_usage, message,
              "statements are: wrmsr REGISTER VALUE, rdmsr REGISTER, rdpmc N, run N INSTRUCTION, user, and any "
              "instruction");
}

}  // namespace

Result<Script> compile(const std::string& text) {
  Script script;
  std::string source = "bits 64\n%include \"lab.inc\"\n_start:\n" + std::string(handlers);
  std::string rest = text;
  std::replace(rest.begin(), rest.end(), '\n', ';');
  for (const std::string& part : split(rest, ';')) {
    const std::string statement = trimmed(part);
    if (statement.empty()) continue;
    const auto lines = assembly_of(statement, script.statements.size());
    if (!lines) return fail(lines.error());
    source += fmt::format("lab_statement_{}:\n{}", script.statements.size(), *lines);
    script.statements.push_back({statement});
  }
  if (script.statements.empty()) {
    return fail(Code::bad_usage, "missing statement", "tally lab -e 'wrmsr 0x186 0x4300c0; run 100 nop; rdpmc 0'");
  }
  // HLT is not permitted at CPL 3, so it writes the exit port.
  source += "lab_end:\n  mov al, 0\n  out EXIT_PORT, al\n";
  auto image = assemble("statements", source, 64, ".");
  if (!image && image.error().code != Code::bad_usage) return fail(image.error());
  if (!image) return refuse_assembly(image.error().message);
  // nasm treats a word that is no instruction as a label.
  if (!image->warnings.empty()) return refuse_assembly(image->warnings.front());
  script.image = *std::move(image);
  for (std::size_t i = 0; i < script.statements.size(); ++i) {
    script.statements[i].address = script.image.symbols.at(fmt::format("lab_statement_{}", i));
  }
  script.end = script.image.symbols.at("lab_end");
  std::erase_if(script.image.symbols, [](const auto& symbol) { return symbol.first.starts_with("lab_"); });
  script.image.lines.clear();
  script.image.line_word = "statement";
  for (std::size_t i = 0; i < script.statements.size(); ++i) {
    script.image.lines.push_back(
        {script.statements[i].address, static_cast<int>(i) + 1, false, script.statements[i].text});
  }
  return script;
}

}  // namespace tally::lab
