#include "tally/event/given.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <nlohmann/json.hpp>

#include "tally/base/text.hpp"
#include "tally/event/parsers.hpp"

namespace tally::event {
namespace {

using Json = nlohmann::json;

// Numbers are texts, in either base: "0x3C", "2", and "0xB7,0xBB" where either code will do.
std::uint64_t number_of(const Json& entry, const char* field) {
  const auto found = entry.find(field);
  if (found == entry.end() || found->is_null()) return 0;
  if (found->is_number_unsigned()) return found->get<std::uint64_t>();
  std::string text = trimmed(split(found->get<std::string>(), ',').front());
  const bool hex = text.starts_with("0x") || text.starts_with("0X");
  if (hex) text.erase(0, 2);
  std::uint64_t value = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), value, hex ? 16 : 10);
  if (!text.empty() && (read.ec != std::errc() || read.ptr != text.data() + text.size())) {
    throw std::runtime_error(fmt::format("{}: '{}' is no number", field, text));
  }
  return value;
}

std::string text_of(const Json& entry, const char* field) {
  const auto found = entry.find(field);
  return found != entry.end() && found->is_string() ? found->get<std::string>() : "";
}

bool is_set(const Json& entry, const char* field) {
  const std::string text = text_of(entry, field);
  return !text.empty() && text != "0" && lower(text) != "null";
}

// Why an entry is none of a core's counters; empty where it is one.
std::string why_left_out(const Json& entry) {
  if (text_of(entry, "EventName").empty()) return "they have no name";  // metrics, and Arm's references
  const std::string unit = text_of(entry, "Unit");
  if (!unit.empty() && !lower(unit).starts_with("cpu") && lower(unit) != "core") return "they are not the core's";
  if (!entry.contains("EventCode") && !entry.contains("ConfigCode")) return "they have no code";
  return {};
}

// The layout of IA32_PERFEVTSELx without its control bits; AMD's codes have four bits more, at 35:32.
std::uint64_t config_of(const Json& entry) {
  if (!entry.contains("EventCode")) return number_of(entry, "ConfigCode");
  const std::uint64_t code = number_of(entry, "EventCode");
  const bool x86 = entry.contains("UMask");
  if (!x86) return code;
  return (code & 0xff) | (code >> 8 & 0xf) << 32 | (number_of(entry, "UMask") & 0xff) << 8 |
         std::uint64_t{is_set(entry, "EdgeDetect")} << 18 | std::uint64_t{is_set(entry, "AnyThread")} << 21 |
         std::uint64_t{is_set(entry, "Invert")} << 23 | (number_of(entry, "CounterMask") & 0xff) << 24;
}

GivenEvent event_of(const Json& entry) {
  GivenEvent one;
  one.name = text_of(entry, "EventName");
  one.what = text_of(entry, "BriefDescription");
  if (one.what.empty()) one.what = text_of(entry, "PublicDescription");
  one.counters = text_of(entry, "Counter");
  if (is_set(entry, "TakenAlone")) one.remarks = "it has to be counted alone";
  if (is_set(entry, "Errata")) {
    one.remarks += (one.remarks.empty() ? "errata: " : "; errata: ") + text_of(entry, "Errata");
  }
  one.config = config_of(entry);
  // What goes into a second register, such as the off-core responses; the load latency's threshold as well.
  if (is_set(entry, "MSRIndex")) one.config1 = number_of(entry, "MSRValue");
  return one;
}

std::string plain(std::string_view name) {
  std::string text = lower(name);
  std::replace(text.begin(), text.end(), ':', '.');
  return text;
}

}  // namespace

Result<GivenTable> parse_given(std::string_view text, std::string_view origin) {
  GivenTable table;
  table.origin = origin;
  table.provenance = "the vendor's";
  std::map<std::string, int> left_out;
  try {
    const Json json = Json::parse(text);
    const Json* entries = &json;
    if (json.is_object()) {
      if (!json.contains("Events")) throw std::runtime_error("it has no Events");
      entries = &json.at("Events");
      const Json header = json.value("Header", Json::object());
      if (text_of(header, "Provenance") == "discovered") table.provenance = "discovered";
    }
    if (!entries->is_array()) throw std::runtime_error("its events are no array");
    for (std::size_t i = 0; i < entries->size(); ++i) {
      const Json& entry = entries->at(i);
      if (!entry.is_object()) throw std::runtime_error(fmt::format("entry {} is no object", i));
      if (const std::string why = why_left_out(entry); !why.empty()) {
        ++left_out[why];
        continue;
      }
      try {
        table.events.push_back(event_of(entry));
      } catch (const std::exception& error) {
        throw std::runtime_error(fmt::format("{}: {}", text_of(entry, "EventName"), error.what()));
      }
    }
  } catch (const std::exception& error) {
    return fail(Code::bad_usage,
                fmt::format("'{}' is no table of events: {}", printable(origin), printable(error.what())),
                "the vendors' JSON tables, as https://github.com/intel/perfmon has them, and those of tally discover "
                "--table");
  }
  for (const auto& [why, count] : left_out) {
    table.left_out.push_back(fmt::format("{} left out of {}: {}", plural(count, "entry", "entries"), origin, why));
  }
  return table;
}

const GivenEvent* find_given(const GivenTable& table, std::string_view name) {
  const std::string wanted = plain(name);
  const auto found = std::find_if(table.events.begin(), table.events.end(),
                                  [&](const GivenEvent& one) { return plain(one.name) == wanted; });
  return found == table.events.end() ? nullptr : &*found;
}

// "UOPS_RETIRED.ALL:k", and as libpfm4 writes it "UOPS_RETIRED:ALL:k": the name may have colons, letters follow the
// last.
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
  made.notes.push_back(fmt::format("{} is of {} ({})", event->name, sources.given->origin, sources.given->provenance));
  return made;
}

}  // namespace tally::event
