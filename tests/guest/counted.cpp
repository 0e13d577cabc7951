#include "tests/guest/counted.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "tally/linux/process/program_file.hpp"

namespace tally::hardware_test {
namespace {

void append(test::Words& words, const test::Words& more) { words.insert(words.end(), more.begin(), more.end()); }

}  // namespace

std::int64_t Counted::value(const std::string& name) const {
  const auto row = rows.find(name);
  if (row == rows.end() || !row->second.value) {
    ADD_FAILURE() << "no count of " << name << (row == rows.end() ? "" : ": " + row->second.reason) << "\n" << messages;
    return -1;
  }
  return *row->second.value;
}

Counted counted(const test::Words& options, const test::Words& command) {
  const test::TemporaryFile file("result.json");
  test::Words words{"stat", "--format", "json", "-o", file.path()};
  append(words, options);
  if (!command.empty()) words.emplace_back("--");
  append(words, command);
  const test::Finished finished = test::tally(words);
  Counted result;
  result.code = finished.code();
  result.messages = finished.err;
  const auto json = nlohmann::json::parse(file.content().value_or(""), nullptr, false);
  if (json.is_discarded()) {
    ADD_FAILURE() << "no JSON; " << finished.err;
    return result;
  }
  result.backend = json["backend"];
  const auto row_of = [](const nlohmann::json& event) {
    Row row;
    if (event["value"].is_number()) row.value = event["value"].get<std::int64_t>();
    row.trust = event["trust"];
    if (event["error_percent"].is_number()) row.error_percent = event["error_percent"].get<double>();
    if (event["reason"].is_string()) row.reason = event["reason"];
    if (event["class"].is_string()) row.repeats = event["class"];
    if (event.contains("corrected")) {
      row.corrected = event["corrected"].get<std::int64_t>();
      row.page_faults = event["page_faults"].get<std::int64_t>();
    }
    return row;
  };
  for (const auto& event : json["events"]) result.rows[event["name"]] = row_of(event);
  for (const auto& part : json.value("parts", nlohmann::json::array())) {
    for (const auto& event : part["events"]) result.parts[part["part"]][event["name"]] = row_of(event);
  }
  for (const auto& [key, list] : {std::pair{"processes", &result.processes}, std::pair{"threads", &result.threads}}) {
    for (const auto& row : json.value(key, nlohmann::json::array())) {
      list->emplace_back();
      for (const auto& event : row["events"]) list->back()[event["name"]] = row_of(event);
    }
  }
  return result;
}

std::map<std::string, std::int64_t> counted_by_perf(const std::string& events, const test::Words& options,
                                                    const test::Words& command) {
  const auto perf = linux::find_program("perf", linux::search_path());
  if (!perf) return {};
  const test::TemporaryFile file("perf.csv");
  test::Words words{*perf, "stat", "-x", ";", "-e", events, "-o", file.path()};
  append(words, options);
  append(words, command);
  test::Running(words).finish();
  std::map<std::string, std::int64_t> rows;
  std::istringstream lines(file.content().value_or(""));
  for (std::string line; std::getline(lines, line);) {
    std::istringstream fields(line);
    std::string value, unit, name;
    std::getline(fields, value, ';');
    std::getline(fields, unit, ';');
    std::getline(fields, name, ';');
    if (!name.empty() && value.find_first_not_of("0123456789") == std::string::npos) rows[name] = std::stoll(value);
  }
  return rows;
}

}  // namespace tally::hardware_test
