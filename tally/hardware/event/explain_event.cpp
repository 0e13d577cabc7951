#include "tally/hardware/event/explain_event.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "tally/core/base/text.hpp"
#include "tally/hardware/event/codes.hpp"
#include "tally/hardware/event/fixed_counters.hpp"
#include "tally/hardware/event/perf_names.hpp"
#include "tally/hardware/pmu/apple/apple_events.hpp"
#include "tally/hardware/pmu/intel/event_select.hpp"

namespace tally::event {
namespace {

bool wants(const Event& event, Mode mode) { return event.mode == mode || event.mode == Mode::both; }

// The register value that the kernel writes to count this event.
Selector x86_selector(const Event& event, const Encoding& encoding) {
  auto select = pmu::intel::decode_event_select(encoding.config);
  select.usr = wants(event, Mode::user);
  select.os = wants(event, Mode::kernel);
  select.enable = true;
  Selector made{is_amd(encoding.family) ? "PERF_CTLx" : "IA32_PERFEVTSELx", encode(select), {}};
  for (const pmu::Field& field : pmu::intel::event_select_fields) {
    const std::uint64_t value = pmu::extract(field, made.value);
    const bool always = field.lsb <= 24 && field.name != "PC" && field.name != "ANY";
    if (value == 0 && !always) continue;
    made.fields.push_back(
        {std::string(field.name), field.lsb + field.width - 1, field.lsb, value, std::string(field.text)});
  }
  if (is_amd(encoding.family)) {
    // AMD's event select continues in bits 35:32, which Intel uses for transactions and records.
    std::erase_if(made.fields, [](const FieldValue& field) { return field.lsb >= 32; });
    if (const std::uint64_t high = made.value >> 32 & 0xF)
      made.fields.push_back({"event[11:8]", 35, 32, high, "event select, upper part"});
  }
  return made;
}

// Intel SDM vol. 3B, IA32_FIXED_CTR_CTRL: four bits per fixed counter; the lower two select its modes.
Selector fixed_selector(const Event& event, int counter) {
  const int lsb = 4 * counter;
  const bool user = wants(event, Mode::user), kernel = wants(event, Mode::kernel);
  return {"IA32_FIXED_CTR_CTRL",
          (std::uint64_t{user} << 1 | std::uint64_t{kernel}) << lsb,
          {{"OS", lsb, lsb, kernel, fmt::format("fixed counter {} counts at CPL 0 (kernel mode)", counter)},
           {"USR", lsb + 1, lsb + 1, user, fmt::format("fixed counter {} counts at CPL 1 to 3 (user mode)", counter)}}};
}

// Source: Arm ARM, PMEVTYPER<n>_EL0: P and U exclude a mode.
Selector arm_selector(const Event& event, const Encoding& encoding) {
  Selector made{"PMEVTYPERn_EL0", encoding.config & 0xFFFF, {}};
  const bool no_kernel = !wants(event, Mode::kernel);
  const bool no_user = !wants(event, Mode::user);
  made.value |= std::uint64_t{no_kernel} << 31 | std::uint64_t{no_user} << 30;
  made.fields.push_back({"evtCount", 15, 0, encoding.config & 0xFFFF, "event"});
  made.fields.push_back({"P", 31, 31, no_kernel, "does not count EL1"});
  made.fields.push_back({"U", 30, 30, no_user, "does not count EL0"});
  return made;
}

Selector apple_selector(const Encoding& encoding) {
  return {"PMESR0_EL1 (PMC2 to 5), PMESR1_EL1 (PMC6 to 9)",
          encoding.config & 0xFF,
          {{"PMCn", 7, 0, encoding.config & 0xFF, "event, at bit 8 * ((n - 2) mod 4); PMCR1_EL1 selects the modes"}}};
}

std::optional<Selector> selector_of(const Event& event, const Encoding& encoding) {
  if (const FixedEvent* const fixed = fixed_event(encoding)) return fixed_selector(event, fixed->counter);
  if (is_x86(encoding.family)) return x86_selector(event, encoding);
  if (encoding.family == Family::arm) return arm_selector(event, encoding);
  if (encoding.family == Family::apple) return apple_selector(encoding);
  return std::nullopt;
}

std::string counter_list(std::uint16_t counters) {
  std::vector<std::string> names;
  for (int i = 0; i < 10; ++i) {
    if (counters & 1U << i) names.push_back(fmt::format("PMC{}", i));
  }
  return join(names, ", ");
}

std::string apple_counters(unsigned code) {
  const pmu::apple::Event* line = pmu::apple::find_event(static_cast<std::uint8_t>(code));
  std::string text = counter_list(line ? line->counters : pmu::apple::any_counter);
  if (line && line->observed) text += fmt::format(" (Linux); {} (others)", counter_list(line->observed));
  return text;
}

std::string x86_counters(const Event& event, const Encoding& encoding) {
  if (const FixedEvent* const fixed = fixed_event(encoding)) {
    return fmt::format("fixed counter {} only, because of event code 0; requested from the kernel as config 0x{:x}",
                       fixed->counter, fixed->kernel_config);
  }
  std::string text;
  if (!is_amd(encoding.family) && !is_conditional(encoding)) {
    if (event.id == Id::instructions) text = "fixed counter 0; ";
    if (event.id == Id::cycles) text = "fixed counter 1; ";
    if (event.id == Id::ref_cycles) text = "fixed counter 2; ";
  }
  if (encoding.config >> 33 & 1 && !is_amd(encoding.family)) return "programmable counter 2 only (IN_TXCP)";
  const pfm::Pmu* pmu = pfm::find_pmu(encoding.pmu);
  text +=
      pmu ? fmt::format("the programmable counters ({} on {})", pmu->counters, pmu->name) : "the programmable counters";
  return text + "; a few events need a specific one, which neither the kernel nor libpfm4 reports";
}

std::string counters_of(const Event& event, const std::optional<Encoding>& encoding) {
  if (encoding && encoding->family == Family::apple)
    return apple_counters(static_cast<unsigned>(encoding->config & 0xFF));
  if (encoding && encoding->family == Family::arm)
    return encoding->config == 0x11 ? "the cycle counter, or any event counter" : "any event counter";
  if (encoding && is_x86(encoding->family)) return x86_counters(event, *encoding);
  return "";
}

void add_name(std::vector<Named>& all, const std::string& name, const std::string& pmu) {
  auto at = std::find_if(all.begin(), all.end(), [&](const Named& one) { return one.name == name; });
  if (at == all.end()) at = all.insert(at, {name, {}});
  if (std::find(at->pmus.begin(), at->pmus.end(), pmu) == at->pmus.end()) at->pmus.push_back(pmu);
}

// Finds the processors that have exactly this code.
std::vector<Named> processors_of_code(const Encoding& encoding) {
  std::vector<Named> all;
  for (const pfm::Pmu& pmu : pfm::pmus()) {
    if (is_x86(pmu.family) != is_x86(encoding.family)) continue;
    Encoding there = encoding;
    there.family = pmu.family;
    for (const pfm::Name& one : pfm::names(pmu)) {
      if (one.event == event_code(there) && one.umask == (there.config >> 8 & 0xFFFFFF))
        add_name(all, one.name, pmu.name);
    }
  }
  return all;
}

// A code without a unit mask may also be one of Apple's, which have none.
void add_apples(std::vector<Named>& all, const Encoding& encoding) {
  if (encoding.config > 0xFF || !encoding.pmu.empty()) return;
  const pmu::apple::Event* const line = pmu::apple::find_event(static_cast<std::uint8_t>(encoding.config));
  if (line == nullptr) return;
  const std::string_view name = line->linux_name.empty() ? line->framework_name : line->linux_name;
  add_name(all, "apple_m1::" + split(name, ' ').front(), "apple_m1");
}

// Finds the codes of a generic event.
std::vector<Named> processors_of_id(Id id) {
  std::vector<Named> all;
  for (const KnownCode& line : known_codes()) {
    if (line.id != id) continue;
    for (int family = 1; family <= static_cast<int>(Family::amd_zen); ++family) {
      if (!(line.families & 1U << family)) continue;
      const Encoding encoding{static_cast<Family>(family), "", {}, line.event | std::uint64_t{line.umask} << 8, 0, 0};
      add_name(all, fmt::format("{} {}", maker(encoding.family), code_text(encoding)), std::string(line.name));
    }
  }
  return all;
}

// "a cycle in which at least 2 …": goes before the description of the event without the condition.
std::string condition(const Encoding& encoding) {
  const auto select = pmu::intel::decode_event_select(encoding.config);
  std::string text;
  if (select.cmask > 0) {
    text = fmt::format("a cycle with {} {} of: ", select.invert ? "fewer than" : "at least", select.cmask);
    if (select.edge) text = "the beginning of " + text;
  } else if (select.edge) {
    text = "the beginning of: ";
  }
  if (select.in_tx && !is_amd(encoding.family)) text += "inside transactions, ";
  return text;
}

std::string what_without_condition(const Event& event) {
  const Encoding* encoding = event.encoding ? &*event.encoding : nullptr;
  if (encoding && encoding->family == Family::apple) {
    const pmu::apple::Event* line = pmu::apple::find_event(static_cast<std::uint8_t>(encoding->config));
    return line ? std::string(line->what) : "";
  }
  if (event.id != Id::code) return std::string(definition(event.id).what);
  if (!encoding) return "";
  // The vendor's description, from the requested PMU or else from the first one that has the code.
  for (const pfm::Pmu& pmu : pfm::pmus()) {
    if (pfm::find_pmu(encoding->pmu) ? pmu.name != encoding->pmu : pmu.family != encoding->family) continue;
    for (const pfm::Name& name : pfm::names(pmu)) {
      if (name.event == event_code(*encoding) && name.umask == unit_mask(*encoding)) return name.what;
    }
  }
  return "";
}

std::string what_of(const Event& event) {
  std::string what = what_without_condition(event);
  if (what.empty() || !event.encoding || !is_conditional(*event.encoding)) return what;
  return condition(*event.encoding) + what;
}

std::vector<std::string> names_of(const Event& event) {
  std::vector<std::string> names;
  if (event.encoding && event.encoding->family == Family::apple) {
    if (const auto* line = pmu::apple::find_event(static_cast<std::uint8_t>(event.encoding->config))) {
      if (!line->linux_name.empty()) names.push_back(fmt::format("{} (Linux)", line->linux_name));
      for (const std::string& word : split(line->framework_name, ' ')) {
        if (!word.empty()) names.push_back(fmt::format("{} (M1 PMU framework)", word));
      }
    }
    return names;
  }
  if (event.id == Id::code) return names;
  for (const Alias& alias : aliases()) {
    if (alias.id == event.id) names.push_back(fmt::format("{} ({})", alias.name, alias.of));
  }
  return names;
}

std::string perf_text(const Event& event, const Encoding& encoding) {
  const std::string_view letters = suffix(event.mode).substr(1);
  if (!encoding.type && encoding.family != Family::none && is_x86(encoding.family))
    return fmt::format("r{:04x}:{}", encoding.config, letters);
  if (encoding.type == perf_type_raw && encoding.config1 == 0)
    return fmt::format("r{:04x}:{}", encoding.config, letters);
  return "";
}

}  // namespace

Explanation explain(const Event& event) {
  Explanation made;
  made.event = event;
  made.what = what_of(event);
  made.repeats = class_of(event);
  made.other_names = names_of(event);
  made.pitfalls = pitfalls(event);
  made.perf = event.encoding ? event.encoding : kernel_number(event.id);
  made.counters = counters_of(event, event.encoding);
  if (!event.encoding) {
    made.processors = processors_of_id(event.id);
    return made;
  }
  const Encoding& encoding = *event.encoding;
  if (const auto line = known_code(encoding)) {
    made.maker_name =
        fmt::format("{} {}{}", maker(encoding.family), line->name, is_conditional(encoding) ? ", with conditions" : "");
  }
  // Core PMUs of other processors are requested with that machine's raw type.
  if (is_x86(encoding.family) && !made.perf->type) made.perf->type = perf_type_raw;
  made.perf->config = kernel_config(encoding);
  made.perf_text = perf_text(event, *made.perf);
  made.selector = selector_of(event, encoding);
  if (is_x86(encoding.family) && fixed_event(encoding) == nullptr) {
    made.processors = processors_of_code(encoding);
    add_apples(made.processors, encoding);
  }
  return made;
}

}  // namespace tally::event
