#include <fmt/format.h>

#include "tally/core/base/text.hpp"
#include "tally/output/result/json_reading.hpp"
#include "tally/output/result/memory_result.hpp"
#include "tally/output/result/stored.hpp"

namespace tally::result {
namespace {

MemoryCounter counter(const Json& json) {
  const bool absent = text(json, "trust") == "absent";
  const std::string reason = text(json, "reason");
  return {text(json, "name"), text(json, "event"), text(json, "source"), absent ? "" : reason, absent ? reason : ""};
}

// For a point or a level; older files have none for levels.
std::vector<double> counts(const Json& json, const std::vector<MemoryCounter>& counters) {
  std::vector<double> some;
  const auto there = json.find("counts");
  if (there == json.end() || !there->is_object()) return some;
  for (const MemoryCounter& counter : counters) {
    if (counter.reason.empty() && there->contains(counter.name))
      some.push_back(number<double>(there->at(counter.name)));
  }
  return some;
}

MemoryPoint point(const Json& json, const std::vector<MemoryCounter>& counters) {
  MemoryPoint one;
  one.task = text(json, "task");
  one.quantity = text(json, "quantity");
  one.mode = text(json, "mode");
  one.order = text(json, "order");
  one.region_bytes = number<std::uint64_t>(json.at("region_bytes"));
  one.block_bytes = number<std::uint64_t>(json.at("block_bytes"));
  one.stride_bytes = number<std::uint64_t>(json.at("stride_bytes"));
  one.count = number<std::uint64_t>(json.at("n"));
  one.regions = number<std::uint64_t>(json.at("regions"));
  one.laps = optional<std::uint64_t>(json, "laps").value_or(0);
  one.pages_asked = text(json, "pages_asked");
  one.pages_got = text(json, "pages_got");
  one.node = optional<int>(json, "node");
  one.threads = number<int>(json.at("threads"));
  one.store = text(json, "store");
  one.load = text(json, "load");
  one.fence = text(json, "fence");
  one.seed = optional<std::uint64_t>(json, "seed").value_or(0);
  one.mappings = number<std::int64_t>(json.at("mappings"));
  if (json.contains("mappings_kept")) one.mappings_kept = optional<std::int64_t>(json, "mappings_kept");
  if (json.contains("from_memory")) one.from_memory = optional<double>(json, "from_memory");
  one.batches = number<std::int64_t>(json.at("batches"));
  one.rejected = number<std::int64_t>(json.at("rejected"));
  one.ns = optional<double>(json, "ns");
  one.ns_min = optional<double>(json, "ns_min");
  one.ns_low = optional<double>(json, "ns_low");
  one.ns_high = optional<double>(json, "ns_high");
  one.cycles = optional<double>(json, "cycles");
  one.mb_per_second = optional<double>(json, "mb_per_second");
  one.counts = counts(json, counters);
  one.flags = json.at("flags").get<std::vector<std::string>>();
  return one;
}

MemoryLevel level(const Json& json, const std::vector<MemoryCounter>& counters) {
  return {.name = text(json, "name"),
          .capacity_bytes = optional<double>(json, "capacity_bytes"),
          .capacity_low = optional<double>(json, "capacity_low_bytes"),
          .capacity_high = optional<double>(json, "capacity_high_bytes"),
          .reported_bytes = optional<std::int64_t>(json, "reported_bytes"),
          .snapped = json.at("snapped").get<bool>(),
          .effective = json.at("effective").get<bool>(),
          .shape = text(json, "rise"),
          .half_bytes = optional<double>(json, "half_rise_bytes"),
          .knee_bytes = optional<double>(json, "knee_bytes"),
          .ns = optional<double>(json, "ns").value_or(0),
          .ns_low = optional<double>(json, "ns_low"),
          .ns_high = optional<double>(json, "ns_high"),
          .cycles = optional<double>(json, "cycles"),
          .line_bytes = optional<std::int64_t>(json, "line_bytes"),
          .ways = optional<std::int64_t>(json, "ways"),
          .sets = optional<std::int64_t>(json, "sets"),
          .counts = counts(json, counters),
          .grade = grade_of(text(json, "grade")),
          .contended = json.value("contended", false),
          .unseen = !json.value("seen", true),
          .because = text(json, "because")};
}

MemoryTlb tlb(const Json& json) {
  return {.name = text(json, "name"),
          .entries = optional<std::int64_t>(json, "entries").value_or(0),
          .ways = optional<std::int64_t>(json, "ways"),
          .sets = optional<std::int64_t>(json, "sets"),
          .granule_bytes = number<std::int64_t>(json.at("granule_bytes")),
          .penalty_ns = optional<double>(json, "penalty_ns").value_or(0),
          .grade = grade_of(text(json, "grade")),
          .because = text(json, "because"),
          .unseen = !json.value("seen", true)};
}

MemoryHistogram histogram(const Json& json) {
  MemoryHistogram one{text(json, "name"), text(json, "group"), text(json, "unit"), {}};
  for (const Json& bin : json.at("bins")) {
    one.bins.push_back({number<double>(bin.at(0)), number<double>(bin.at(1)), number<std::int64_t>(bin.at(2))});
  }
  return one;
}

MemoryMap map(const Json& json) {
  MemoryMap one{text(json, "name"),
                text(json, "x"),
                text(json, "y"),
                json.at("x_is_size").get<bool>(),
                json.at("y_is_size").get<bool>(),
                text(json, "unit"),
                {}};
  for (const Json& cell : json.at("cells")) {
    one.cells.push_back({number<double>(cell.at(0)), number<double>(cell.at(1)), number<double>(cell.at(2))});
  }
  return one;
}

MemoryRatio ratio(const Json& json) {
  return {text(json, "name"),
          number<std::uint64_t>(json.at("region_bytes")),
          number<std::uint64_t>(json.at("block_bytes")),
          number<double>(json.at("value")),
          optional<double>(json, "low"),
          optional<double>(json, "high"),
          text(json, "verdict"),
          text(json, "reason")};
}

MemoryVerdict verdict(const Json& json) {
  return {json.at("contended").get<bool>(),
          number<std::int64_t>(json.at("points")),
          number<std::int64_t>(json.at("flagged")),
          number<double>(json.at("rejected_percent")),
          number<double>(json.at("reference_moved_percent")),
          text(json, "why"),
          text(json, "cause"),
          text(json, "advice")};
}

// May throw Json::exception.
Memory memory(const Json& json) {
  Memory memory;
  memory.task = text(json, "task");
  memory.complete = json.at("complete").get<bool>();
  memory.environment = read_environment(json);
  for (const auto& [key, value] : json.at("settings").items()) memory.settings.emplace_back(key, value);
  memory.ticks_per_ns = optional<double>(json, "ticks_per_ns");
  if (const Json& events = json.at("counters").at("events"); events.is_array()) {
    for (const Json& one : events) memory.counters.push_back(counter(one));
  }
  for (const Json& one : json.at("points")) memory.points.push_back(point(one, memory.counters));
  for (const Json& one : json.at("levels")) memory.levels.push_back(level(one, memory.counters));
  for (const Json& one : json.at("tlbs")) memory.tlbs.push_back(tlb(one));
  for (const Json& one : json.at("controls")) {
    const auto value = optional<double>(one, "value");
    const std::string unit = text(one, "unit");
    const bool is_share = unit == "share";
    const std::string shown = !value     ? std::string()
                              : is_share ? fmt::format("{:.0f} %", 100 * *value)
                                         : fmt::format("{:.1f} {}", *value, unit);
    memory.controls.push_back({text(one, "name"), shown, value, unit});
  }
  for (const Json& one : json.value("histograms", Json::array())) memory.histograms.push_back(histogram(one));
  for (const Json& one : json.value("maps", Json::array())) memory.maps.push_back(map(one));
  for (const Json& one : json.value("ratios", Json::array())) memory.ratios.push_back(ratio(one));
  for (const auto& [key, value] : json.at("figures").items())
    memory.statistics.emplace_back(key, number<double>(value));
  memory.findings = json.at("findings").get<std::vector<std::string>>();
  memory.ceilings = read_ceilings(json);
  memory.verdict = verdict(json.at("verdict"));
  memory.counters_reason = text(json.at("counters"), "reason");
  memory.notices = json.at("notices").get<std::vector<std::string>>();
  return memory;
}

}  // namespace

bool is_memory(std::string_view text) {
  // The schema is always the first key.
  return trimmed(text.substr(0, 100)).starts_with('{') && text.substr(0, 200).find("\"tally-memory/") != text.npos;
}

Result<std::vector<Memory>> read_memories(std::string_view text, const std::string& name) {
  std::string wrong;
  try {
    std::vector<Memory> all;
    for (const Json& json : objects(text)) {
      if (json.value("schema", "") != "tally-memory/1") {
        wrong = fmt::format("its schema is not \"tally-memory/1\"");
        break;
      }
      all.push_back(memory(json));
    }
    if (wrong.empty()) return all;
  } catch (const Json::exception& exception) {
    wrong = parse_error_text(text, exception.what());
  }
  return fail(Code::bad_usage,
              fmt::format("'{}' is not a result of `tally memory`: {}", printable(name), printable(wrong)),
              "`tally memory --format json -o FILE` writes one");
}

}  // namespace tally::result
