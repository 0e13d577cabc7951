#include "tally/output/data/other_tools.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <set>
#include <utility>

#include "tally/core/base/text.hpp"

namespace tally::output {
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

/// Gives the measures of a single benchmark the name that they have in a list of several.
void name_benchmark(Comparable& single) {
  const std::string name = join(single.command, " ");
  for (Measure& measure : single.measures) measure.subject = name;
  single.command.clear();
}

/// How many measures of a benchmark and quantity the results have.
using MeasureCounts = std::map<std::pair<std::string, std::string>, std::array<std::size_t, 2>>;

/// Names measures that occur several times by position; leaves one of them, as absent, if the other result has another
/// number. Returns the names of the benchmarks that were numbered.
std::set<std::string> number_repeated(Comparable& side, std::size_t which, const MeasureCounts& counts) {
  std::set<std::string> numbered;
  MeasureCounts seen;
  std::erase_if(side.measures, [&](Measure& measure) {
    const std::pair key{measure.subject, measure.name};
    const auto& count = counts.at(key);
    if (count[which] < 2) return false;
    const std::size_t position = ++seen[key][which];
    if (count[0] != count[1]) {
      mark_absent(measure, "several results have this name");
      return position > 1;
    }
    numbered.insert(measure.subject);
    measure.subject += fmt::format(" #{}", position);
    return false;
  });
  return numbered;
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

void pair_benchmarks(Comparable& before, Comparable& after) {
  if (!before.lists_benchmarks || !after.lists_benchmarks || before.target.empty() || before.target != after.target)
    return;
  if (before.command.empty() != after.command.empty()) name_benchmark(before.command.empty() ? after : before);
  MeasureCounts counts;
  for (const Measure& measure : before.measures) ++counts[{measure.subject, measure.name}][0];
  for (const Measure& measure : after.measures) ++counts[{measure.subject, measure.name}][1];
  number_repeated(before, 0, counts);
  for (const std::string& name : number_repeated(after, 1, counts))
    after.note += fmt::format("{}both results have '{}' several times: compared by position",
                              after.note.empty() ? "" : "; ", printable(name));
}

void mark_absent(Measure& measure, std::string reason) {
  measure.trust = Trust::absent;
  measure.reason = std::move(reason);
  measure.value.reset();
  measure.runs.clear();
  measure.interval.reset();
}

}  // namespace tally::output
