#include "programs/lab/includes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <set>

#include "programs/lab/include_files.hpp"
#include "programs/register/pmu/model.hpp"
#include "tally/core/base/text.hpp"

namespace tally::lab {

std::string constants_text() {
  std::string text;
  for (const pmu::RegisterInstance& place : pmu::places(pmu::intel_model)) {
    // LVT_PERFMON is defined below as an offset in the APIC's page, as in the manuals and the perfmon notes.
    if (place.reg->space != pmu::Space::msr || place.reg->other_number != 0) continue;
    const auto number = place.reg->number + static_cast<std::uint64_t>(place.index) * place.reg->stride;
    text += fmt::format("{} equ {:#x}\n", pmu::name(place), number);
    for (const std::string& alias : split(place.reg->aliases, ' ')) {
      if (!alias.empty() && alias.find('#') == std::string::npos) text += fmt::format("{} equ {:#x}\n", alias, number);
    }
  }
  return text + constants_file;
}

std::string include_text(int bits) { return std::string(bits == 64 ? include_64_file : include_32_file) + macros_file; }

namespace {

bool is_of_name(char letter) {
  return std::isalnum(static_cast<unsigned char>(letter)) != 0 || letter == '_' || letter == '.' || letter == '$' ||
         letter == '@' || letter == '#' || letter == '?' || letter == '~';
}

// Returns the names that a program defines, as `NAME:` or `NAME equ`.
std::set<std::string> definitions_in(const std::string& program) {
  std::set<std::string> names;
  for (const std::string& line : split(program, '\n')) {
    const std::string statement = trimmed(line.substr(0, line.find(';')));
    if (statement.starts_with(".")) continue;  // a local label
    const auto end = std::find_if_not(statement.begin(), statement.end(), is_of_name);
    const std::string rest = lower(trimmed(std::string(end, statement.end())));
    if (rest.starts_with(":") || rest.starts_with("equ ")) names.emplace(statement.begin(), end);
  }
  return names;
}

}  // namespace

// Quotes and comments contain text, not names.
std::string without_names_of(const std::string& program, const std::string& included) {
  const std::set<std::string> names = definitions_in(program);
  std::string text;
  for (auto at = included.begin(); at != included.end();) {
    if (*at == '\'' || *at == ';') {
      const auto closing = std::find(at + 1, included.end(), *at == ';' ? '\n' : '\'');
      const auto end = closing == included.end() ? closing : closing + 1;
      text.append(at, end);
      at = end;
      continue;
    }
    const auto end = std::find_if_not(at, included.end(), is_of_name);
    if (end == at) {
      text += *at++;
      continue;
    }
    const std::string word(at, end);
    text += names.contains(word) ? "lab_" + word : word;
    at = end;
  }
  return text;
}

const std::vector<std::string>& names_in_includes() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all;
    const std::string text = constants_text() + include_32_file + macros_file;
    for (const std::string& line : split(text, '\n')) {
      const std::size_t end = line.find_first_of(" :\t");
      if (end == std::string::npos || end == 0 || line[0] == ';' || line[0] == '%' || line[0] == '.') continue;
      if (line[end] == ':' || line.find(" equ ") != std::string::npos) all.push_back(line.substr(0, end));
    }
    return all;
  }();
  return names;
}

}  // namespace tally::lab
