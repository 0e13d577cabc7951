#include "tally/hardware/event/given.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>

#include "tally/core/base/json_problem.hpp"
#include "tally/core/base/json_text.hpp"
#include "tally/core/base/parse_text.hpp"
#include "tally/core/base/text.hpp"
#include "tally/hardware/event/parsers.hpp"

namespace tally::event {
namespace {

using Json = nlohmann::ordered_json;

// Parses a number in a string, in either base: "0x3C", "2". "0xB7,0xBB" means that either code works.
std::uint64_t number_of(const Json& entry, const char* field) {
  const auto found = entry.find(field);
  if (found == entry.end() || found->is_null()) return 0;
  if (found->is_number_unsigned()) return found->get<std::uint64_t>();
  const std::string text = trimmed(split(found->get<std::string>(), ',').front());
  if (text.empty()) return 0;
  const auto value = parse_unsigned(text);
  if (!value) throw std::runtime_error(fmt::format("{}: '{}' is not a number", field, text));
  return *value;
}

std::string text_of(const Json& entry, const char* field) {
  const auto found = entry.find(field);
  return found != entry.end() && found->is_string() ? found->get<std::string>() : "";
}

bool is_set(const Json& entry, const char* field) {
  const std::string text = text_of(entry, field);
  return !text.empty() && text != "0" && lower(text) != "null";
}

// Events of fixed counters have no code, or code 0, which counts nothing on other counters. The kernel assigns fixed
// counters to the codes below (arch/x86/events/intel/core.c, FIXED_EVENT_CONSTRAINT).
std::optional<std::uint64_t> fixed_code(const Json& entry) {
  static const std::map<std::string, std::uint64_t, std::less<>> codes{
      {"inst_retired.any", 0xC0},           {"cpu_clk_unhalted.thread", 0x3C},
      {"cpu_clk_unhalted.core", 0x3C},      {"cpu_clk_unhalted.thread_any", 0x3C | 1 << 21},
      {"cpu_clk_unhalted.ref_tsc", 0x0300}, {"cpu_clk_unhalted.ref", 0x0300},
      {"inst_retired.prec_dist", 0x0100},   {"topdown.slots", 0x0400}};
  // "Fixed counter 0", or 32 and above. Tables without this field also omit the code.
  const std::string counter = lower(text_of(entry, "Counter"));
  const bool is_fixed = counter.find("fixed") != std::string::npos || (counter.size() == 2 && counter >= "32");
  if (!is_fixed && entry.contains("EventCode")) return std::nullopt;
  const auto found = codes.find(lower(text_of(entry, "EventName")));
  return found == codes.end() ? std::nullopt : std::optional(found->second);
}

// Why an entry cannot be counted on a core's counters; empty if it can.
std::string why_left_out(const Json& entry) {
  if (text_of(entry, "EventName").empty()) {
    const bool is_common = entry.contains("ArchStdEvent");
    return is_common ? "they refer to Arm's common events, and their table is not in the same directory"
                     : "they have no name";
  }
  const std::string unit = text_of(entry, "Unit");
  // On hybrid processors, raw codes select the other core type (perf_event_open(2), "hybrid").
  if (lower(unit) == "cpu_atom") return "they are of the small cores: write cpu_atom/event=…,umask=…/";
  if (!unit.empty() && !lower(unit).starts_with("cpu") && lower(unit) != "core") return "they are not core events";
  const bool has_code = entry.contains("EventCode") || entry.contains("ConfigCode") || fixed_code(entry);
  return has_code ? "" : "they have no code";
}

// The layout of IA32_PERFEVTSELx without its control bits; AMD's codes have four more bits, at 35:32.
std::uint64_t config_of(const Json& entry, bool is_x86) {
  if (const auto fixed = fixed_code(entry)) return *fixed;
  if (!entry.contains("EventCode")) return number_of(entry, "ConfigCode");
  const std::uint64_t code = number_of(entry, "EventCode");
  if (!is_x86) return code;
  return (code & 0xff) | (code >> 8 & 0xf) << 32 | (number_of(entry, "UMask") & 0xff) << 8 |
         std::uint64_t{is_set(entry, "EdgeDetect")} << 18 | std::uint64_t{is_set(entry, "AnyThread")} << 21 |
         std::uint64_t{is_set(entry, "Invert")} << 23 | (number_of(entry, "CounterMask") & 0xff) << 24;
}

GivenEvent event_of(const Json& entry, bool is_x86) {
  GivenEvent one;
  one.name = text_of(entry, "EventName");
  one.what = text_of(entry, "BriefDescription");
  if (one.what.empty()) one.what = text_of(entry, "PublicDescription");
  one.counters = text_of(entry, "Counter");
  if (is_set(entry, "TakenAlone")) one.remarks = "it must be counted alone";
  if (is_set(entry, "Errata")) {
    one.remarks += (one.remarks.empty() ? "errata: " : "; errata: ") + text_of(entry, "Errata");
  }
  one.config = config_of(entry, is_x86);
  // The value for a second register, such as off-core responses or the load latency threshold.
  if (is_set(entry, "MSRIndex")) one.config1 = number_of(entry, "MSRValue");
  return one;
}

std::string plain(std::string_view name) {
  std::string text = lower(name);
  std::replace(text.begin(), text.end(), ':', '.');
  return text;
}

// Completes Arm's entries that only refer to a common event, from the tables of common events.
class Standard {
 public:
  explicit Standard(std::span<const std::string> tables) {
    for (const std::string& text : tables) {
      const Json json = parse_json_or_discard<Json>(text);
      if (!json.is_array()) continue;
      for (const Json& entry : json) {
        if (entry.is_object() && entry.contains("EventName"))
          entries_.emplace(lower(text_of(entry, "EventName")), entry);
      }
    }
  }

  Json completed(const Json& entry) const {
    const auto found = entries_.find(lower(text_of(entry, "ArchStdEvent")));
    if (found == entries_.end()) return entry;
    Json whole = found->second;
    whole.update(entry);
    return whole;
  }

 private:
  std::map<std::string, Json, std::less<>> entries_;
};

}  // namespace

Result<GivenTable> parse_given(std::string_view text, std::string_view origin, std::span<const std::string> standards) {
  GivenTable table;
  table.origin = origin;
  table.provenance = "the vendor's";
  std::map<std::string, int> left_out;
  try {
    const Json json = parse_json<Json>(text);
    const Json* entries = &json;
    if (json.is_object()) {
      if (!json.contains("Events")) throw std::runtime_error("it has no Events");
      entries = &json.at("Events");
      const Json header = json.value("Header", Json::object());
      if (text_of(header, "Provenance") == "discovered") table.provenance = "discovered";
    }
    if (!entries->is_array()) throw std::runtime_error("its events are not an array");
    const Standard standard(standards);
    // Arm's events have no unit masks, and neither do a few of AMD's.
    const bool is_x86 = std::any_of(entries->begin(), entries->end(),
                                    [](const Json& entry) { return entry.is_object() && entry.contains("UMask"); });
    for (std::size_t i = 0; i < entries->size(); ++i) {
      if (!entries->at(i).is_object()) throw std::runtime_error(fmt::format("entry {} is not an object", i));
      const Json entry = standard.completed(entries->at(i));
      if (const std::string why = why_left_out(entry); !why.empty()) {
        ++left_out[why];
        continue;
      }
      try {
        table.events.push_back(event_of(entry, is_x86));
      } catch (const std::exception& error) {
        throw std::runtime_error(fmt::format("{}: {}", text_of(entry, "EventName"), json_problem(error.what())));
      }
    }
  } catch (const std::exception& error) {
    return fail(
        Code::bad_usage,
        fmt::format("'{}' is not a table of events: {}", printable(origin), printable(json_problem(error.what()))),
        "use a vendor's JSON table, as in https://github.com/intel/perfmon, or a table from tally discover "
        "--table");
  }
  for (const auto& [why, count] : left_out) {
    table.left_out.push_back(fmt::format("{} skipped in {}: {}", plural(count, "entry", "entries"), origin, why));
  }
  return table;
}

const GivenEvent* find_given(const GivenTable& table, std::string_view name) {
  const std::string plain_name = plain(name);
  const auto found = std::find_if(table.events.begin(), table.events.end(),
                                  [&](const GivenEvent& event) { return plain(event.name) == plain_name; });
  return found == table.events.end() ? nullptr : &*found;
}

// "UOPS_RETIRED.ALL:k", or with libpfm4's notation "UOPS_RETIRED:ALL:k": the name may contain colons, so the modifiers
// follow the last one.
Parsed parse_given_event(std::string_view text, const Sources& sources) {
  if (!sources.given) return std::nullopt;
  const GivenEvent* event = find_given(*sources.given, text);
  Mode mode = Mode::user;
  if (const std::size_t colon = text.rfind(':'); !event && colon != std::string_view::npos) {
    event = find_given(*sources.given, text.substr(0, colon));
    if (event) {
      const auto asked = parse_modifiers(text.substr(colon + 1), text);
      if (!asked) return fail(asked.error());
      mode = *asked;
    }
  }
  if (!event) return std::nullopt;
#if defined(__aarch64__)
  constexpr Family architectures = Family::arm;
#else
  constexpr Family architectures = Family::intel_core;
#endif
  const Family own = own_family(sources);
  Encoding encoding{own == Family::none ? architectures : own, "", perf_type_raw, event->config, event->config1, 0};
  Event made = coded(text, event->name, std::move(encoding), mode);
  made.notes.push_back(
      fmt::format("{} is from {} ({})", event->name, sources.given->origin, sources.given->provenance));
  return made;
}

}  // namespace tally::event
