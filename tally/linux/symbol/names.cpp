#include "tally/linux/symbol/names.hpp"

#include "tally/core/base/clone_name.hpp"
#include "tally/core/base/parse_text.hpp"
#include "tally/linux/symbol/clones.hpp"
#include "tally/linux/symbol/other_names.hpp"
#include "tally/linux/symbol/rust_names.hpp"

#include <cxxabi.h>
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <csetjmp>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "tally/core/base/text.hpp"

// The callback form of __cxa_demangle(), which passes on its text in chunks. Only in the static libstdc++.
extern "C" int __gcclibcxx_demangle_callback(const char* mangled, void (*take)(const char*, std::size_t, void*),
                                             void* context) __attribute__((weak));

namespace tally::symbol {
namespace {

// A mangled name of 300 characters may refer to itself so often that its text has gigabytes. The longest names in
// programs have some ten thousand characters.
constexpr std::size_t most_text = 1 << 16;

struct Written {
  std::jmp_buf enough;
  std::size_t bytes = 0;
  char text[most_text];
};

// The jump leaves only C code, which holds no memory.
void take(const char* chunk, std::size_t bytes, void* context) {
  Written& written = *static_cast<Written*>(context);
  if (bytes > most_text - written.bytes) std::longjmp(written.enough, 1);
  std::memcpy(written.text + written.bytes, chunk, bytes);
  written.bytes += bytes;
}

bool is_written(const char* mangled, Written& to) {
  if (setjmp(to.enough) != 0) return false;
  return __gcclibcxx_demangle_callback(mangled, take, &to) == 0;
}

bool is_mangled(std::string_view name) { return name.starts_with("_Z"); }

std::string without_spaces(std::string_view text) {
  std::string made;
  for (const char c : text) {
    if (c != ' ') made += c;
  }
  return made;
}

// Returns the index of the bracket that matches the one at the end.
std::size_t opening(std::string_view text) {
  int depth = 0;
  for (std::size_t i = text.size(); i-- > 0;) {
    if (text[i] == ')') ++depth;
    if (text[i] == '(' && --depth == 0) return i;
  }
  return std::string_view::npos;
}

// Returns the text after the last space outside of brackets that is not part of an operator's name.
std::string_view without_result(std::string_view text) {
  const std::size_t operators = text.find("operator");
  int depth = 0;
  std::size_t begin = 0;
  for (std::size_t i = 0; i < std::min(text.size(), operators); ++i) {
    const char c = text[i];
    if (c == '<' || c == '(' || c == '{') ++depth;
    if (c == '>' || c == ')' || c == '}') --depth;
    if (c == ' ' && depth == 0) begin = i + 1;
  }
  return text.substr(begin);
}

// Returns a word that every mangled form of this name contains; empty if there is none.
std::string_view word_of(std::string_view symbol) {
  if (symbol.find("operator") != std::string_view::npos || symbol.find('{') != std::string_view::npos) return {};
  std::string_view name = symbol.substr(0, symbol.find_first_of("(<["));
  const std::size_t scope = name.find_last_of(":.");
  if (scope != std::string_view::npos) name.remove_prefix(scope + 1);
  const std::size_t begin = name.find_last_of(" ~");
  return begin == std::string_view::npos ? name : name.substr(begin + 1);
}

// Returns the index of a colon that is not part of "::" or of a tag in brackets.
std::size_t single_colon(std::string_view text) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text.substr(i).starts_with("[abi:") || text.substr(i).starts_with("::"))
      i += text[i] == '[' ? 4 : 1;
    else if (text[i] == ':')
      return i;
  }
  return std::string_view::npos;
}

}  // namespace

std::string demangled(std::string_view name) {
  if (auto rust = rust_name(name)) return *std::move(rust);
  if (auto fortran = fortran_name(name)) return *std::move(fortran);
  if (auto ocaml = ocaml_name(name)) return *std::move(ocaml);
  if (!is_mangled(name)) return std::string(name);
  if (__gcclibcxx_demangle_callback != nullptr) {
    const std::unique_ptr<Written> written(new Written);
    return is_written(std::string(name).c_str(), *written) ? std::string(written->text, written->bytes)
                                                           : std::string(name);
  }
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> text(
      abi::__cxa_demangle(std::string(name).c_str(), nullptr, nullptr, &status), std::free);
  return text ? std::string(text.get()) : std::string(name);
}

std::string without_parameters(std::string_view text) {
  for (const std::string_view end : {" const", " volatile", " &&", " &"}) {
    if (text.ends_with(end)) text.remove_suffix(end.size());
  }
  if (text.ends_with(')')) {
    const std::size_t at = opening(text);
    // "operator()" has its own brackets.
    if (at != std::string_view::npos && !text.substr(0, at).ends_with("operator")) text = text.substr(0, at);
  }
  return std::string(without_result(text));
}

Result<CodeAddress> parse_code_address(std::string_view text) {
  CodeAddress place;
  const auto bad = [&](const std::string& why) {
    return fail(Code::bad_usage, fmt::format("'{}' is not a location in a program: {}", printable(text), why),
                "for example: main, ns::parse(int), parse+0x10, libz.so.1:inflate, 0x401136");
  };
  std::string_view rest = text;
  if (const std::size_t at = single_colon(rest); at != std::string_view::npos) {
    place.file = std::string(rest.substr(0, at));
    rest.remove_prefix(at + 1);
    if (place.file.empty()) return bad("missing file name before ':'");
  }
  if (rest.starts_with("0x")) {
    const auto address = parse_unsigned(rest);
    if (!address) return bad("a hexadecimal number must follow 0x");
    place.offset = *address;
    return place;
  }
  const std::size_t plus = rest.rfind('+');
  if (plus != std::string_view::npos && plus + 1 < rest.size() &&
      std::isdigit(static_cast<unsigned char>(rest[plus + 1]))) {
    const auto offset = parse_unsigned(rest.substr(plus + 1));
    if (!offset) return bad("a number must follow +");
    place.offset = *offset;
    rest = rest.substr(0, plus);
  }
  place.symbol = trimmed(rest);
  if (place.symbol.empty()) return bad("missing name");
  return place;
}

bool is_file(const CodeAddress& place, std::string_view file_name) {
  if (place.file.empty() || place.file == file_name) return true;
  return file_name.starts_with(place.file) && file_name.substr(place.file.size()).starts_with('.');
}

bool is_address_in(const CodeAddress& place, std::string_view file_name, const Elf& elf) {
  return place.symbol == file_name &&
         std::any_of(elf.executable.begin(), elf.executable.end(),
                     [&](const Segment& segment) { return place.offset - segment.address < segment.bytes; });
}

namespace {

/// Which of `elf.functions` are clones, by their address and name (functions_of_clones).
std::vector<std::uint64_t> clones_of(const Elf& elf) {
  std::vector<CloneSymbol> symbols;
  for (const Function& function : elf.functions) symbols.push_back({function.name, function.address, function.unit});
  return functions_of_clones(symbols);
}

}  // namespace

std::vector<SymbolMatch> find(const Elf& elf, std::string_view symbol) {
  std::vector<SymbolMatch> found, untagged;  // by the whole name, and without ABI tags
  std::vector<std::uint64_t> functions;      // of clones; empty: none was found yet
  const std::string_view word = word_of(symbol);
  const std::string wanted = without_spaces(symbol);
  for (std::size_t i = 0; i < elf.functions.size(); ++i) {
    const Function& function = elf.functions[i];
    const bool as_it_is = function.name == symbol;
    if (!as_it_is && function.name.find(word) == std::string_view::npos) continue;
    std::string name = demangled(function.name), linker_name(function.name), distinct = linker_name;
    std::uint64_t function_of_clone = 0;
    std::vector<SymbolMatch>* matches = &found;
    if (!as_it_is && without_spaces(name) != wanted) {
      // Copies and parts of a function are found by its name. Fragments have no entries.
      const CloneName clone = clone_name(function.name);
      if (clone.kind == CloneKind::fragment) continue;
      if (clone.kind != CloneKind::none) {
        if (functions.empty()) functions = clones_of(elf);
        function_of_clone = functions[i];
        linker_name = clone.function;
        distinct = clone.distinct;
        name = demangled(linker_name);
      }
      const auto is_wanted = [&](const std::string& text) {
        return without_spaces(text) == wanted ||
               (text != linker_name && without_spaces(without_parameters(text)) == wanted);
      };
      if (linker_name != symbol && !is_wanted(name)) {
        if (!is_wanted(without_abi_tags(name))) continue;
        matches = &untagged;
      }
    }
    // Aliases of the same code: the two forms of a constructor are often one.
    const bool known = std::any_of(matches->begin(), matches->end(), [&](const SymbolMatch& match) {
      return match.address == function.address && match.name == name;
    });
    if (!known)
      matches->push_back({std::move(name), function.address, function.chosen_late, function.local, std::move(distinct),
                          function_of_clone});
  }
  return found.empty() ? untagged : found;
}

std::optional<Error> ambiguity(const std::vector<SymbolMatch>& found, std::string_view symbol,
                               std::string_view file_name) {
  const auto is_other = [&](const SymbolMatch& symbol_match) {
    const auto function = [](const SymbolMatch& match) { return match.clone_of != 0 ? match.clone_of : match.address; };
    if (function(symbol_match) == function(found.front())) return false;
    // Forms of a constructor or destructor differ only in the mangled name; static functions differ in neither. Rust's
    // names contain the crate: equal ones are of copies in several codegen units.
    return symbol_match.name != found.front().name ||
           (symbol_match.symbol == found.front().symbol && !rust_name(symbol_match.symbol));
  };
  // The table that shortened it showed one executed function: all that it may be count together.
  if (symbol.find("…") != std::string_view::npos) return std::nullopt;
  if (found.size() < 2 || std::none_of(found.begin() + 1, found.end(), is_other)) return std::nullopt;
  std::vector<std::string> lines;
  bool by_name = true;
  for (std::size_t i = 0; i < found.size(); ++i) {
    for (std::size_t k = 0; k < i; ++k) by_name = by_name && found[i].name != found[k].name;
  }
  constexpr std::size_t most = 12;
  for (const SymbolMatch& one : found) {
    if (lines.size() == most) break;
    lines.push_back(by_name ? printable(one.name)
                            : fmt::format("{}:0x{:x}  {}", printable(file_name), one.address, printable(one.name)));
  }
  if (found.size() > most) lines.push_back(fmt::format("and {} more", found.size() - most));
  return Error{Code::bad_usage,
               fmt::format("'{}' is the name of {} functions in {}:\n  {}", printable(symbol), found.size(),
                           printable(file_name), join(lines, "\n  ")),
               by_name ? "name one with its parameters, in quotes" : "name one by its address", 0};
}

}  // namespace tally::symbol
