#include "tally/linux/symbol/other_names.hpp"

#include <algorithm>
#include <utility>

namespace tally::symbol {
namespace {

bool is_lower(char c) { return c >= 'a' && c <= 'z'; }
bool is_upper(char c) { return c >= 'A' && c <= 'Z'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// Whether a text is an identifier as Fortran and Ada compilers write it: lower-case letters, digits and underscores,
/// with a letter first.
bool is_word(std::string_view text) {
  return !text.empty() && is_lower(text.front()) &&
         std::all_of(text.begin(), text.end(), [](char c) { return is_lower(c) || is_digit(c) || c == '_'; });
}

/// Removes `mark` and the digits after it from the end, if present.
std::string_view without_number(std::string_view text, std::string_view mark) {
  const std::size_t digits = text.find_last_not_of("0123456789") + 1;
  if (digits == text.size() || !text.substr(0, digits).ends_with(mark) || digits <= mark.size()) return text;
  return text.substr(0, digits - mark.size());
}

std::string with_points(std::string_view text) {
  std::string made;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool is_scope = text.substr(i).starts_with("__") && i > 0 && i + 2 < text.size();
    made += is_scope ? '.' : text[i];
    if (is_scope) ++i;
  }
  return made;
}

int hex_digit(char c) { return is_digit(c) ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1; }

}  // namespace

std::optional<std::string> fortran_name(std::string_view name) {
  constexpr std::string_view mark = "_MOD_";
  if (!name.starts_with("__")) return std::nullopt;
  name.remove_prefix(2);
  const std::size_t at = name.find(mark);
  if (at == std::string_view::npos) return std::nullopt;
  const std::string_view module = name.substr(0, at);
  std::string_view procedure = name.substr(at + mark.size());
  // Suffix of a copy that the compiler made for certain arguments: ".constprop.0".
  const std::string_view clone = procedure.substr(std::min(procedure.find('.'), procedure.size()));
  procedure.remove_suffix(clone.size());
  if (!is_word(module) || !is_word(procedure)) return std::nullopt;
  std::string made = std::string(module) + "::" + std::string(procedure);
  if (!clone.empty()) made += " [clone " + std::string(clone) + "]";
  return made;
}

std::optional<std::string> ocaml_name(std::string_view name) {
  constexpr std::string_view mark = "caml";
  if (!name.starts_with(mark) || name.size() <= mark.size() || !is_upper(name[mark.size()])) return std::nullopt;
  name.remove_prefix(mark.size());
  if (name.find("__") == std::string_view::npos && name.find('.') == std::string_view::npos) return std::nullopt;
  std::string made = with_points(without_number(name, "_"));
  // Other characters are written as "$" and their hexadecimal code.
  for (std::size_t at = 0; (at = made.find('$', at)) != std::string::npos && at + 2 < made.size(); ++at) {
    const int high = hex_digit(made[at + 1]), low = hex_digit(made[at + 2]);
    if (high >= 2 && high < 8 && low >= 0) made.replace(at, 3, 1, static_cast<char>(high * 16 + low));
  }
  return made;
}

std::optional<std::string> ada_name(std::string_view name) {
  constexpr std::string_view main = "_ada_";
  if (name.starts_with(main) && is_word(name.substr(main.size()))) return std::string(name.substr(main.size()));
  for (const auto& [end, what] : {std::pair{"___elabb", "'Elab_Body"}, std::pair{"___elabs", "'Elab_Spec"}})
    if (name.ends_with(end) && is_word(name.substr(0, name.size() - std::string_view(end).size())))
      return with_points(name.substr(0, name.size() - std::string_view(end).size())) + what;
  // Suffixes of a nested subprogram, an overload, a task body, and a subprogram declared in a body.
  name = without_number(name, ".");
  name = without_number(name, "__");
  if (name.ends_with("TKB")) name.remove_suffix(3);
  while (!name.empty() && (name.ends_with("Xn") || name.ends_with("Xb"))) name.remove_suffix(2);
  if (name.ends_with('X')) name.remove_suffix(1);
  if (!is_word(name) || name.find("__") == std::string_view::npos || name.find("___") != std::string_view::npos)
    return std::nullopt;
  return with_points(name);
}

}  // namespace tally::symbol
