// Executions by address, which `tally report --merge` adds up and resolves again: result::read_code() reads it.
#include <map>
#include <utility>
#include <vector>

#include "tally/core/base/json_text.hpp"
#include "tally/output/kinds/profile_forms.hpp"
#include "tally/output/kit/json_values.hpp"

namespace tally::output {
namespace {

Json files_json(const result::Profile& profile) {
  Json json = Json::array();
  for (const result::ProfileObject& object : profile.objects) {
    Json file{{"path", object.name}, {"has_addresses", object.why_nameless.empty()}};
    if (const auto& identity = object.identity)
      file["identity"] = {{"build_id", text_or_null(identity->build_id)},
                          {"device", identity->device},
                          {"inode", identity->inode},
                          {"bytes", identity->bytes},
                          {"modified_s", identity->modified_s},
                          {"modified_ns", identity->modified_ns}};
    json.push_back(std::move(file));
  }
  return json;
}

struct Instruction {
  std::int64_t executions = 0, taken = 0;
  std::vector<std::int64_t> counts;
};

}  // namespace

std::string profile_code(const result::Profile& profile, const ProfileStyle&) {
  Json json = document("tally-code/1", profile.stat.environment.provenance);
  json["command"] = profile.stat.command;
  json["exit_code"] = value_or_null(profile.stat.exit_code);
  json["signal"] = value_or_null(profile.stat.signal);
  json["incomplete"] = profile.stat.incomplete;
  json["backend"] = profile.stat.backend;
  add_models(json, profile.stat);
  json["environment"] = environment_json(profile.stat.environment);
  json["events"] = Json::array();
  for (std::size_t e = 0; e < profile.event_count(); ++e) {
    const result::EventCount& event = profile.stat.events[e].total;
    json["events"].push_back({{"name", event.name.text()},
                              {"value", value_or_null(event.count.value)},
                              {"trust", name(event.count.trust)},
                              {"reason", text_or_null(event.count.reason)},
                              {"model", text_or_null(event.count.model)},
                              {"string_elements", profile.repeated[e]},
                              {"not_placed", profile.unplaced[e]}});
  }
  json["files"] = files_json(profile);
  std::map<std::pair<std::uint32_t, std::uint64_t>, Instruction> instructions;
  for (std::size_t i = 0; i < profile.rows.size(); ++i) {
    const result::ProfileRow& row = profile.rows[i];
    Instruction& to = instructions[{profile.functions[row.function].object, row.address}];
    to.executions += row.executions;
    to.taken += row.taken;
    to.counts.resize(profile.event_count());
    for (std::size_t e = 0; e < profile.event_count(); ++e) to.counts[e] += profile.count(i, e);
  }
  json["rows"] = Json::array();
  for (const auto& [at, instruction] : instructions)
    json["rows"].push_back({at.first, at.second, instruction.executions, instruction.taken, instruction.counts});
  json["jumps"] = Json::array();
  for (const result::CodeJump& jump : profile.jumps)
    json["jumps"].push_back({jump.file, jump.site, jump.target, jump.executions});
  return json_text(json) + "\n";
}

}  // namespace tally::output
