#include "programs/verify_output/verify_format.hpp"
#include "tally/core/base/json_text.hpp"
#include "tally/output/kit/json_values.hpp"

namespace tally::output {
namespace {

Json compared_json(const result::ComparedEvent& event) {
  return {{"event", event.event},
          {"exact", value_or_null(event.exact)},
          {"spread", event.spread},
          {"other", value_or_null(event.other)},
          {"by_faults", event.by_faults},
          {"by_interrupts", event.by_interrupts},
          {"left", value_or_null(event.left)},
          {"allowed", event.allowed},
          {"verdict", name(event.verdict)},
          {"why", text_or_null(event.why)}};
}

Json check_json(const result::Check& check) {
  return {{"goal", check.goal},
          {"what", check.what},
          {"event", text_or_null(check.event)},
          {"program", text_or_null(check.program)},
          {"expected", value_or_null(check.expected)},
          {"measured", value_or_null(check.measured)},
          {"tolerance", text_or_null(check.tolerance)},
          {"tolerance_reason", text_or_null(check.reason)},
          {"verdict", name(check.verdict)},
          {"why", text_or_null(check.why)},
          {"runs", check.runs},
          {"off", check.off}};
}

Json event_json(const result::GradedEvent& event) {
  return {{"event", event.event.text()},
          {"grade", name(event.grade)},
          {"why", text_or_null(event.why)},
          {"source", text_or_null(event.source)},
          {"each", value_or_null(event.each)},
          {"furthest", value_or_null(event.furthest)},
          {"spread_percent", value_or_null(event.spread_percent)},
          {"runs", event.runs},
          {"instead", text_or_null(event.instead)},
          {"published", text_or_null(event.published)}};
}

}  // namespace

std::string verify_json(const result::Verify& verify) {
  Json json = document("tally-verify/2", verify.environment.provenance);
  json["verdict"] = name(verdict(verify));
  json["answer"] = verify_answer(verify);
  json["backend"] = verify.backend;
  if (!verify.command.empty()) {
    json["command"] = verify.command;
    json["other"] = verify.other;
    json["compared"] = Json::array();
    for (const result::ComparedEvent& event : verify.compared) json["compared"].push_back(compared_json(event));
  }
  json["noise"] = text_or_null(verify.noise);
  json["quick"] = verify.quick;
  json["incomplete"] = verify.incomplete;
  json["environment"] = environment_json(verify.environment);
  json["duration_ns"] = verify.duration.count();
  json["runs"] = verify.runs;
  json["events"] = Json::array();
  for (const result::GradedEvent& graded_event : verify.events) json["events"].push_back(event_json(graded_event));
  json["checks"] = Json::array();
  for (const result::Check& check : verify.checks) json["checks"].push_back(check_json(check));
  json["notices"] = verify.notices;
  return json_text(json, 2) + "\n";
}

}  // namespace tally::output
