#include "tally/tools/comparison/gates_file.hpp"

#include <fmt/format.h>

#include <toml++/toml.h>

#include <algorithm>
#include <array>

#include "tally/core/base/text.hpp"
#include "tally/output/analysis/gates.hpp"

namespace tally::comparison {
namespace {

constexpr const char* gates_example = "for example: [fail-above] and below it: instructions = \"1%\"";

class GatesFile {
 public:
  explicit GatesFile(const std::string& name) : name_(printable(name)) {}

  Result<std::vector<output::Gate>> parse(std::string_view text) {
    try {
      const toml::table document = toml::parse(text, name_);
      for (const auto& [key, value] : document) keep(add_table(key, value));
    } catch (const toml::parse_error& error) {
      return fail(wrong(error.source(), printable(std::string(error.description())), gates_example));
    }
    if (!errors_.empty()) return fail(output::joined_errors(errors_));
    // A table has its keys in the order of the alphabet; people read them in the order of the file.
    std::stable_sort(lines_.begin(), lines_.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    std::vector<output::Gate> gates;
    for (auto& [line, gate] : lines_) gates.push_back(std::move(gate));
    if (gates.empty()) return fail(Code::bad_usage, fmt::format("{}: the file has no gate", name_), gates_example);
    return gates;
  }

 private:
  std::string position(const toml::source_region& where) const {
    return fmt::format("{}:{}", name_, static_cast<unsigned>(where.begin.line));
  }

  Error wrong(const toml::source_region& where, const std::string& what, std::string hint) const {
    return {Code::bad_usage, fmt::format("{}: {}", position(where), what), std::move(hint), 0};
  }

  Result<void> add_table(const toml::key& key, const toml::node& value) {
    const bool is_hard = key == "fail-above";
    if (!is_hard && key != "warn-above")
      return fail(wrong(key.source(), fmt::format("unknown key '{}'", printable(std::string(key.str()))),
                        "the tables are [fail-above] and [warn-above]"));
    const toml::table* const table = value.as_table();
    if (table == nullptr)
      return fail(wrong(key.source(), fmt::format("'{}' is not a table", std::string(key.str())), gates_example));
    for (const auto& [name, limit] : *table) keep(add_gate(name, limit, is_hard));
    return {};
  }

  Result<void> add_gate(const toml::key& key, const toml::node& value, bool is_hard) {
    std::string limit;
    if (const auto* const text = value.as_string())
      limit = text->get();
    else if (const auto* const whole = value.as_integer())
      limit = fmt::format("{}", whole->get());
    else
      return fail(wrong(
          key.source(),
          fmt::format("the limit of '{}' is neither a text nor a whole number", printable(std::string(key.str()))),
          "for example: instructions = \"1%\", page-faults = 100, \"branch-misses@parse\" = \"5%\""));
    auto gate = output::parse_gate(fmt::format("{}={}", key.str(), limit), is_hard);
    if (!gate) return fail(wrong(key.source(), gate.error().message, gate.error().hint));
    gate->origin = position(key.source());
    lines_.emplace_back(key.source().begin.line, *std::move(gate));
    return {};
  }

  /// People want to see all errors at once.
  void keep(const Result<void>& added) {
    if (!added) errors_.push_back(added.error());
  }

  std::string name_;
  std::vector<Error> errors_;
  std::vector<std::pair<toml::source_index, output::Gate>> lines_;
};

}  // namespace

Result<std::vector<output::Gate>> parse_gates_file(std::string_view text, const std::string& name) {
  return GatesFile(name).parse(text);
}

}  // namespace tally::comparison
