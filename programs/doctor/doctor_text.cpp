#include "programs/doctor/doctor_text.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "tally/core/base/json_text.hpp"
#include "tally/core/base/text.hpp"
#include "tally/output/kit/grid.hpp"
#include "tally/output/kit/json_values.hpp"

namespace tally::doctor {

using namespace output;

namespace {

constexpr std::size_t usual_width = 80;  // columns of the narrowest common terminal

// A label, and a text after its column; in a narrow terminal, below the label.
std::string entry(const std::string& label, std::size_t column, const std::string& text, std::size_t width) {
  if (2 * column > width) return hanging("   ", label, width) + hanging("     ", text, width);
  return hanging(fmt::format("   {}{}  ", label, std::string(column - display_width(label), ' ')), text, width);
}

std::string steps(const Diagnosis& diagnosis, std::size_t width) {
  if (diagnosis.next.empty()) return {};
  std::string text = "\n What to do\n";
  int number = 0;
  for (const Step& step : diagnosis.next) {
    text += hanging(fmt::format("   {}. ", ++number), step.text, width);
    for (const std::string& command : step.commands)
      text += command.empty() ? "\n" : fmt::format("        {}\n", command);
  }
  return text;
}

// The trust, its source and the reason.
std::string countable_text(const CountableEvents& row) {
  std::string text(name(row.trust));
  if (!row.source.empty()) text += " (" + row.source + ")";
  if (!row.reason.empty()) text += ": " + row.reason;
  return text;
}

std::string countable(const Diagnosis& diagnosis, std::size_t width) {
  std::size_t column = 0;
  for (const CountableEvents& row : diagnosis.countable) column = std::max(column, display_width(row.what));
  std::string text = "\n What tally counts here\n";
  for (const CountableEvents& row : diagnosis.countable) text += entry(row.what, column, countable_text(row), width);
  return text;
}

std::string evidence(const Diagnosis& diagnosis, std::size_t width) {
  std::string text = "\n Why\n";
  for (const std::string& line : diagnosis.evidence) text += hanging("   - ", printable(line), width);
  return text;
}

// "user_mode_reads" → "User mode reads". Only headings change: the names of facts are those of files and of the JSON.
std::string heading(std::string name) {
  std::replace(name.begin(), name.end(), '_', ' ');
  if (!name.empty() && name[0] >= 'a' && name[0] <= 'z') name[0] = static_cast<char>(name[0] - 'a' + 'A');
  return name;
}

std::string facts(const FactGroup& group, std::size_t width) {
  std::size_t column = 0;
  for (const Fact& fact : group.facts) column = std::max(column, display_width(fact.name));
  std::string text = fmt::format("\n {}\n", heading(group.name));
  for (const Fact& fact : group.facts) text += entry(fact.name, column, fact.text, width);
  return text;
}

Json value_json(const Fact& fact) {
  return std::visit(
      [](const auto& value) {
        if constexpr (std::is_same_v<std::decay_t<decltype(value)>, std::monostate>) {
          return Json(nullptr);
        } else {
          return Json(value);
        }
      },
      fact.value);
}

Json countable_json(const CountableEvents& row) {
  return {{"what", row.what},
          {"trust", name(row.trust)},
          {"source", text_or_null(row.source)},
          {"reason", text_or_null(row.reason)}};
}

}  // namespace

std::string doctor_text(const Diagnosis& diagnosis, std::size_t terminal) {
  const std::size_t width = prose_width(usual_width, terminal);
  std::string text = "\n";
  text += hanging(
      " ", diagnosis.hardware ? "Hardware events can be counted here." : "Hardware events cannot be counted here.",
      width);
  text += hanging(" ", diagnosis.verdict, width);
  text += steps(diagnosis, width) + countable(diagnosis, width) + evidence(diagnosis, width);
  for (const FactGroup& group : diagnosis.facts) text += facts(group, width);
  return text + "\n";
}

std::string doctor_json(const Diagnosis& diagnosis) {
  Json json = document("tally-doctor/2", diagnosis.provenance);
  json["hardware"] = diagnosis.hardware;
  json["cause"] = diagnosis.cause;
  json["verdict"] = diagnosis.verdict;
  json["evidence"] = diagnosis.evidence;
  json["next"] = Json::array();
  for (const Step& step : diagnosis.next) {
    json["next"].push_back({{"text", step.text}, {"commands", step.commands}});
  }
  json["countable"] = Json::array();
  for (const CountableEvents& row : diagnosis.countable) json["countable"].push_back(countable_json(row));
  for (const FactGroup& group : diagnosis.facts) {
    Json& object = json[group.name] = Json::object();
    for (const Fact& fact : group.facts) object[fact.name] = value_json(fact);
  }
  // Firmware strings may contain invalid UTF-8, which JSON must not contain.
  return json_text(json, 2) + "\n";
}

}  // namespace tally::doctor
