#include "programs/lab/story.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "programs/register/pmu/draw.hpp"
#include "tally/core/base/text.hpp"

namespace tally::lab {
namespace {

using pmu::Severity;

constexpr std::size_t place_width = 12;
constexpr std::size_t text_width = 96;

std::string row(const Computer& machine, const Entry& entry, const std::string& text) {
  return fmt::format("{:<{}} {}\n", machine.image().place(entry.address), place_width, text);
}

std::string counters_text(const Computer& machine, bool with_zeros) {
  std::string text;
  for (const CounterState& one : machine.counters()) {
    if ((one.value == 0 || !one.is_known) && !one.runs && !with_zeros) continue;
    text += fmt::format("  {:<16} {:>20}  {:>14}  {}{}\n", one.name, thousands(static_cast<std::int64_t>(one.value)),
                        fmt::format("{:X}H", one.value), one.event, one.runs ? "" : ", stopped");
  }
  return text;
}

}  // namespace

std::string short_name(const std::string& name) { return name.starts_with("IA32_") ? name.substr(5) : name; }

std::string model_line(std::uint64_t cache_bytes, std::string_view more) {
  const std::string size = cache_bytes % (1 << 20) == 0 ? fmt::format("{} MiB", cache_bytes >> 20)
                           : cache_bytes % 1024 == 0    ? fmt::format("{} KiB", cache_bytes >> 10)
                                                        : fmt::format("{} bytes", cache_bytes);
  return fmt::format(
      "model: 1 cycle per instruction, 3 per multiplication; {} of line tags; 2-bit branch prediction{}\n\n", size,
      more);
}

std::string meaning_of(const pmu::Value& read) {
  const pmu::Register& reg = *read.place.reg;
  if (reg.summary) return reg.summary(read);
  std::vector<std::string> set;
  for (const pmu::Slot& slot : pmu::slots(reg, read.version)) {
    if (slot.of(read.bits) == 0) continue;
    if (slot.field->show == pmu::Show::flag) {
      set.push_back(slot.name());
    } else if (const std::string text = pmu::reading(read, slot); !text.empty()) {
      // Counters with the same event are described once.
      if (std::find(set.begin(), set.end(), text) == set.end()) set.push_back(text);
    }
  }
  return join(set, ", ");
}

std::string drawn(const pmu::Value& value) {
  std::string text = fmt::format("\n{} ({}) = {:#x}\n{}", pmu::name(value.place), pmu::address(value.place), value.bits,
                                 pmu::draw(value));
  if (const std::string meaning = meaning_of(value); !meaning.empty()) text += "  " + meaning + "\n";
  return text;
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

std::string entry_text(const Entry& entry, const Computer& machine, const Telling& telling) {
  if (entry.kind == Entry::Kind::output)
    return telling.quiet ? entry.text
                         : fmt::format("{:<{}} | {}", "", place_width,
                                       entry.text.ends_with('\n') ? entry.text : entry.text + "\n");
  if (telling.quiet) return {};
  const std::string indent(place_width + 3, ' ');
  const std::string refused = fmt::format("  {}: {}", machine.refusal(), entry.text);
  switch (entry.kind) {
    case Entry::Kind::write: {
      std::string text = machine.words(entry);
      if (!entry.text.empty()) return row(machine, entry, text + refused);
      if (const std::string meaning = machine.meaning(entry); !meaning.empty()) text += ": " + meaning;
      return row(machine, entry, text) + remarks_text(entry.remarks, telling.explains, indent);
    }
    case Entry::Kind::rdpmc: return row(machine, entry, machine.words(entry) + (entry.text.empty() ? "" : refused));
    case Entry::Kind::overflow:
      return row(machine, entry, fmt::format("{} overflows: {}", entry.text, machine.instruction_text(entry.address)));
    case Entry::Kind::pmi: return row(machine, entry, "PMI " + entry.text);
    case Entry::Kind::frozen:
    case Entry::Kind::record:
    case Entry::Kind::enter:
    case Entry::Kind::read:
    case Entry::Kind::leave:
      return row(machine, entry, machine.words(entry)) + remarks_text(entry.remarks, telling.explains, indent);
    case Entry::Kind::breakpoint:
      return row(machine, entry, "breakpoint: " + machine.instruction_text(entry.address)) + registers_text(machine) +
             counters_text(machine, false);
    case Entry::Kind::step: {
      std::string changes;
      for (const auto& [name, value] : entry.changed) changes += fmt::format("{}={:X}H ", name, value);
      if (!changes.empty()) changes = fmt::format("{:{}}{}\n", "", place_width + 3, trimmed(changes));
      std::string text = entry.counters.empty() ? entry.text : fmt::format("{:<32}", entry.text);
      for (const auto& [name, value] : entry.counters) text += fmt::format("  {}={}", short_name(name), value);
      return changes + row(machine, entry, text);
    }
    default: break;
  }
  return {};
}

std::string registers_text(const Computer& machine) {
  std::string text;
  int column = 0;
  for (const auto& [name, value] : machine.registers()) {
    text += fmt::format("  {:<6} {:>16X}", name, value);
    if (++column % 4 == 0) text += "\n";
  }
  return column % 4 == 0 ? text : text + "\n";
}

std::string ending(const End& end, const Computer& machine, const Telling& telling) {
  if (telling.quiet) return {};
  std::string text = fmt::format("\n{} {}, after {} instructions\n", end.message,
                                 end.is_error() ? "" : "at " + machine.image().place(end.address),
                                 thousands(static_cast<std::int64_t>(machine.instructions())));
  if (end.is_error()) text = registers_text(machine);
  const std::string counters = counters_text(machine, false);
  return counters.empty() ? text : text + "\n" + counters;
}

}  // namespace tally::lab
