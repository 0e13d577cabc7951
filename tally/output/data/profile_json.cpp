#include <fmt/format.h>

#include <map>

#include "tally/core/base/json_text.hpp"
#include "tally/output/analysis/function_digests.hpp"
#include "tally/output/analysis/profile_samples.hpp"
#include "tally/output/analysis/profile_sums.hpp"
#include "tally/output/analysis/roofline.hpp"
#include "tally/output/kinds/profile_forms.hpp"
#include "tally/output/kit/json_values.hpp"

namespace tally::output {
namespace {

/// The functions with counts in descending order, then those that only occur in calls.
std::vector<ProfileSum> functions_of(const result::Profile& profile) {
  std::vector<ProfileSum> sums = sums_of(profile, ProfileBy::function);
  std::vector<bool> seen(profile.functions.size());
  for (const ProfileSum& sum : sums) seen[sum.function] = true;
  const auto add = [&](std::uint32_t function) {
    if (seen[function]) return;
    seen[function] = true;
    sums.push_back({function, 0, 0, 0, std::vector<std::int64_t>(profile.event_count())});
  };
  for (const result::ProfileCall& call : profile.calls) {
    add(call.caller);
    add(call.callee);
  }
  return sums;
}

/// The number of calls, which samples do not contain.
Json calls_json(const result::Profile& profile, std::int64_t calls) {
  return profile.is_sampled() ? Json(nullptr) : Json(calls);
}

/// Calls by stack. A row is a list, because there may be a hundred thousand.
Json stacks_json(const result::Profile& profile, const std::map<std::uint32_t, std::size_t>& indices) {
  Json json;
  json["columns"] = {"parent", "caller", "callee", "recursive", "calls", "self", "inclusive"};
  json["rows"] = Json::array();
  const std::size_t events = profile.event_count();
  std::vector<std::int64_t> inclusive, self;
  const std::vector<result::ProfileCall> calls = calls_of_all_threads(profile, inclusive, self);
  for (std::size_t i = 0; i < calls.size(); ++i) {
    const auto of_call = [&](const std::vector<std::int64_t>& counts) {
      return std::vector(counts.begin() + static_cast<std::ptrdiff_t>(i * events),
                         counts.begin() + static_cast<std::ptrdiff_t>((i + 1) * events));
    };
    const result::ProfileCall& call = calls[i];
    json["rows"].push_back({call.parent == result::CodeCall::no_parent ? Json(nullptr) : Json(call.parent),
                            indices.at(call.caller), indices.at(call.callee), call.recursive,
                            calls_json(profile, call.calls), of_call(self), of_call(inclusive)});
  }
  return json;
}

Json sampling_json(const result::EventSampling& how) {
  return {{"every", how.every == 0 ? Json(nullptr) : Json(how.every)},
          {"frequency", how.every == 0 ? Json(how.frequency) : Json(nullptr)},
          {"precise", how.precise},
          {"by_hardware", how.by_hardware},
          {"user_only", how.user_only},
          {"samples", how.samples},
          {"lost", how.lost},
          {"throttled", how.throttled},
          {"counted", how.counted},
          {"effective_samples", how.effective}};
}

/// For each event, the confidence interval of these counts' share of the total.
Json intervals_json(const result::Profile& profile, const std::vector<std::int64_t>& counts) {
  Json json = Json::array();
  for (std::size_t e = 0; e < counts.size(); ++e) {
    const ShareInterval share = share_of_samples(profile, e, counts[e]);
    json.push_back({share.low, share.high});
  }
  return json;
}

}  // namespace

std::string profile_json(const result::Profile& profile, const ProfileStyle& style) {
  Json json = document("tally-profile/2", profile.stat.environment.provenance);
  json["command"] = profile.stat.command;
  json["exit_code"] = value_or_null(profile.stat.exit_code);
  json["signal"] = value_or_null(profile.stat.signal);
  json["incomplete"] = profile.stat.incomplete;
  json["backend"] = profile.stat.backend;
  add_models(json, profile.stat);
  add_unasked(json, profile.stat);
  add_roofline(json, profile.stat.roofline, add_verdict);
  if (!profile.stat.runs.empty()) add_sources(json, profile.stat.runs.front().nondeterminism);
  add_mix(json, profile.stat.mix);
  json["environment"] = environment_json(profile.stat.environment);
  json["inlines"] = profile.inlines_apart;
  if (profile.runs > 1) json["runs"] = profile.runs;
  json["events"] = Json::array();
  for (std::size_t e = 0; e < profile.event_count(); ++e) {
    const result::EventCount& event = profile.stat.events[e].total;
    Json one;
    one["name"] = event.name.text();
    one["value"] = event.count.value ? Json(*event.count.value) : Json(nullptr);
    one["trust"] = name(event.count.trust);
    one["reason"] = event.count.reason.empty() ? Json(nullptr) : Json(event.count.reason);
    one["model"] = event.count.model.empty() ? Json(nullptr) : Json(event.count.model);
    if (event.count.trust == Trust::estimated) one["error_percent"] = value_or_null(event.count.error_percent);
    one["string_elements"] = profile.repeated[e];
    one["not_placed"] = profile.unplaced[e];
    if (profile.is_sampled()) one["sampling"] = sampling_json(profile.sampling[e]);
    json["events"].push_back(std::move(one));
  }
  json["objects"] = Json::array();
  for (const result::ProfileObject& object : profile.objects)
    json["objects"].push_back(
        {{"name", object.name},
         {"build_id", object.build_id.empty() ? Json(nullptr) : Json(object.build_id)},
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

  // Sums over threads; --by thread separates them.
  const std::vector<LineCounts> lines = lines_of_functions(profile);
  const std::vector<LineCounts> samples =
      profile.is_sampled() ? lines_of_functions(in_samples(profile)) : std::vector<LineCounts>{};
  const std::vector<FunctionDigests> digests = digests_of(profile, style.source);
  json["functions"] = Json::array();
  std::map<std::uint32_t, std::size_t> indices;  // of each function: index in this list
  for (const ProfileSum& sum : functions_of(profile)) {
    indices.emplace(sum.function, indices.size());
    const result::ProfileFunction& f = profile.functions[sum.function];
    Json one;
    one["name"] = f.name;
    one["object"] = f.object;
    one["address"] = f.address;
    if (f.clone_of != 0) one["clone_of"] = f.clone_of;
    one["entered"] = profile.is_sampled() ? Json(nullptr) : Json(f.entered);
    one["source"] = f.source;
    one["line"] = f.line;
    if (digests[sum.function].source != 0) {
      one["source_digest"] = fmt::format("{:016x}", digests[sum.function].source);
      one["code_digest"] = fmt::format("{:016x}", digests[sum.function].code);
    }
    one["counts"] = sum.counts;
    if (!f.least.empty()) one["least"] = f.least;
    if (!f.least.empty()) one["most"] = f.most;
    if (!profile.forms.empty()) add_mix(one, result::mix_of(sum.executions, profile.forms));
    if (profile.is_sampled()) {
      one["samples"] = sum.samples.empty() ? std::vector<std::int64_t>(profile.event_count()) : sum.samples;
      one["share_intervals"] = intervals_json(profile, sum.counts);
    }
    one["lines"] = Json::array();
    for (const auto& [at, counts] : lines[sum.function])
      if (at.second != 0) {
        one["lines"].push_back({{"source", at.first}, {"line", at.second}, {"counts", counts}});
        if (profile.is_sampled()) one["lines"].back()["samples"] = samples[sum.function].at(at);
      }
    json["functions"].push_back(std::move(one));
  }
  // For all threads and stacks together, by caller and callee.
  json["calls"] = Json::array();
  for (const CallSum& sum : calls_between(profile))
    json["calls"].push_back({{"caller", indices.at(sum.caller)},
                             {"callee", indices.at(sum.callee)},
                             {"calls", calls_json(profile, sum.calls)},
                             {"inclusive", sum.inclusive}});
  json["stacks"] = stacks_json(profile, indices);
  json["python"] = Json::array();
  for (const result::PythonFunction& f : profile.python)
    json["python"].push_back({{"name", f.name},
                              {"file", f.file},
                              {"line", f.line},
                              {"calls", value_or_null(f.calls)},
                              {"counts", f.self},
                              {"inclusive", f.inclusive}});
  json["python_cut"] = profile.python_cut;
  if (profile.python_samples > 0) json["python_samples"] = profile.python_samples;
  json["calls_cut"] = profile.calls_cut;
  json["calls_too_deep"] = profile.calls_too_deep;
  return json_text(json, 1) + "\n";
}

}  // namespace tally::output
