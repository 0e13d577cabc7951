#include "tally/output/formats/other_tools.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <utility>

namespace tally::report {
namespace {

constexpr std::string_view digits = "0123456789";

bool is_in_word(char c) { return c == '+' || c == '-' || c == '.' || std::isalnum(static_cast<unsigned char>(c)) != 0; }

std::size_t end_of_word(std::string_view json, std::size_t at) {
  while (at < json.size() && is_in_word(json[at])) ++at;
  return at;
}

std::size_t end_of_string(std::string_view json, std::size_t at) {
  for (++at; at < json.size() && json[at] != '"'; ++at)
    if (json[at] == '\\') ++at;
  return std::min(at + 1, json.size());
}

/// Whether a digit follows a comma at this index.
bool is_decimal_comma(std::string_view text, std::size_t at) {
  return at + 1 < text.size() && text[at] == ',' && digits.find(text[at + 1]) != digits.npos;
}

}  // namespace

std::span<const OtherTool> other_tools() {
  static constexpr OtherTool tools[] = {
      {"google-benchmark --benchmark_format=json", is_google_benchmark, read_google_benchmark},
      {"hyperfine --export-json", is_hyperfine, read_hyperfine},
      {"pytest-benchmark --benchmark-json", is_pytest_benchmark, read_pytest_benchmark},
      {"Criterion.rs estimates.json", is_criterion, read_criterion},
      {"perf stat -j", is_perf_json, read_perf_json},
      {"valgrind --tool=callgrind", is_callgrind, read_callgrind},
  };
  return tools;
}

std::string quote_wrong_numbers(std::string_view json) {
  std::string quoted;
  bool is_value = false;  // of a key
  for (std::size_t at = 0, end = 0; at < json.size(); at = end) {
    const bool is_word = is_in_word(json[at]);
    end = is_word ? end_of_word(json, at) : json[at] == '"' ? end_of_string(json, at) : at + 1;
    // A digit after the comma belongs to the value: an object has a name there.
    if (is_word && is_value && is_decimal_comma(json, end)) end = end_of_word(json, end + 1);
    const std::string_view word = json.substr(at, end - at);
    if (is_word && is_wrong_number(word))
      quoted += fmt::format("\"{}\"", word);
    else
      quoted += word;
    is_value = json[at] == ':' || (is_value && std::isspace(static_cast<unsigned char>(json[at])) != 0);
  }
  return quoted;
}

bool is_wrong_number(std::string_view text) {
  if (text.starts_with('-') || text.starts_with('+')) text.remove_prefix(1);
  std::string lower(text);
  std::transform(lower.begin(), lower.end(), lower.begin(), [](unsigned char c) { return std::tolower(c); });
  if (lower == "nan" || lower == "inf" || lower == "infinity") return true;
  const std::size_t comma = text.find_first_not_of(digits);
  return comma != 0 && comma != text.npos && is_decimal_comma(text, comma) &&
         text.find_first_not_of("0123456789,.eE+-", comma) == text.npos;
}

std::string not_a_number(std::string_view text) {
  return fmt::format("'{}' is not a number{}", text,
                     text.find(',') == text.npos ? "" : ": measure with LC_ALL=C, which has no decimal commas");
}

void mark_absent(Measure& measure, std::string reason) {
  measure.trust = Trust::absent;
  measure.reason = std::move(reason);
  measure.value.reset();
  measure.runs.clear();
  measure.interval.reset();
}

}  // namespace tally::report
