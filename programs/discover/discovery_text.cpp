#include "programs/discover/discovery_format.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <map>
#include <set>

#include "tally/core/base/json_text.hpp"
#include "tally/core/base/text.hpp"
#include "tally/output/kit/grid.hpp"
#include "tally/output/kit/json_values.hpp"

namespace tally::output {
namespace {

using result::DiscoveredEvent;
using result::EventClass;
using result::Match;

constexpr std::size_t usual_discovery_width = 110;

bool is_once(double weight) { return std::abs(weight - 1) < 0.03; }

// "0-3,7"
std::string ranges(const std::vector<int>& numbers) {
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < numbers.size();) {
    std::size_t end = i;
    while (end + 1 < numbers.size() && numbers[end + 1] == numbers[end] + 1) ++end;
    texts.push_back(end == i ? std::to_string(numbers[i]) : fmt::format("{}-{}", numbers[i], numbers[end]));
    i = end + 1;
  }
  return join(texts, ",");
}

// The verdicts of the payloads whose control differs in what the event counts: the numbers of yes, no and undecided.
std::string verdicts(const DiscoveredEvent& event) {
  int counts[3] = {};
  for (const result::Contrast& contrast : event.contrasts) {
    const bool about_it = std::any_of(event.terms.begin(), event.terms.end(), [&](const result::Term& term) {
      return term.coordinate == contrast.coordinate && is_once(term.weight);
    });
    if (about_it) ++counts[static_cast<int>(contrast.verdict)];
  }
  if (counts[0] + counts[1] + counts[2] == 0) return "";
  std::string text = fmt::format("{} yes", counts[0]);
  if (counts[1]) text += fmt::format(", {} no", counts[1]);
  if (counts[2]) text += fmt::format(", {} open", counts[2]);
  return text;
}

// "12 dead, 3 named, 2 ambiguous"
std::vector<std::string> by_class(const result::Discovery& discovery) {
  std::map<EventClass, int> counts;
  int several = 0;
  for (const DiscoveredEvent& event : discovery.events) {
    ++counts[event.kind];
    several += event.kind == EventClass::counts && !event.aliases.empty();
  }
  std::vector<std::string> texts;
  for (const auto& [kind, count] : counts) {
    if (kind != EventClass::counts) {
      texts.push_back(fmt::format("{} {}", count, name(kind)));
      continue;
    }
    if (count > several) texts.push_back(fmt::format("{} named", count - several));
    if (several > 0) texts.push_back(fmt::format("{} ambiguous", several));
  }
  return texts;
}

// All matching names, as far as there is room: a single one would claim more than is known.
std::string names_that_fit(const DiscoveredEvent& event) {
  // A match without an effect is not a name.
  if (event.kind != EventClass::counts) return std::string(name(event.kind));
  std::string text = what_it_counts(event);
  if (event.aliases.empty()) return text;
  if (event.aliases.size() == 1) return text + " or " + event.aliases[0].coordinate;
  return text + fmt::format(" or {} others", event.aliases.size());
}

std::string head(const result::Discovery& discovery, std::size_t width) {
  const std::vector<std::string> texts = by_class(discovery);
  std::string text = "\n";
  if (discovery.backend == "engine")
    text += hanging(" ", "These are the events of an invented PMU, not of this machine: --backend perf counts those.",
                    width);
  text += hanging(
      " ",
      fmt::format("{} in {} payloads: {}.", plural(static_cast<int>(discovery.events.size()), "event", "events"),
                  discovery.payloads.size(), join(texts, ", ")),
      width);
  if (discovery.incomplete) text += " The sweep was interrupted: --resume continues it.\n";
  return text;
}

std::string aliases_text(const result::Discovery& discovery, std::size_t width) {
  std::string text;
  std::set<std::string> splits;
  for (const DiscoveredEvent& event : discovery.events) {
    if (event.kind != EventClass::counts) continue;
    for (const result::Alias& alias : event.aliases) {
      if (!alias.splits.empty()) splits.insert("--payload " + alias.splits);
      text += hanging("   - " + raw_code(event.code) + ": ",
                      what_it_counts(event) + ", or " + alias.coordinate +
                          (alias.splits.empty() ? "; no payload of the library distinguishes them"
                                                : "; --payload " + alias.splits + " distinguishes them"),
                      width);
    }
  }
  if (text.empty()) return "";
  if (splits.size() > 1) text += hanging("   ", "add all of them: " + join({splits.begin(), splits.end()}, " "), width);
  return "\n" + hanging(" ", "Ambiguous: these payloads do not distinguish the candidates", width) + text;
}

std::string twins_text(const result::Discovery& discovery, std::size_t width) {
  std::string text;
  for (const DiscoveredEvent& event : discovery.events) {
    if (event.same_as.empty() || event.same_as.front() < event.code) continue;
    std::vector<std::string> all{raw_code(event.code)};
    for (const std::uint64_t other : event.same_as) all.push_back(raw_code(other));
    text += hanging("   - ", join(all, ", ") + ": " + names_that_fit(event), width);
  }
  if (text.empty()) return "";
  return "\n" +
         hanging(" ",
                 discovery.has_all_payloads
                     ? "Aliases: the same counts in every payload"
                     : "Aliases: the same counts in these payloads; without --payload tally runs "
                       "all payloads, which may distinguish them",
                 width) +
         text;
}

std::string all_contrasts(const result::Discovery& discovery, std::size_t terminal) {
  Grid grid({{"event"},
             {"payload"},
             {"control"},
             {"differs in"},
             {"by", Align::right},
             {"measured", Align::right},
             {"from", Align::right},
             {"to", Align::right},
             key_column("verdict")});
  for (const DiscoveredEvent& event : discovery.events) {
    for (const result::Contrast& contrast : event.contrasts) {
      grid.add({raw_code(event.code), contrast.payload, contrast.control, contrast.coordinate,
                fmt::format("{:.3g}", contrast.expected), fmt::format("{:.4f}", contrast.difference),
                fmt::format("{:.4f}", contrast.low), fmt::format("{:.4f}", contrast.high),
                std::string(name(contrast.verdict))});
    }
  }
  return "\n" + grid.text(terminal);
}

Json event_json(const DiscoveredEvent& event) {
  Json json{{"code", event.code}, {"raw", raw_code(event.code)}, {"class", name(event.kind)}};
  json["counters"] = event.counters;
  json["counts"] = Json::array();
  for (const auto& term : event.terms) {
    json["counts"].push_back({{"coordinate", term.coordinate}, {"each", term.weight}, {"error", term.error}});
  }
  json["or"] = Json::array();
  for (const auto& alias : event.aliases) {
    json["or"].push_back({{"what", alias.coordinate}, {"splits", text_or_null(alias.splits)}});
  }
  json["same_as"] = event.same_as;
  json["per_ms"] = event.per_ms;
  json["per_interrupt"] = event.per_interrupt;
  json["reason"] = text_or_null(event.reason);
  json["slopes"] = Json::array();
  for (const auto& slope : event.slopes) {
    json["slopes"].push_back({{"payload", slope.payload},
                              {"each", slope.value},
                              {"error", slope.error},
                              {"low", slope.low},
                              {"high", slope.high},
                              {"once", slope.intercept},
                              {"used", slope.used},
                              {"discarded", slope.discarded}});
  }
  json["contrasts"] = Json::array();
  for (const auto& contrast : event.contrasts) {
    json["contrasts"].push_back({{"payload", contrast.payload},
                                 {"control", contrast.control},
                                 {"coordinate", contrast.coordinate},
                                 {"expected", contrast.expected},
                                 {"difference", contrast.difference},
                                 {"low", contrast.low},
                                 {"high", contrast.high},
                                 {"p", contrast.p},
                                 {"verdict", name(contrast.verdict)}});
  }
  return json;
}

// The name in the vendors' style, such as DISCOVERED.L1_DCACHE_LOAD_MISSES_1C2.
std::string vendors_name(const DiscoveredEvent& event) {
  std::string name = "DISCOVERED";
  for (const auto& term : event.terms) name += "." + term.coordinate;
  for (char& c : name) {
    if (c == '-') c = '_';
    c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  }
  return name + fmt::format("_{:X}", event.code);
}

}  // namespace

std::string discover_text(const result::Discovery& discovery, bool all, std::size_t terminal) {
  const std::size_t width = prose_width(usual_discovery_width, terminal);
  std::string text = head(discovery, width) + "\n";
  Grid grid({{"event"}, {"counts"}, {"counters"}, {"payloads"}, prose_column("remarks")});
  for (const DiscoveredEvent& event : discovery.events) {
    if (event.kind == EventClass::dead) continue;
    grid.add({raw_code(event.code), names_that_fit(event), ranges(event.counters), verdicts(event), event.reason});
  }
  text += grid.text(terminal) + aliases_text(discovery, width) + twins_text(discovery, width);
  if (all) text += all_contrasts(discovery, terminal);
  if (!discovery.unseen.empty()) {
    text += "\n" + hanging(" note: ",
                           "no payload contains " + join(discovery.unseen, ", ") +
                               ": whether events also count them is unknown",
                           width);
  }
  for (const std::string& notice : discovery.notices) text += hanging(" note: ", notice, width);
  text += "\n" +
          prose_line(
              fmt::format(
                  "{} runs, {} discarded · {} sizes, {} repeats · {} independent properties in the payloads, condition "
                  "{} · {} · seed {}",
                  thousands(discovery.runs), thousands(discovery.discarded), discovery.sizes.size(), discovery.repeats,
                  discovery.rank, number_text(discovery.condition), discovery.backend, discovery.seed),
              terminal);
  return text;
}

std::string discover_json(const result::Discovery& discovery) {
  Json json = document("tally-discovery/2", discovery.provenance);
  json["backend"] = discovery.backend;
  json["seed"] = discovery.seed;
  json["counters"] = discovery.counters;
  json["sizes"] = discovery.sizes;
  json["repeats"] = discovery.repeats;
  json["runs"] = discovery.runs;
  json["discarded"] = discovery.discarded;
  json["incomplete"] = discovery.incomplete;
  json["rank"] = discovery.rank;
  json["condition"] = discovery.condition;
  json["unseen"] = discovery.unseen;
  json["payloads"] = discovery.payloads;
  json["events"] = Json::array();
  for (const DiscoveredEvent& event : discovery.events) json["events"].push_back(event_json(event));
  json["notices"] = discovery.notices;
  return json_text(json) + "\n";
}

std::string discover_table(const result::Discovery& discovery) {
  Json json;
  json["Header"] = {
      {"Info", fmt::format("events found by tally discover, backend {}, seed {}", discovery.backend, discovery.seed)},
      {"Provenance", "discovered"}};
  json["Events"] = Json::array();
  for (const DiscoveredEvent& event : discovery.events) {
    if (event.kind != EventClass::counts) continue;
    std::string what = what_it_counts(event);
    for (const auto& alias : event.aliases) what += ", or " + alias.coordinate;
    json["Events"].push_back({{"EventCode", fmt::format("0x{:02X}", event.code & 0xff)},
                              {"UMask", fmt::format("0x{:02X}", event.code >> 8 & 0xff)},
                              {"EventName", vendors_name(event)},
                              {"BriefDescription", what},
                              {"Counter", event.counters.empty() ? Json(nullptr) : Json(ranges(event.counters))}});
  }
  return json_text(json, 2) + "\n";
}

namespace {

std::string discovery_object(const result::Discovery& discovery, bool, std::size_t) { return discover_json(discovery); }

constexpr DiscoveryFormat discovery_rows[] = {
    {table_of(Kind::discovery), discover_text},
    {{Kind::discovery, "json", ".json", "one JSON object on one line"}, discovery_object},
};

}  // namespace

std::span<const DiscoveryFormat> discovery_formats() { return discovery_rows; }

}  // namespace tally::output
