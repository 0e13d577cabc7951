// Coverage in the formats of lcov (geninfo(1), "FILES") and Cobertura (coverage-04.dtd).
#include <fmt/format.h>

#include <string_view>

#include "tally/core/base/text.hpp"
#include "tally/output/analysis/coverage.hpp"
#include "tally/output/kinds/profile_forms.hpp"
#include "tally/output/kit/element.hpp"

namespace tally::output {
namespace {

std::string xml_text(std::string_view text) { return escaped(printable(text)); }

/// The share of what was executed; 1 of nothing, as in other writers of this format.
std::string rate(std::size_t executed, std::size_t all) {
  return fmt::format("{:.4f}", all == 0 ? 1.0 : static_cast<double>(executed) / static_cast<double>(all));
}

std::string cobertura_line(std::uint32_t line, std::int64_t count, const CoveredFile& file) {
  const auto branches = file.branches.find(line);
  if (branches == file.branches.end())
    return fmt::format("            <line number=\"{}\" hits=\"{}\" branch=\"false\"/>\n", line, count);
  std::size_t seen = 0;
  for (const std::int64_t outcome : branches->second) seen += outcome > 0;
  const std::size_t all = branches->second.size();
  return fmt::format(
      "            <line number=\"{}\" hits=\"{}\" branch=\"true\" condition-coverage=\"{}% ({}/{})\"/>\n", line, count,
      100 * seen / all, seen, all);
}

std::string cobertura_class(const std::string& path, const CoveredFile& file) {
  const std::string rates =
      fmt::format("line-rate=\"{}\" branch-rate=\"{}\" complexity=\"0\"",
                  rate(file.executed_lines(), file.lines.size()), rate(file.seen_outcomes(), file.outcomes()));
  std::string text = fmt::format("        <class name=\"{}\" filename=\"{}\" {}>\n          <methods>\n",
                                 xml_text(path.substr(path.rfind('/') + 1)), xml_text(path), rates);
  for (const CoveredFunction& function : file.functions)
    text += fmt::format(
        "            <method name=\"{}\" signature=\"\" line-rate=\"{}\" branch-rate=\"1\" "
        "complexity=\"0\"><lines><line "
        "number=\"{}\" hits=\"{}\"/></lines></method>\n",
        xml_text(function.name), function.calls > 0 ? 1 : 0, function.line, function.calls);
  text += "          </methods>\n          <lines>\n";
  for (const auto& [line, count] : file.lines) text += cobertura_line(line, count, file);
  return text + "          </lines>\n        </class>\n";
}

}  // namespace

std::string profile_lcov(const result::Profile& profile, const ProfileStyle& style) {
  std::string text;
  for (const auto& [path, file] : coverage_of(profile, style.coverage)) {
    text += fmt::format("TN:\nSF:{}\n", printable(path));
    std::size_t called = 0, number = 0;
    // lcov 1 reads names up to a comma, so those of parameters would make overloads equal.
    for (const CoveredFunction& function : file.functions)
      text += fmt::format("FN:{},{}\n", function.line, printable(function.linker_name));
    for (const CoveredFunction& function : file.functions) {
      text += fmt::format("FNDA:{},{}\n", function.calls, printable(function.linker_name));
      called += function.calls > 0;
    }
    text += fmt::format("FNF:{}\nFNH:{}\n", file.functions.size(), called);
    for (const auto& [line, counts] : file.branches) {
      for (std::size_t i = 0; i < counts.size(); ++i)
        text += fmt::format("BRDA:{},{},{},{}\n", line, number + i / 2, i % 2, counts[i]);
      number += counts.size() / 2;
    }
    text += fmt::format("BRF:{}\nBRH:{}\n", file.outcomes(), file.seen_outcomes());
    for (const auto& [line, count] : file.lines) text += fmt::format("DA:{},{}\n", line, count);
    text += fmt::format("LF:{}\nLH:{}\nend_of_record\n", file.lines.size(), file.executed_lines());
  }
  return text;
}

std::string profile_cobertura(const result::Profile& profile, const ProfileStyle& style) {
  std::size_t lines = 0, executed = 0, outcomes = 0, seen = 0;
  std::string classes;
  for (const auto& [path, file] : coverage_of(profile, style.coverage)) {
    lines += file.lines.size();
    executed += file.executed_lines();
    outcomes += file.outcomes();
    seen += file.seen_outcomes();
    classes += cobertura_class(path, file);
  }
  const std::string rates =
      fmt::format("line-rate=\"{}\" branch-rate=\"{}\"", rate(executed, lines), rate(seen, outcomes));
  return fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<!DOCTYPE coverage SYSTEM "
      "\"http://cobertura.sourceforge.net/xml/coverage-04.dtd\">\n<coverage {} lines-covered=\"{}\" "
      "lines-valid=\"{}\" branches-covered=\"{}\" branches-valid=\"{}\" complexity=\"0\" version=\"tally\" "
      "timestamp=\"{}\">\n  <sources>\n    <source>.</source>\n  </sources>\n  <packages>\n    <package name=\"\" {} "
      "complexity=\"0\">\n      <classes>\n{}      </classes>\n    </package>\n  </packages>\n</coverage>\n",
      rates, executed, lines, seen, outcomes, 0, rates, classes);
}

}  // namespace tally::output
