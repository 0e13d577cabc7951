#include "tally/core/base/json_problem.hpp"

#include <fmt/format.h>

namespace tally {
namespace {

using std::string_view;

/// Removes and returns the text before `separator`. Returns nothing and keeps the text if the separator is missing.
string_view take_until(string_view& text, string_view separator) {
  const std::size_t at = text.find(separator);
  if (at == string_view::npos) return {};
  const string_view prefix = text.substr(0, at);
  text.remove_prefix(at + separator.size());
  return prefix;
}

/// Rewrites the text after "parse error at", such as "line 3, column 5: syntax error while parsing value - unexpected
/// ','; expected end of input".
std::string syntax_problem(string_view text) {
  const string_view position = take_until(text, ": ");
  // A JSON string ends on its own line, so the library also reports the end of the file as an open string.
  const bool is_cut = text.find("unexpected end of input") != string_view::npos ||
                      text.find("missing closing quote") != string_view::npos;
  if (is_cut) return fmt::format("it ends within a value at {}: the file is incomplete", position);
  (void)take_until(text, " - ");
  const string_view detail = text.substr(0, text.find("; "));
  return fmt::format("{} is not valid JSON: {}", position, detail);
}

/// The library's type name with its article.
std::string with_article(string_view type) {
  const bool is_countable = type != "null" && type != "binary" && type != "discarded";
  const bool is_vowel = !type.empty() && string_view("aeio").find(type.front()) != string_view::npos;
  return fmt::format("{}{}", is_countable ? (is_vowel ? "an " : "a ") : "", type);
}

/// Rewrites "(/exit_code) type must be number, but is string". The library includes the path only if JSON_DIAGNOSTICS
/// is set.
std::string value_problem(string_view text) {
  string_view path;
  if (text.starts_with('(')) {
    text.remove_prefix(1);
    path = take_until(text, ") ");
  }
  if (constexpr string_view got = "incompatible ReferenceType for get_ref, actual type is "; text.starts_with(got))
    return fmt::format("{} has the wrong type: it is {}", path.empty() ? "a value" : path,
                       with_article(text.substr(got.size())));
  if (constexpr string_view must = "type must be "; text.starts_with(must)) {
    text.remove_prefix(must.size());
    const string_view expected_type = take_until(text, ", but is ");
    return fmt::format("{} must be {}, but is {}", path.empty() ? "a value" : path, with_article(expected_type),
                       with_article(text));
  }
  if (constexpr string_view missing = " not found"; text.starts_with("key ") && text.ends_with(missing))
    return fmt::format("{} has no {}", path.empty() ? "it" : path, text.substr(0, text.size() - missing.size()));
  return path.empty() ? std::string(text) : fmt::format("{}: {}", path, text);
}

}  // namespace

std::string json_problem(string_view exception) {
  if (!exception.starts_with("[json.exception.")) return std::string(exception);
  string_view text = exception;
  (void)take_until(text, "] ");
  if (constexpr string_view syntax = "parse error at "; text.starts_with(syntax))
    return syntax_problem(text.substr(syntax.size()));
  return value_problem(text);
}

std::string json_problem_in_line(string_view exception) {
  std::string problem = json_problem(exception);
  constexpr string_view only_line = "line 1, column ";
  if (const std::size_t at = problem.find(only_line); at != std::string::npos) problem.erase(at, 8);
  return problem;
}

}  // namespace tally
