#include <map>

#include "tally/report/json_values.hpp"
#include "tally/report/profile_forms.hpp"
#include "tally/report/profile_sums.hpp"

namespace tally::report {

std::string profile_json(const result::Profile& profile, const ProfileStyle&) {
  Json json;
  json["schema"] = "tally-profile/1";
  json["command"] = profile.stat.command;
  json["exit_code"] = profile.stat.exit_code ? Json(*profile.stat.exit_code) : Json(nullptr);
  json["backend"] = profile.stat.backend;
  json["environment"] = environment_json(profile.stat.environment);
  json["events"] = Json::array();
  for (std::size_t e = 0; e < profile.event_count(); ++e) {
    const result::EventCount& event = profile.stat.events[e].total;
    Json one;
    one["name"] = event.name;
    one["value"] = event.count.value ? Json(*event.count.value) : Json(nullptr);
    one["trust"] = name(event.count.trust);
    one["reason"] = event.count.reason.empty() ? Json(nullptr) : Json(event.count.reason);
    one["string_elements"] = profile.repeated[e];
    one["not_placed"] = profile.unplaced[e];
    json["events"].push_back(std::move(one));
  }
  json["objects"] = Json::array();
  for (const result::ProfileObject& object : profile.objects)
    json["objects"].push_back(
        {{"name", object.name},
         {"why_nameless", object.why_nameless.empty() ? Json(nullptr) : Json(object.why_nameless)}});
  json["sources"] = profile.sources;
  json["threads"] = Json::array();
  for (const ProfileSum& sum : sums_of(profile, ProfileBy::thread)) {
    const result::CodeOwner& owner = profile.owners[sum.owner];
    json["threads"].push_back({{"pid", owner.pid},
                               {"command", owner.command},
                               {"tid", owner.tid == 0 ? Json(nullptr) : Json(owner.tid)},
                               {"name", owner.thread},
                               {"counts", sum.counts}});
  }

  // Threads are added up here; who wants them apart takes --by thread.
  const std::vector<LineCounts> lines = lines_of_functions(profile);
  json["functions"] = Json::array();
  std::map<std::uint32_t, std::size_t> places;  // of each function in this list
  for (const ProfileSum& sum : sums_of(profile, ProfileBy::function)) {
    places.emplace(sum.function, places.size());
    const result::ProfileFunction& f = profile.functions[sum.function];
    Json one;
    one["name"] = f.name;
    one["object"] = f.object;
    one["address"] = f.address;
    one["entered"] = f.entered;
    one["source"] = f.source;
    one["line"] = f.line;
    one["counts"] = sum.counts;
    one["lines"] = Json::array();
    for (const auto& [at, counts] : lines[sum.function])
      if (at.second != 0) one["lines"].push_back({{"source", at.first}, {"line", at.second}, {"counts", counts}});
    json["functions"].push_back(std::move(one));
  }
  // Of all threads and stacks, by who called whom.
  json["calls"] = Json::array();
  const auto place = [&](std::uint32_t function) {
    const auto found = places.find(function);
    return found == places.end() ? Json(nullptr) : Json(found->second);
  };
  for (const CallSum& sum : calls_between(profile))
    json["calls"].push_back({{"caller", place(sum.caller)},
                             {"callee", place(sum.callee)},
                             {"calls", sum.calls},
                             {"inclusive", sum.inclusive}});
  json["calls_cut"] = profile.calls_cut;
  return json.dump(1) + "\n";
}

}  // namespace tally::report
