#include <fmt/format.h>

#include "tally/core/base/text.hpp"
#include "tally/output/result/json_reading.hpp"
#include "tally/output/result/stored.hpp"
#include "tally/output/result/verify_result.hpp"

namespace tally::result {
namespace {

constexpr const char* verify_schema = "tally-verify/2";

GradedEvent graded_event(const Json& json) {
  GradedEvent one;
  one.event = split_event_name(text(json, "event"));
  one.grade = event_grade_of(text(json, "grade")).value_or(EventGrade::absent);
  one.why = text(json, "why");
  one.source = text(json, "source");
  one.each = optional<std::int64_t>(json, "each");
  one.furthest = optional<std::int64_t>(json, "furthest");
  one.spread_percent = optional<double>(json, "spread_percent");
  one.runs = number<int>(json.at("runs"));
  one.instead = text(json, "instead");
  one.published = text(json, "published");
  return one;
}

Check check(const Json& json) {
  Check one;
  one.goal = text(json, "goal");
  one.what = text(json, "what");
  one.event = text(json, "event");
  one.program = text(json, "program");
  one.expected = optional<std::int64_t>(json, "expected");
  one.measured = optional<std::int64_t>(json, "measured");
  one.tolerance = text(json, "tolerance");
  one.reason = text(json, "tolerance_reason");
  one.verdict = verdict_of(text(json, "verdict")).value_or(Verdict::inconclusive);
  one.why = text(json, "why");
  one.runs = number<int>(json.at("runs"));
  one.off = number<int>(json.at("off"));
  return one;
}

ComparedEvent compared(const Json& json) {
  ComparedEvent one;
  one.event = text(json, "event");
  one.exact = optional<std::int64_t>(json, "exact");
  one.spread = number<std::int64_t>(json.at("spread"));
  one.other = optional<std::int64_t>(json, "other");
  one.by_faults = number<std::int64_t>(json.at("by_faults"));
  one.by_interrupts = number<std::int64_t>(json.at("by_interrupts"));
  one.left = optional<std::int64_t>(json, "left");
  one.allowed = number<std::int64_t>(json.at("allowed"));
  one.verdict = verdict_of(text(json, "verdict")).value_or(Verdict::inconclusive);
  one.why = text(json, "why");
  return one;
}

Verify verify_of(const Json& json) {
  Verify verify;
  verify.backend = text(json, "backend");
  verify.noise = text(json, "noise");
  verify.quick = json.at("quick").get<bool>();
  verify.incomplete = json.at("incomplete").get<bool>();
  verify.environment = read_environment(json);
  verify.duration = Nanoseconds(number<std::int64_t>(json.at("duration_ns")));
  verify.runs = number<int>(json.at("runs"));
  for (const Json& one : json.at("events")) verify.events.push_back(graded_event(one));
  if (json.contains("command")) {
    verify.command = json.at("command").get<std::vector<std::string>>();
    verify.other = text(json, "other");
    for (const Json& one : json.at("compared")) verify.compared.push_back(compared(one));
  }
  for (const Json& one : json.at("checks")) verify.checks.push_back(check(one));
  verify.notices = json.at("notices").get<std::vector<std::string>>();
  return verify;
}

}  // namespace

bool is_verify(std::string_view text) { return text.find("\"tally-verify/") != std::string_view::npos; }

Result<Verify> read_verify(std::string_view text, const std::string& name) {
  try {
    const Json json = parse_json<Json>(text);
    if (result::text(json, "schema") != verify_schema) {
      return fail(Code::bad_usage, fmt::format("'{}' does not have the schema {}", printable(name), verify_schema));
    }
    return verify_of(json);
  } catch (const Json::exception& exception) {
    return fail(Code::bad_usage,
                fmt::format("'{}' is not a result of `tally verify`: {}", printable(name),
                            parse_error_text(text, exception.what())),
                "`tally verify --json -o FILE` writes one");
  }
}

}  // namespace tally::result
