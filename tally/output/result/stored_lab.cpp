#include <fmt/format.h>

#include "tally/core/base/json_text.hpp"
#include "tally/core/base/text.hpp"
#include "tally/output/result/json_reading.hpp"
#include "tally/output/result/lab_run.hpp"

namespace tally::result {
namespace {

constexpr int lab_version = 1;

std::vector<LabRemark> remarks_of(const Json& json) {
  std::vector<LabRemark> all;
  const auto found = json.find("remarks");
  if (found == json.end()) return all;
  for (const Json& one : *found) all.push_back({text(one, "severity"), text(one, "text")});
  return all;
}

LabEntry entry_of(const Json& json) {
  LabEntry one;
  one.kind = text(json, "kind");
  one.place = text(json, "place");
  one.address = text(json, "address");
  one.instruction = number<std::uint64_t>(json.at("instruction"));
  one.what = text(json, json.contains("register") ? "register" : json.contains("counter") ? "counter" : "text");
  one.value = text(json, "value");
  if (json.contains("count")) one.value = thousands(number<std::int64_t>(json.at("count")));
  one.meaning = text(json, "meaning");
  one.fault = text(json, "fault");
  if (json.contains("vector") && one.what.empty()) one.what = fmt::format("{:X}H", number<int>(json.at("vector")));
  one.remarks = remarks_of(json);
  return one;
}

LabRun run_of(const Json& json) {
  LabRun run;
  run.file = text(json, "file");
  run.model = text(json, "model");
  const Json& end = json.at("end");
  run.end = fmt::format("{}, at {}", text(end, "text"), text(end, "place"));
  run.hint = text(end, "hint");
  const std::string reason = text(end, "reason");
  run.is_error = reason == "limit" || reason == "fault" || reason == "hole";
  run.instructions = number<std::uint64_t>(json.at("instructions"));
  for (const auto& [name, value] : json.at("counters").items()) {
    run.counters.emplace_back(name, number<std::uint64_t>(value));
  }
  run.remarks = remarks_of(json);
  for (const Json& one : json.at("entries")) run.entries.push_back(entry_of(one));
  for (const Json& one : json.at("listing")) {
    run.listing.push_back({text(one, "address"), number<int>(one.at("line")), text(one, "text"),
                           one.contains("included") && one.at("included").get<bool>()});
  }
  const Json drawn = {
      {"instructions", run.instructions}, {"timeline", json.at("timeline")}, {"registers", json.at("registers")}};
  run.drawn = json_text(drawn);
  return run;
}

}  // namespace

bool is_lab(std::string_view text) { return text.substr(0, 200).find("\"tally_lab\"") != std::string_view::npos; }

Result<LabRun> read_lab(std::string_view text, const std::string& file) {
  try {
    const Json json = parse_json<Json>(text);
    if (number<int>(json.at("tally_lab")) != lab_version) {
      return fail(Code::bad_usage, fmt::format("'{}' was written by a later version of tally lab", printable(file)));
    }
    return run_of(json);
  } catch (const Json::exception& exception) {
    return fail(Code::bad_usage,
                fmt::format("'{}' is not a result of `tally lab --json`: {}", printable(file),
                            parse_error_text(text, exception.what())),
                "`tally lab --json` writes one");
  }
}

}  // namespace tally::result
