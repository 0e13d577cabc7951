#include "programs/lab/arm/arm_assemble.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <regex>

#include "programs/lab/include_files.hpp"
#include "programs/lab/scratch.hpp"
#include "tally/core/base/text.hpp"

namespace tally::lab::arm {
namespace {

namespace fs = std::filesystem;

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

// Returns the encodings of Apple's registers by name: "PMCR0_EL1" → "S3_1_C15_C0_0". The assembler supports Arm's own.
std::map<std::string, std::string> encodings(const pmu::emulated::ArmProfile& profile) {
  std::map<std::string, std::string> all;
  if (profile.model == &pmu::arm_model) return all;
  for (const pmu::RegisterInstance& place : pmu::places(*profile.model)) {
    if (place.reg->space != pmu::Space::system_register) continue;
    const std::string name = lower(pmu::name(place));
    all[name] = pmu::address(place);
    if (!name.ends_with("_el1")) all[name + "_el1"] = pmu::address(place);
  }
  return all;
}

// Comments are not changed: they are for people.
std::string with_encodings(const std::string& line, const std::map<std::string, std::string>& names) {
  std::string out;
  for (std::size_t at = 0; at < line.size();) {
    if (line.compare(at, 2, "//") == 0 || line[at] == '"') return out + line.substr(at);
    std::size_t end = at;
    while (end < line.size() && is_word(line[end])) ++end;
    if (end == at) {
      out += line[at++];
      continue;
    }
    const std::string word = line.substr(at, end - at);
    const auto found = names.find(lower(word));
    out += found == names.end() ? word : found->second;
    at = end;
  }
  return out;
}

const std::vector<std::string>& mnemonics() {
  static const std::vector<std::string> words = {
      "mrs",  "msr",  "isb", "dsb",  "dmb", "mov",  "movz", "movk", "ldr",  "ldp",  "ldrb", "str",  "stp",
      "strb", "add",  "sub", "subs", "and", "ands", "orr",  "eor",  "lsl",  "lsr",  "asr",  "mul",  "udiv",
      "cmp",  "tst",  "b",   "bl",   "br",  "blr",  "ret",  "cbz",  "cbnz", "tbz",  "tbnz", "adr",  "adrp",
      "svc",  "eret", "wfi", "wfe",  "nop", "bic",  "csel", "cset", "b.eq", "b.ne", "b.lt", "b.gt", "madd"};
  return words;
}

// Returns a suggestion for a word that the assembler does not support.
std::string advice(const std::string& message, const std::string& line, const pmu::emulated::ArmProfile& profile) {
  const std::string statement = lower(trimmed(line.substr(0, line.find("//"))));
  if (message.find("unknown mnemonic") != std::string::npos) {
    const std::string word = statement.substr(0, statement.find_first_of(" \t"));
    if (word == "wrmsr" || word == "rdmsr" || word == "rdpmc") return "this is an x86 instruction: use MSR and MRS";
    const auto near = nearest(word, mnemonics(), 1);
    if (!near.empty() && edit_distance(word, near.front()) <= 2) return fmt::format("did you mean {}?", near.front());
  }
  if (message.find("system register") == std::string::npos) return "";
  std::vector<std::string> names;
  for (const pmu::RegisterInstance& place : pmu::places(*profile.model)) names.push_back(lower(pmu::name(place)));
  for (std::size_t at = 0; at < statement.size(); ++at) {
    std::size_t end = at;
    while (end < statement.size() && is_word(statement[end])) ++end;
    const std::string word = statement.substr(at, end - at);
    if (word.size() > 4) {
      const auto near = nearest(word, names, 1);
      if (!near.empty() && edit_distance(word, near.front()) <= 3) return fmt::format("did you mean {}?", near.front());
    }
    at = std::max(at, end);
  }
  return "";
}

// Formats the assembler's errors as "FILE:12: Error: text", at most five, each with its line.
std::string format_errors(const std::string& name, const std::string& source, const std::string& output,
                          const pmu::emulated::ArmProfile& profile) {
  constexpr std::size_t most = 5;
  const std::vector<std::string> lines = split(source, '\n');
  std::vector<std::string> parts;
  for (const std::string& row : split(output, '\n')) {
    const std::size_t at = row.find(": Error: ");
    if (at == std::string::npos || parts.size() >= most) continue;
    const std::size_t colon = row.rfind(':', at - 1);
    const auto number = static_cast<std::size_t>(std::atoi(row.substr(colon + 1, at - colon - 1).c_str()));
    const bool is_users =
        fs::path(row.substr(0, colon)).filename() == fs::path(name).filename() && number > 0 && number <= lines.size();
    const std::string line = is_users ? lines[number - 1] : "";
    std::string text = row.substr(at + 9);
    text = trimmed(text.substr(0, text.find(" -- `")));
    parts.push_back(fmt::format("{}:{}: {}", is_users ? printable(name) : row.substr(0, colon), number, text));
    if (!line.empty()) parts.back() += "\n           " + trimmed(line);
    if (const std::string what = advice(text, line, profile); !what.empty()) parts.back() += "\n           " + what;
  }
  return parts.empty() ? trimmed(output) : join(parts, "\n       ");
}

// Formats the linker's message about an undefined label.
std::string reported_by_linker(const std::string& output) {
  const std::size_t at = output.find("undefined reference to ");
  if (at == std::string::npos) return trimmed(output);
  return "there is no label " + output.substr(at + 23, output.find('\n', at) - at - 23);
}

// Reads a disassembly with lines: "/…/file.s:12", then "  100000:\td503201f \tnop".
void read_disassembly(Image& image, const std::string& text, const std::string& file, const std::string& source) {
  const std::vector<std::string> lines = split(source, '\n');
  int number = 0;
  bool is_users = false;
  for (const std::string& row : split(text, '\n')) {
    const std::size_t tab = row.find(":\t");
    if (row.starts_with("/")) {
      const std::size_t colon = row.rfind(':');
      number = std::atoi(row.c_str() + colon + 1);
      is_users = row.substr(0, colon) == file;
    } else if (tab != std::string::npos) {
      const std::uint64_t address = std::strtoull(row.c_str(), nullptr, 16);
      const std::size_t words = row.find('\t', tab + 2);
      if (words == std::string::npos) continue;
      std::string instruction = row.substr(words + 1);
      instruction = trimmed(instruction.substr(0, instruction.find("//")));
      std::replace(instruction.begin(), instruction.end(), '\t', ' ');
      // A branch contains its target as a label; the number is dropped.
      static const std::regex target(" [0-9a-f]+ <(.*)>$");
      instruction = std::regex_replace(instruction, target, " $1");
      image.texts[address] = instruction;
      const auto at = static_cast<std::size_t>(number);
      const bool has_line = is_users && at > 0 && at <= lines.size();
      image.lines.push_back({address, number, !is_users, has_line ? trimmed(lines[at - 1]) : instruction});
    }
  }
}

}  // namespace

std::string include_text() { return arm64_file; }

Result<Image> assemble(const std::string& name, const std::string& text, const pmu::emulated::ArmProfile& profile,
                       const std::vector<std::string>& defines) {
  const auto where = new_folder();
  if (!where) return fail(where.error());
  const Folder scratch(*where);
  const auto names = encodings(profile);
  std::string prepared;
  for (const std::string& line : split(text, '\n')) prepared += with_encodings(line, names) + "\n";
  const fs::path source = scratch.path / fs::path(name).filename();
  std::ofstream(source) << prepared;
  std::ofstream(scratch.path / "lab.inc") << include_text();
  const fs::path object = scratch.path / "lab.o", image_path = scratch.path / "lab.elf";
  const fs::path folder = fs::path(name).parent_path().empty() ? "." : fs::path(name).parent_path();
  std::vector<std::string> command = {"aarch64-linux-gnu-as", "-g", "-march=armv8.4-a"};
  for (const std::string& word :
       {"-I" + scratch.path.string(), "-I" + folder.string(), std::string("-o"), object.string(), source.string(),
        std::string("--defsym"), fmt::format("APPLE={}", profile.model == &pmu::apple_model ? 1 : 0)})
    command.push_back(word);
  for (const std::string& one : defines) {
    command.push_back("--defsym");
    command.push_back(one);
  }
  const ToolOutput assembled = output_of(command);
  if (assembled.was_stopped) return fail(Code::cannot_measure, "the assembler was stopped");
  if (assembled.is_missing) {
    return fail(Code::not_found, "assembly needs the program aarch64-linux-gnu-as, which is not installed",
                "install it: sudo apt-get install binutils-aarch64-linux-gnu");
  }
  if (assembled.status != 0) return fail(Code::bad_usage, format_errors(name, text, assembled.text, profile));
  const ToolOutput linked =
      output_of({"aarch64-linux-gnu-ld", "-n", "-Ttext=0x100000", "-o", image_path.string(), object.string()});
  if (linked.status != 0)
    return fail(Code::bad_usage, fmt::format("{}: {}", printable(name), reported_by_linker(linked.text)));
  const std::string bytes = read_file(image_path);
  auto image = load_elf(name, std::vector<std::uint8_t>(bytes.begin(), bytes.end()));
  if (!image) return image;
  std::erase_if(image->symbols,
                [](const auto& one) { return one.first.starts_with("$") || one.first.starts_with("__"); });
  if (!image->symbols.contains("_start")) image->entry = 0x10'0000;
  read_disassembly(*image, output_of({"aarch64-linux-gnu-objdump", "-d", "-l", image_path.string()}).text,
                   source.string(), text);
  return image;
}

}  // namespace tally::lab::arm
