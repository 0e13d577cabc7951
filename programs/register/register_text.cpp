#include "programs/register/register_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "tally/core/base/json_text.hpp"
#include "tally/core/base/text.hpp"
#include "tally/output/kit/json_document.hpp"
#include "tally/output/kit/wrap.hpp"

namespace tally::registers {
namespace {

using output::hanging;
using output::Json;

using pmu::Field;
using pmu::Register;
using pmu::RegisterInstance;
using pmu::Remark;
using pmu::Slot;

std::string bits_text(const Slot& slot) {
  const Field& field = *slot.field;
  if (pmu::is_run(field)) return fmt::format("{}:{}", field.lsb + field.count - 1, field.lsb);
  std::string text =
      slot.msb() == slot.lsb() ? fmt::format("{}", slot.lsb()) : fmt::format("{}:{}", slot.msb(), slot.lsb());
  if (field.upper_width != 0)
    text = fmt::format("{}:{},", field.upper_lsb + field.upper_width - 1, field.upper_lsb) + text;
  return text;
}

std::string content_text(const Field& field, std::uint64_t content) {
  if (field.show == pmu::Show::flag || field.show == pmu::Show::number) return fmt::format("{}", content);
  return fmt::format("0x{:0{}x}", content, (pmu::total_width(field) + 3) / 4);
}

// Describes the field if its value does not; with its versions if none was selected.
std::string about(const pmu::Value& value, const Field& field, std::string text) {
  const Register& reg = *value.place.reg;
  const std::string versions =
      value.version || field.since <= reg.since ? "" : pmu::version_text(*value.place.model, field.since, field.until);
  if (!versions.empty()) text += " (" + versions + ")";
  if (field.access == pmu::Access::read_only && reg.access != pmu::Access::read_only) text += " (read-only)";
  return text;
}

struct FieldRow {
  std::string bits, name, content, text;
};

FieldRow row_of(const pmu::Value& value, const Slot& slot, bool has_value) {
  const Field& field = *slot.field;
  if (pmu::is_run(field)) {
    const std::uint64_t run = value.bits >> field.lsb & pmu::low_ones(field.count);
    std::string text(field.text);
    if (has_value && run != 0) text = fmt::format("{}: {}", pmu::ranges(run << field.first), text);
    return {bits_text(slot), pmu::run_name(field), fmt::format("0x{:0{}x}", run, (field.count + 3) / 4),
            about(value, field, text)};
  }
  const std::uint64_t content = slot.of(value.bits);
  std::string text = has_value ? pmu::reading(value, slot) : "";
  // The text of a flag describes the meaning of 1.
  if (text.empty())
    text = (has_value && field.show == pmu::Show::flag && content == 0 ? "if 1: " : "") + std::string(field.text);
  return {bits_text(slot), slot.name(), content_text(field, content), about(value, field, std::move(text))};
}

// Interleaved fields with several bits per counter are shown for counters that have a bit set.
bool is_interleaved(const Field& field) { return field.count > 1 && field.stride > field.width; }

bool counter_is_unused(const pmu::Value& value, const Slot& slot) {
  if (!is_interleaved(*slot.field)) return false;
  for (const Slot& other : pmu::slots(*value.place.reg, value.version)) {
    if (is_interleaved(*other.field) && other.index == slot.index && other.of(value.bits) != 0) return false;
  }
  return true;
}

std::string fields_text(const pmu::Value& value, bool has_value) {
  std::vector<FieldRow> rows;
  std::uint64_t unused = 0;
  const bool upper_half = !has_value || value.bits >> 32 != 0;
  for (const Slot& slot : pmu::slots(*value.place.reg, value.version)) {
    if (pmu::is_run(*slot.field) && slot.index != 0) continue;
    if (!upper_half && slot.lsb() >= 32) continue;
    // A layout shows the first counter and notes that the others follow.
    if (has_value ? counter_is_unused(value, slot) : is_interleaved(*slot.field) && slot.index != 0) {
      unused |= 1ULL << (slot.field->first + slot.index);
      continue;
    }
    rows.push_back(row_of(value, slot, has_value));
  }
  std::reverse(rows.begin(), rows.end());
  std::size_t bits = 4, names = 5, contents = has_value ? 5 : 0;
  for (const FieldRow& row : rows) {
    bits = std::max(bits, row.bits.size());
    names = std::max(names, row.name.size());
    if (has_value) contents = std::max(contents, row.content.size());
  }
  const auto line = [&](const FieldRow& row) {
    std::string start = fmt::format(" {:<{}}  {:<{}}", row.bits, bits, row.name, names);
    if (has_value) start += fmt::format("  {:>{}}", row.content, contents);
    return hanging(start + "  ", row.text);
  };
  std::string text = line({"bits", "field", "value", "meaning"});
  for (const FieldRow& row : rows) text += line(row);
  if (!upper_half && value.place.reg->width > 32) text += " 63:32 are 0\n";
  if (unused != 0) {
    text += has_value ? fmt::format(" all fields of counters {} are 0\n", pmu::ranges(unused))
                      : fmt::format(" the same for {}, {} bits apart\n", pmu::ranges(unused), [&] {
                          for (const Field& field : value.place.reg->fields) {
                            if (is_interleaved(field)) return field.stride;
                          }
                          return 0;
                        }());
  }
  return text;
}

const char* severity_name(pmu::Severity severity) {
  switch (severity) {
    case pmu::Severity::wrong: return "wrong";
    case pmu::Severity::caution: return "caution";
    case pmu::Severity::note: break;
  }
  return "note";
}

const char* access_name(pmu::Access access) {
  switch (access) {
    case pmu::Access::read_write: return "read, write";
    case pmu::Access::read_only: return "read-only";
    case pmu::Access::write_only: return "write-only";
    case pmu::Access::write_1_to_clear: return "write 1 to clear";
    case pmu::Access::write_1_to_set: break;
  }
  return "write 1 to set";
}

const char* space_name(pmu::Space space) {
  switch (space) {
    case pmu::Space::msr: return "msr";
    case pmu::Space::system_register: return "system-register";
    case pmu::Space::cpuid: return "cpuid";
    case pmu::Space::control: return "control-register";
    case pmu::Space::operand: break;
  }
  return "operand";
}

std::string source_text(const pmu::Source& source) { return fmt::format("{}, {}", source.document, source.section); }

// The assumed version, and how to select one.
std::string assumed(const pmu::Value& value) {
  const pmu::Model& model = *value.place.model;
  // Registers of x86 that do not belong to a PMU are equal in all versions.
  const auto& fields = value.place.reg->fields;
  const bool differs =
      &model != &pmu::x86_model ||
      std::any_of(fields.begin(), fields.end(), [](const pmu::Field& field) { return field.since != 0; });
  if (!differs) return std::string(model.title);
  if (!value.version) {
    return fmt::format("{}, fields of all versions (--version {} to {}: of one)", model.title,
                       model.versions.front().name, model.versions.back().name);
  }
  for (const pmu::Version& version : model.versions) {
    if (version.number == *value.version) return fmt::format("{}, version {}", model.title, version.name);
  }
  return std::string(model.title);
}

std::string properties(const pmu::Value& value) {
  const Register& reg = *value.place.reg;
  std::string text = hanging(" access: ", access_name(reg.access));
  if (!reg.reset.empty()) text += hanging(" reset:  ", std::string(reg.reset));
  const std::string versions = pmu::version_text(*value.place.model, reg.since, reg.until);
  if (!versions.empty()) text += hanging(" exists: ", versions);
  return text;
}

}  // namespace

std::string register_text(const ShownRegister& shown, pmu::Lines lines) {
  const auto& [value, has_value] = shown;
  const Register& reg = *value.place.reg;
  std::string text = name(value.place);
  if (has_value) text += fmt::format(" = {:#x}", value.bits);
  text += fmt::format("  ({})\n", address(value.place));
  text += hanging(" ", std::string(reg.text)) + hanging(" ", assumed(value));
  if (has_value && reg.summary) text += "\n" + hanging(" ", reg.summary(value));
  text += "\n" + pmu::draw(value, lines, !has_value) + "\n" + fields_text(value, has_value);
  std::string remarks;
  if (has_value) {
    for (const Remark& remark : pmu::check(value)) {
      remarks += hanging(fmt::format(" {}: ", severity_name(remark.severity)), remark.text);
    }
  } else {
    remarks = properties(value);
  }
  if (!reg.note.empty() && !has_value) remarks += hanging(" note:   ", std::string(reg.note));
  if (!remarks.empty()) text += "\n" + remarks;
  return text + hanging(" source: ", source_text(reg.source));
}

namespace {

Json field_json(const pmu::Value& value, const Slot& slot, bool has_value) {
  const std::uint64_t content = slot.of(value.bits);
  Json json;
  json["field"] = slot.name();
  json["lsb"] = slot.lsb();
  json["width"] = pmu::total_width(*slot.field);
  json["value"] = has_value ? Json(content) : Json(nullptr);
  const std::string read = has_value ? pmu::reading(value, slot) : "";
  json["reading"] = read.empty() ? Json(nullptr) : Json(read);
  json["meaning"] = slot.field->text;
  json["since"] = slot.field->since;
  json["until"] = slot.field->until == pmu::newest ? Json(nullptr) : Json(slot.field->until);
  return json;
}

Json register_object(const pmu::Value& value, bool has_value) {
  const Register& reg = *value.place.reg;
  Json json;
  json["register"] = name(value.place);
  json["address"] = address(value.place);
  json["space"] = space_name(reg.space);
  json["model"] = value.place.model->name;
  json["version"] = value.version ? Json(*value.version) : Json(nullptr);
  json["about"] = reg.text;
  json["width"] = reg.width;
  json["access"] = access_name(reg.access);
  json["reset"] = reg.reset.empty() ? Json(nullptr) : Json(reg.reset);
  json["source"] = source_text(reg.source);
  json["value"] = has_value ? Json(value.bits) : Json(nullptr);
  json["hex"] = has_value ? Json(fmt::format("{:#x}", value.bits)) : Json(nullptr);
  json["summary"] = has_value && reg.summary ? Json(reg.summary(value)) : Json(nullptr);
  json["fields"] = Json::array();
  for (const Slot& slot : pmu::slots(reg, value.version)) json["fields"].push_back(field_json(value, slot, has_value));
  json["unknown_bits"] = has_value ? Json(pmu::unknown_bits(value)) : Json(nullptr);
  json["remarks"] = Json::array();
  if (has_value) {
    for (const Remark& remark : pmu::check(value)) {
      json["remarks"].push_back({{"severity", severity_name(remark.severity)},
                                 {"text", remark.text},
                                 {"source", source_text(remark.source)}});
    }
  }
  return json;
}

}  // namespace

std::string register_json(const std::vector<ShownRegister>& shown, const result::Provenance& provenance) {
  Json json = output::document("tally-register/1", provenance);
  json["registers"] = Json::array();
  for (const ShownRegister& shown_register : shown)
    json["registers"].push_back(register_object(shown_register.value, shown_register.has_value));
  return json_text(json, 2) + "\n";
}

std::string register_list(const std::vector<RegisterInstance>& places) {
  struct Line {
    const pmu::Model* model;
    std::string name, address, text;
  };
  std::vector<Line> lines;
  std::size_t names = 0, addresses = 0;
  for (std::size_t at = 0; at < places.size();) {
    const RegisterInstance& first = places[at];
    // A complete row of registers is printed in one line.
    std::size_t last = at;
    while (last + 1 < places.size() && places[last + 1].reg == first.reg) ++last;
    if (last - at + 1 != static_cast<std::size_t>(first.reg->count)) last = at;
    Line line{first.model, name(first), address(first), std::string(first.reg->text)};
    if (last > at) {
      line.name += fmt::format(" to {}", first.reg->first + places[last].index);
      const std::string end = address(places[last]);
      line.address += " to " + (end.starts_with("MSR ") ? end.substr(4) : end);
    }
    names = std::max(names, line.name.size());
    addresses = std::max(addresses, line.address.size());
    lines.push_back(std::move(line));
    at = last + 1;
  }
  std::string text;
  const pmu::Model* model = nullptr;
  for (const Line& line : lines) {
    if (line.model != model)
      text += fmt::format("{}{}: {}\n", text.empty() ? "" : "\n", line.model->name, line.model->title);
    model = line.model;
    text += fmt::format("  {:<{}}  {:<{}}  {}\n", line.name, names, line.address, addresses, line.text);
  }
  return text;
}

}  // namespace tally::registers
