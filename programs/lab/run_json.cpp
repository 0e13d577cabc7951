#include "programs/lab/run_json.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "tally/core/base/json_text.hpp"
#include "tally/core/base/text.hpp"
#include "tally/output/kit/json_document.hpp"

namespace tally::lab {
namespace {

using Json = nlohmann::ordered_json;

std::string_view word(Entry::Kind kind) {
  switch (kind) {
    case Entry::Kind::output: return "output";
    case Entry::Kind::write: return "write";
    case Entry::Kind::read: return "read";
    case Entry::Kind::rdpmc: return "rdpmc";
    case Entry::Kind::overflow: return "overflow";
    case Entry::Kind::pmi: return "pmi";
    case Entry::Kind::frozen: return "frozen";
    case Entry::Kind::record: return "record";
    case Entry::Kind::enter: return "enter";
    case Entry::Kind::leave: return "leave";
    case Entry::Kind::remark: return "remark";
    case Entry::Kind::breakpoint: return "breakpoint";
    case Entry::Kind::step: return "step";
  }
  return "";
}

std::string_view word(End::Reason reason) {
  switch (reason) {
    case End::Reason::halted: return "halted";
    case End::Reason::exited: return "exited";
    case End::Reason::returned: return "returned";
    case End::Reason::limit: return "limit";
    case End::Reason::fault: return "fault";
    case End::Reason::hole: return "hole";
    case End::Reason::stopped: return "stopped";
  }
  return "";
}

std::string_view word(pmu::Severity severity) {
  return severity == pmu::Severity::wrong ? "wrong" : severity == pmu::Severity::caution ? "caution" : "note";
}

Json remarks_of(const std::vector<pmu::Remark>& remarks) {
  Json all = Json::array();
  for (const pmu::Remark& one : remarks) {
    all.push_back({{"severity", word(one.severity)},
                   {"text", one.text},
                   {"source", fmt::format("{}, {}", one.source.document, one.source.section)}});
  }
  return all;
}

std::string hex(std::uint64_t value) { return fmt::format("{:#x}", value); }

Json entry_of(const Entry& entry, const Computer& machine) {
  Json out = {{"kind", word(entry.kind)},
              {"address", hex(entry.address)},
              {"place", machine.image().place(entry.address)},
              {"instruction", entry.instruction},
              {"cpl", entry.cpl}};
  switch (entry.kind) {
    case Entry::Kind::write:
    case Entry::Kind::read:
      out["register"] = machine.register_name(entry.number);
      out["number"] = hex(entry.number);
      out["value"] = hex(entry.value);
      out["meaning"] = machine.meaning(entry);
      if (!entry.text.empty()) out["fault"] = entry.text;
      break;
    case Entry::Kind::rdpmc:
      out["counter"] = machine.counter_name(entry.number);
      if (entry.text.empty()) {
        out["count"] = entry.value;
      } else {
        out["fault"] = entry.text;
      }
      break;
    case Entry::Kind::overflow: out["counter"] = entry.text; break;
    case Entry::Kind::enter:
      out["vector"] = entry.number;
      out["text"] = entry.text;
      break;
    case Entry::Kind::record:
      out["stored"] = entry.record.outcome == pmu::emulated::PebsRecord::Outcome::stored;
      out["at"] = hex(entry.record.address);
      out["text"] = machine.words(entry);
      break;
    case Entry::Kind::pmi:
      out["delivered"] = entry.value == 1;
      out["text"] = entry.text;
      break;
    default:
      if (!entry.text.empty()) out["text"] = valid_utf8(entry.text);
      break;
  }
  for (const auto& [name, value] : entry.counters) out["counters"][name] = value;
  if (!entry.remarks.empty()) out["remarks"] = remarks_of(entry.remarks);
  return out;
}

// Returns the lines that produced instructions, by address.
Json listing_of(const Image& image) {
  Json all = Json::array();
  for (const Line& line : image.lines) {
    Json one = {{"address", hex(line.address)}, {"line", line.number}, {"text", valid_utf8(line.text)}};
    if (line.is_included) one["included"] = true;
    all.push_back(std::move(one));
  }
  return all;
}

// Returns the layout of each register that the run accessed.
Json registers_of(const std::vector<Entry>& entries, const Computer& machine) {
  Json all = Json::object();
  for (const Entry& entry : entries) {
    if (entry.kind != Entry::Kind::write && entry.kind != Entry::Kind::read) continue;
    const std::string name = machine.register_name(entry.number);
    const auto value = machine.value(entry);
    if (!value || all.contains(name)) continue;
    Json fields = Json::array();
    for (const pmu::Slot& slot : pmu::slots(*value->place.reg, value->version)) {
      fields.push_back({{"name", slot.name()},
                        {"low", slot.lsb()},
                        {"width", slot.field->width},
                        {"text", std::string(slot.field->text)}});
    }
    all[name] = {
        {"text", std::string(value->place.reg->text)}, {"address", pmu::address(value->place)}, {"fields", fields}};
  }
  return all;
}

Json timeline_of(const Timeline& timeline, const Computer& machine) {
  Json out = {{"counters", Json::array()}, {"points", Json::array()}};
  for (const CounterState& one : machine.counters()) {
    const std::size_t number = out["counters"].size();
    const std::string event = number < timeline.events().size() ? timeline.events()[number] : "";
    out["counters"].push_back({{"name", one.name}, {"event", event}, {"overflow_bit", one.overflow_bit}});
  }
  for (const Timeline::Point& point : timeline.points()) {
    Json row = {point.instruction};
    for (const std::uint64_t value : point.values) row.push_back(value);
    out["points"].push_back(std::move(row));
  }
  if (timeline.is_cut()) out["cut"] = true;
  return out;
}

}  // namespace

std::string json_text(const std::vector<Entry>& entries, const End& end, const Computer& machine,
                      const std::vector<pmu::Remark>& remarks, const Timeline& timeline,
                      const result::Provenance& provenance) {
  Json out = {
      {"tally_lab", 1},
      {"provenance", output::provenance_json(provenance)},
      {"file", machine.image().name},
      {"model", machine.model()},
      {"emulated", true},
      {"end", {{"reason", word(end.reason)}, {"place", machine.image().place(end.address)}, {"text", end.message}}},
      {"instructions", machine.instructions()}};
  if (end.reason == End::Reason::exited) out["end"]["code"] = end.code;
  if (!end.hint.empty()) out["end"]["hint"] = end.hint;
  for (const CounterState& one : machine.counters()) out["counters"][one.name] = one.value;
  out["remarks"] = remarks_of(remarks);
  out["entries"] = Json::array();
  for (const Entry& one : entries) out["entries"].push_back(entry_of(one, machine));
  out["listing"] = listing_of(machine.image());
  out["registers"] = registers_of(entries, machine);
  out["timeline"] = timeline_of(timeline, machine);
  return tally::json_text(out, 2) + "\n";
}

}  // namespace tally::lab
