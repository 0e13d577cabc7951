// Runs nasm and rewrites its messages for the line that the user wrote.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "programs/lab/includes.hpp"
#include "programs/lab/lab_image.hpp"
#include "programs/lab/scratch.hpp"
#include "tally/core/base/parse_text.hpp"
#include "tally/core/base/text.hpp"

namespace tally::lab {
namespace {

namespace fs = std::filesystem;

// Returns the statement without its comment, in lower case and trimmed.
std::string statement_of(std::string_view line) { return lower(trimmed(line.substr(0, line.find(';')))); }

bool says(const std::string& text, std::string_view word, std::string_view other = "[") {
  for (const std::string& line : split(text, '\n')) {
    std::string statement = statement_of(line);
    if (statement.starts_with(other)) statement = trimmed(statement.substr(1));
    if (statement.starts_with(word) && statement.size() > word.size() &&
        std::isspace(static_cast<unsigned char>(statement[word.size()])) != 0) {
      return true;
    }
  }
  return false;
}

// Returns N of `bits N` in the source; 0 if it is missing.
int bits_in(const std::string& text) {
  for (const std::string& line : split(text, '\n')) {
    std::string statement = statement_of(line);
    if (statement.starts_with("[")) statement = trimmed(statement.substr(1));
    if (!statement.starts_with("bits")) continue;
    for (const int bits : {16, 32, 64}) {
      if (statement.find(std::to_string(bits), 4) != std::string::npos) return bits;
    }
  }
  return 0;
}

// Candidates for the correction of a mistyped word: the usual mnemonics.
const std::vector<std::string>& mnemonics() {
  static const std::vector<std::string> words = {
      "rdmsr", "wrmsr", "rdpmc", "rdtsc", "cpuid", "mov",   "movzx", "movsx", "lea",  "add",  "sub",    "inc",
      "dec",   "and",   "or",    "xor",   "not",   "neg",   "shl",   "shr",   "sar",  "cmp",  "test",   "bt",
      "bts",   "btr",   "btc",   "jmp",   "jz",    "jnz",   "je",    "jne",   "jc",   "jnc",  "call",   "ret",
      "iret",  "iretd", "iretq", "push",  "pop",   "pusha", "popa",  "pushf", "popf", "int",  "cli",    "sti",
      "hlt",   "nop",   "loop",  "imul",  "mul",   "div",   "in",    "out",   "lidt", "lgdt", "cmovnz", "xchg"};
  return words;
}

// Returns a label that differs in case only: some assemblers ignore case, nasm does not.
std::string label_in_other_case(const std::string& name, const std::vector<std::string>& lines) {
  for (const std::string& line : lines) {
    const std::string label = trimmed(line.substr(0, line.find_first_of(":;")));
    if (line.find(':') < line.find(';') && label != name && lower(label) == lower(name)) return label;
  }
  return "";
}

// Returns advice for nasm's message about a line of the program.
std::string advice(const std::string& message, const std::string& line, const std::vector<std::string>& lines) {
  const std::string statement = statement_of(line);
  const std::string word = statement.substr(0, statement.find_first_of(" \t"));
  const std::string rest = statement.size() > word.size() ? trimmed(statement.substr(word.size())) : "";
  const bool is_known = std::find(mnemonics().begin(), mnemonics().end(), word) != mnemonics().end();
  if (is_known && rest.find_first_of(" \t") != std::string::npos && rest.find(',') == std::string::npos) {
    return fmt::format("a comma is missing between the operands of {}", word);
  }
  if (!is_known) {
    const auto near = nearest(word, mnemonics(), 1);
    const std::size_t far = word.size() >= 5 ? 2 : 1;
    if (!near.empty() && edit_distance(word, near.front()) <= far) return fmt::format("did you mean {}?", near.front());
  }
  const std::size_t quote = message.find('`');
  if (message.find("not defined") != std::string::npos && quote != std::string::npos) {
    const std::string name = message.substr(quote + 1, message.find('\'', quote) - quote - 1);
    if (const std::string label = label_in_other_case(name, lines); !label.empty())
      return fmt::format("did you mean {}? Labels are case-sensitive in nasm", label);
    const auto near = nearest(name, names_in_includes(), 1);
    if (!near.empty()) return fmt::format("did you mean {}?", near.front());
    return "";
  }
  if (message.find("64-bit mode") != std::string::npos) return "for a 64-bit program, begin with `bits 64`";
  if (message.find("32-bit mode") != std::string::npos)
    return "this requires a 32-bit program: begin with `bits 32`, or use --bits 32";
  return "";
}

/// One message of nasm: "FILE:12: error: text".
struct Complaint {
  int line = 0;
  std::string file;
  std::string text;
};

std::vector<Complaint> complaints_in(const std::string& output) {
  std::vector<Complaint> all;
  for (const std::string& row : split(output, '\n')) {
    for (const std::string_view kind : {": error: ", ": fatal: ", ": warning: "}) {
      const std::size_t at = row.find(kind);
      if (at == std::string::npos) continue;
      const std::size_t colon = row.rfind(':', at - 1);
      Complaint one;
      one.text = row.substr(at + kind.size());
      if (colon != std::string::npos) {
        one.file = row.substr(0, colon);
        one.line = std::atoi(row.substr(colon + 1, at - colon - 1).c_str());
      }
      all.push_back(one);
    }
  }
  return all;
}

// Returns the name of a file without the characters that nasm does not accept: control characters.
std::string name_for_nasm(const std::string& path) {
  std::string name = fs::path(path).filename().string();
  std::replace_if(
      name.begin(), name.end(), [](unsigned char c) { return c < ' ' || c == 0x7f; }, '_');
  return name;
}

// Formats a message: the source line below it, and a suggestion.
std::string format_complaint(const Complaint& one, const std::string& name, const std::vector<std::string>& lines) {
  const bool is_users = one.line > 0 && static_cast<std::size_t>(one.line) <= lines.size() &&
                        fs::path(one.file).filename() == name_for_nasm(name);
  const std::string line = is_users ? lines[static_cast<std::size_t>(one.line) - 1] : "";
  const std::string what = is_users ? advice(one.text, line, lines) : "";
  return fmt::format("{}:{}: {}{}{}", printable(name), one.line, one.text.substr(0, one.text.find(" [-w+")),
                     line.empty() ? "" : "\n           " + trimmed(line), what.empty() ? "" : "\n           " + what);
}

// One mistake may cause two messages of nasm for its line. nasm treats a mistyped instruction without operands as a
// label and only warns about it.
std::vector<std::string> reported_all(const std::string& name, const std::string& source, const std::string& output) {
  constexpr std::size_t most = 5;
  const std::vector<std::string> lines = split(source, '\n');
  std::vector<std::string> parts;
  int last = -1;
  std::vector<Complaint> all = complaints_in(output);
  std::stable_sort(all.begin(), all.end(), [](const Complaint& a, const Complaint& b) { return a.line < b.line; });
  for (const Complaint& one : all) {
    if (one.line == last || parts.size() >= most) continue;
    last = one.line;
    parts.push_back(format_complaint(one, name, lines));
  }
  return parts;
}

// Whether a source is in the syntax of GNU as: its directives, or a register with %.
bool is_for_gnu_as(const std::string& source) {
  for (const std::string_view word : {".globl", ".global", ".text", ".section", ".intel_syntax", ".att_syntax"}) {
    if (source.find(word) != std::string::npos) return true;
  }
  for (const std::string_view part : {"ax", "bx", "cx", "dx", "si", "di", "sp", "bp"}) {
    for (const std::string_view prefix : {"%e", "%r"}) {
      if (source.find(fmt::format("{}{}", prefix, part)) != std::string::npos) return true;
    }
  }
  return false;
}

tl::unexpected<Error> refuse_source(const std::string& name, const std::string& source, const std::string& output) {
  std::vector<std::string> parts = reported_all(name, source, output);
  if (parts.empty()) parts.push_back(trimmed(output));
  return fail(Code::bad_usage, join(parts, "\n       "),
              is_for_gnu_as(source) ? "x86 files are in NASM's syntax, not in that of GNU as" : "");
}

// The parts of nasm's map: the addresses of sections and labels.
struct Map {
  std::map<std::string, std::uint64_t> sections;
  std::map<std::string, std::uint64_t> lengths;  // of the sections
  std::map<std::string, std::uint64_t> symbols;
};

Map read_map(const std::string& text) {
  Map map;
  std::string part;
  for (const std::string& row : split(text, '\n')) {
    if (row.starts_with("-- ")) part = row;
    const std::vector<std::string> all = split_words(row);
    const auto is_number = [](const std::string& word) {
      return !word.empty() && word.find_first_not_of("0123456789ABCDEFabcdef") == std::string::npos;
    };
    if (part.starts_with("-- Sections (summary)") && all.size() == 6 && is_number(all[0])) {
      map.sections[all[5]] = std::strtoull(all[0].c_str(), nullptr, 16);
      map.lengths[all[5]] = std::strtoull(all[3].c_str(), nullptr, 16);
    } else if (part.starts_with("-- Symbols") && all.size() == 3 && is_number(all[0]) && is_number(all[1])) {
      map.symbols[all[2]] = std::strtoull(all[1].c_str(), nullptr, 16);
    }
  }
  return map;
}

// A row of nasm's listing: "    12 00000005 B8C0005300      <1>   mov eax, 1".
struct ListingRow {
  int line = 0;
  bool has_bytes = false;
  std::uint64_t offset = 0;
  int depth = 0;
  std::string text;
};

ListingRow read_row(const std::string& row) {
  ListingRow out;
  constexpr std::size_t text_column = 40;
  out.line = std::atoi(row.substr(0, 6).c_str());
  if (row.size() > 15 && std::isxdigit(static_cast<unsigned char>(row[7])) != 0) {
    out.has_bytes = true;
    out.offset = std::strtoull(row.substr(7, 8).c_str(), nullptr, 16);
  }
  const std::size_t mark = row.find('<', 30);
  if (mark != std::string::npos && mark < text_column && row.find('>', mark) != std::string::npos) {
    out.depth = std::atoi(row.c_str() + mark + 1);
  }
  if (row.size() > text_column) out.text = row.substr(text_column);
  return out;
}

// nasm lists the source of the wrapper, which includes the user's file: so that file has depth 1.
std::vector<Line> read_listing(const std::string& listing, const Map& map, int depth_of_user) {
  std::vector<Line> lines;
  std::string section = ".text";
  ListingRow users;  // the last row of the user's file
  for (const std::string& raw : split(listing, '\n')) {
    if (raw.size() < 7) continue;
    const ListingRow row = read_row(raw);
    if (row.depth == depth_of_user) users = row;
    std::string statement = statement_of(row.text);
    if (statement.starts_with("[")) statement = trimmed(statement.substr(1));
    for (const std::string_view word : {"section", "segment"}) {
      if (!statement.starts_with(word) || statement.size() <= word.size()) continue;
      std::istringstream words(trimmed(std::string_view(row.text).substr(lower(row.text).find(word) + word.size())));
      words >> section;
      if (section.ends_with("]")) section.pop_back();
    }
    const auto base = map.sections.find(section);
    if (!row.has_bytes || base == map.sections.end()) continue;
    const std::uint64_t address = base->second + row.offset;
    // A long row of data continues in the next row.
    if (trimmed(row.text).empty()) continue;
    // The expansion of a macro belongs to the line that uses it.
    const bool is_macro = row.depth > depth_of_user && !lower(trimmed(users.text)).starts_with("%include");
    lines.push_back({address, is_macro ? users.line : row.line, row.depth != depth_of_user && !is_macro,
                     trimmed(is_macro ? users.text : row.text)});
  }
  std::stable_sort(lines.begin(), lines.end(), [](const Line& a, const Line& b) { return a.address < b.address; });
  return lines;
}

// Returns a nasm string with escapes, which can hold any file name.
std::string quoted(const std::string& name) {
  std::string text = "`";
  for (const unsigned char c : name) {
    const bool is_plain =
        (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '.' || c == '_';
    text += is_plain ? std::string(1, static_cast<char>(c)) : fmt::format("\\x{:02x}", c);
  }
  return text + "`";
}

}  // namespace

Result<Image> assemble(const std::string& name, const std::string& text, int bits, const std::string& folder,
                       const std::vector<std::string>& defines) {
  const auto where = new_folder();
  if (!where) return fail(where.error());
  const Folder scratch{*where};
  Image image;
  image.name = name;
  const int declared_bits = bits_in(text);
  image.bits = bits != 0 ? bits : declared_bits != 0 ? declared_bits : 32;
  const bool has_origin = says(text, "org");
  // The user's file keeps its name, so that the assembler's messages contain it.
  const fs::path user = scratch.path / name_for_nasm(name);
  const fs::path wrapper = scratch.path / "lab.wrapper";
  std::ofstream(user) << text;
  std::ofstream(scratch.path / "lab.inc") << without_names_of(text, include_text(image.bits));
  std::string head =
      fmt::format("bits {}\n[map all {}]\n%include \"lab.constants\"\n", image.bits, (scratch.path / "map").string());
  if (!has_origin) head += fmt::format("org {:#x}\n", image.bits == 16 ? 0x7C00 : 0x10'0000);
  std::ofstream(scratch.path / "lab.constants") << without_names_of(text, constants_text());
  std::ofstream(wrapper) << head << "%include " << quoted(user.filename().string()) << "\n";
  // A program may define names that lab.inc also defines.
  std::vector<std::string> command = {"nasm", "-w-pp-macro-redef-multi", "-w-number-overflow", "-f", "bin"};
  for (const std::string& word :
       {std::string("-o"), (scratch.path / "out").string(), std::string("-l"), (scratch.path / "listing").string(),
        "-I" + scratch.path.string() + "/", "-I" + folder + "/", wrapper.string()})
    command.push_back(word);
  for (const std::string& one : defines) command.push_back("-D" + one);
  const ToolOutput nasm = output_of(command);
  const std::string& output = nasm.text;
  if (nasm.was_stopped) return fail(Code::cannot_measure, "the assembler was stopped");
  if (nasm.is_missing) {
    return fail(Code::not_found, "assembly needs the program nasm, which is not installed",
                "install it: sudo apt-get install nasm");
  }
  if (nasm.status != 0) return refuse_source(name, text, output);
  image.warnings = reported_all(name, text, output);
  const std::string bytes = read_file(scratch.path / "out");
  const Map map = read_map(read_file(scratch.path / "map"));
  std::uint64_t lowest = image.bits == 16 ? 0x7C00 : 0x10'0000;
  if (const auto code = map.sections.find(".text"); code != map.sections.end()) {
    lowest = code->second;
    image.text_end = lowest + map.lengths.at(".text");
  }
  image.entry = lowest;
  if (const auto label = map.symbols.find("_start"); label != map.symbols.end()) image.entry = label->second;
  image.symbols = map.symbols;
  image.memory_blocks.push_back({lowest, std::vector<std::uint8_t>(bytes.begin(), bytes.end())});
  image.lines = read_listing(read_file(scratch.path / "listing"), map, 1);
  if (bytes.empty()) return fail(Code::bad_usage, fmt::format("'{}' assembles to nothing", printable(name)), "");
  return image;
}

}  // namespace tally::lab
