#include "tally/lab/story.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "tally/base/text.hpp"
#include "tally/pmu/codec.hpp"
#include "tally/pmu/draw.hpp"
#include "tally/pmu/intel/event_select.hpp"
#include "tally/pmu/intel/events.hpp"

namespace tally::lab {
namespace {

using pmu::Severity;

constexpr std::size_t place_width = 12;
constexpr std::size_t text_width = 96;

std::optional<pmu::Place> place_of(std::uint32_t index) {
  const auto place = pmu::find_register(fmt::format("{:#x}", index), &pmu::intel_model);
  if (!place || place->reg->space != pmu::Space::msr) return std::nullopt;
  return *place;
}

std::string row(const Machine& machine, const Entry& entry, const std::string& text) {
  return fmt::format("{:<{}} {}\n", machine.image().place(entry.address), place_width, text);
}

// What a counter counts now, in words.
std::string event_of(int number, const pmu::emulated::IntelPmu& pmu) {
  static constexpr const char* fixed[] = {"instructions retired", "core cycles", "reference cycles", "slots"};
  if (number >= 32) return fixed[number - 32];
  const auto answer = pmu.read(0x186 + static_cast<std::uint32_t>(number));
  const auto select = pmu::intel::decode_event_select(answer.value);
  if (select.event == 0) return "no event chosen";
  const auto* code = pmu::intel::find_event(select.event, select.umask);
  return code ? std::string(code->name) : fmt::format("event {:02X}H/{:02X}H", select.event, select.umask);
}

std::string counters_text(const Machine& machine, bool with_zeros) {
  std::string text;
  const auto& pmu = machine.pmu();
  for (const int number : counter_numbers(pmu.profile())) {
    const std::uint64_t value = pmu.counter(number);
    const bool runs = pmu.is_counting(number, 0) || pmu.is_counting(number, 3);
    if (value == 0 && !runs && !with_zeros) continue;
    text += fmt::format("  {:<16} {:>20}  {:>14}  {}{}\n", pmu::emulated::counter_name(number),
                        thousands(static_cast<std::int64_t>(value)), fmt::format("{:X}H", value), event_of(number, pmu),
                        runs ? "" : ", stopped");
  }
  return text;
}

}  // namespace

std::string headline(const pmu::emulated::Profile& profile) {
  return fmt::format(
      "{}, emulated: {}\n"
      "model: a cycle an instruction, 3 a multiplication; 8 MiB of line tags; 2-bit branch prediction\n\n",
      profile.name, profile.title);
}

std::string register_name(std::uint32_t index, int version) {
  const auto place = place_of(index);
  // As the manuals call it up to version 3.
  if (index == 0x390 && version < 4) return "IA32_PERF_GLOBAL_OVF_CTRL";
  return place ? pmu::name(*place) : fmt::format("MSR {:X}H", index);
}

std::string rdpmc_name(std::uint32_t ecx) {
  if (ecx >> 16 == 0x4000) return fmt::format("IA32_FIXED_CTR{}", ecx & 0xFFFF);
  if (ecx >> 16 == 0x2000) return "PERF_METRICS";
  return fmt::format("IA32_PMC{}", ecx);
}

std::string meaning_of(std::uint32_t index, std::uint64_t value, int version) {
  const auto place = place_of(index);
  if (!place) return {};
  const pmu::Value read{*place, value, version};
  if (place->reg->summary) return place->reg->summary(read);
  std::vector<std::string> set;
  for (const pmu::Slot& slot : pmu::slots(*place->reg, version)) {
    if (slot.of(value) == 0) continue;
    if (slot.field->show == pmu::Show::flag) {
      set.push_back(slot.name());
    } else if (const std::string text = pmu::reading(read, slot); !text.empty()) {
      set.push_back(text);
    }
  }
  return join(set, ", ");
}

std::string meaning_of(const Entry& entry, int version) {
  const bool is_counter = entry.kind == Entry::Kind::write && entry.number >= 0xC1 && entry.number < 0xC9;
  return meaning_of(entry.number, is_counter ? entry.kept : entry.value, version);
}

std::string remarks_text(const std::vector<pmu::Remark>& remarks, bool with_notes, std::string_view indent) {
  std::string text;
  for (const pmu::Remark& remark : remarks) {
    if (remark.severity == Severity::note && !with_notes) continue;
    const char* const mark = remark.severity == Severity::wrong     ? "!! "
                             : remark.severity == Severity::caution ? "!  "
                                                                    : "-  ";
    bool first = true;
    for (const std::string& line : wrapped(remark.text, text_width - indent.size())) {
      text += fmt::format("{}{}{}\n", indent, first ? mark : "   ", line);
      first = false;
    }
  }
  return text;
}

std::string told(const Entry& entry, const Machine& machine, const Telling& telling) {
  if (entry.kind == Entry::Kind::output)
    return telling.quiet ? entry.text
                         : fmt::format("{:<{}} | {}", "", place_width,
                                       entry.text.ends_with('\n') ? entry.text : entry.text + "\n");
  if (telling.quiet) return {};
  const int version = machine.pmu().profile().version;
  const std::string indent(place_width + 3, ' ');
  switch (entry.kind) {
    case Entry::Kind::write: {
      std::string text = fmt::format("WRMSR {} = {:#x}", register_name(entry.number, version), entry.value);
      if (entry.number == 0x834) text = fmt::format("LVT_PERFMON = {:#x}", entry.value);
      if (!entry.text.empty()) return row(machine, entry, text + "  #GP(0): " + entry.text);
      if (const std::string meaning = meaning_of(entry, version); !meaning.empty()) text += ": " + meaning;
      return row(machine, entry, text) + remarks_text(entry.remarks, telling.explains, indent);
    }
    case Entry::Kind::read:
      return row(machine, entry, fmt::format("RDMSR {} -> {:#x}", register_name(entry.number, version), entry.value)) +
             remarks_text(entry.remarks, telling.explains, indent);
    case Entry::Kind::rdpmc:
      if (!entry.text.empty()) return row(machine, entry, "RDPMC  #GP(0): " + entry.text);
      return row(machine, entry,
                 fmt::format("RDPMC {} -> {} ({:X}H)", rdpmc_name(entry.number),
                             thousands(static_cast<std::int64_t>(entry.value)), entry.value));
    case Entry::Kind::overflow:
      return row(machine, entry, fmt::format("{} overflows: {}", entry.text, machine.instruction_text(entry.address)));
    case Entry::Kind::pmi: return row(machine, entry, "PMI " + entry.text);
    case Entry::Kind::frozen:
      return row(machine, entry,
                 version >= 4 ? "the counters freeze: IA32_PERF_GLOBAL_STATUS[59] is set"
                              : "the counters freeze: IA32_PERF_GLOBAL_CTRL is 0");
    case Entry::Kind::enter:
      return row(machine, entry,
                 fmt::format("vector {:X}H is taken before this instruction, at CPL {} ({})", entry.number, entry.cpl,
                             entry.text));
    case Entry::Kind::leave: return row(machine, entry, "IRET") + remarks_text(entry.remarks, telling.explains, indent);
    case Entry::Kind::breakpoint:
      return row(machine, entry, "breakpoint: " + machine.instruction_text(entry.address)) + registers_text(machine) +
             counters_text(machine, false);
    case Entry::Kind::step: {
      std::string changes;
      for (const auto& [name, value] : entry.changed) changes += fmt::format("{}={:X}H ", name, value);
      if (!changes.empty()) changes = fmt::format("{:{}}{}\n", "", place_width + 3, trimmed(changes));
      std::string text = entry.counters.empty() ? entry.text : fmt::format("{:<32}", entry.text);
      for (const auto& [name, value] : entry.counters) text += fmt::format("  {}={}", name.substr(5), value);
      return changes + row(machine, entry, text);
    }
    default: break;
  }
  return {};
}

std::string registers_text(const Machine& machine) {
  std::string text;
  int column = 0;
  for (const auto& [name, value] : machine.registers()) {
    text += fmt::format("  {:<6} {:>16X}", name, value);
    if (++column % 4 == 0) text += "\n";
  }
  return column % 4 == 0 ? text : text + "\n";
}

std::string ending(const End& end, const Machine& machine, const Telling& telling) {
  if (telling.quiet) return {};
  std::string text = fmt::format("\n{} {}, after {} instructions\n", end.message,
                                 end.is_error() ? "" : "at " + machine.image().place(end.address),
                                 thousands(static_cast<std::int64_t>(machine.instructions())));
  if (end.is_error()) text = registers_text(machine);
  const std::string counters = counters_text(machine, false);
  return counters.empty() ? text : text + "\n" + counters;
}

std::string drawings(const Machine& machine) {
  std::string text;
  const auto& pmu = machine.pmu();
  for (const pmu::Place& place : pmu::places(pmu::intel_model)) {
    if (place.reg->space != pmu::Space::msr || !pmu::emulated::exists(pmu.profile(), place)) continue;
    const auto index =
        static_cast<std::uint32_t>(place.reg->number) + static_cast<std::uint32_t>(place.index * place.reg->stride);
    // The same counters again, and what is no register of the PMU.
    if (place.reg->needs == pmu::Feature::full_width || index == 0xCE || index == 0x1A0) continue;
    const auto answer = pmu.read(index);
    if (!answer) continue;
    text += fmt::format("\n{} ({}) = {:#x}\n{}", pmu::name(place), pmu::address(place), answer.value,
                        pmu::draw({place, answer.value, pmu.profile().version}));
    if (const std::string meaning = meaning_of(index, answer.value, pmu.profile().version); !meaning.empty()) {
      text += "  " + meaning + "\n";
    }
  }
  return text;
}

}  // namespace tally::lab
