#include "tally/hardware/event/fixed_counters.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "tally/core/base/text.hpp"
#include "tally/hardware/event/modifiers.hpp"
#include "tally/hardware/event/name_sources.hpp"
#include "tally/hardware/event/parsers.hpp"

namespace tally::event {
namespace {

// Names and unit masks: Intel's event tables (intel/perfmon), "Counter": "Fixed counter 0" and so on. Configs: the
// kernel's arch/x86/events/intel/core.c, FIXED_EVENT_CONSTRAINT: 0x00c0 and 0x003c choose fixed counters 0 and 1 on
// every processor; the kernel defines 0x0300 and 0x0400.
constexpr FixedEvent fixed_table[] = {
    {"INST_RETIRED.ANY", 0x01, 0, 0x00C0},      {"CPU_CLK_UNHALTED.THREAD", 0x02, 1, 0x003C},
    {"CPU_CLK_UNHALTED.CORE", 0x02, 1, 0x003C}, {"CPU_CLK_UNHALTED.REF_TSC", 0x03, 2, 0x0300},
    {"TOPDOWN.SLOTS", 0x04, 3, 0x0400},
};

}  // namespace

const FixedEvent* fixed_event(const Encoding& encoding) {
  const bool has_fixed = is_x86(encoding.family) && !is_amd(encoding.family) && encoding.family != Family::intel_old;
  if (!has_fixed || event_code(encoding) != 0 || is_conditional(encoding)) return nullptr;
  const auto found = std::find_if(std::begin(fixed_table), std::end(fixed_table),
                                  [&](const FixedEvent& line) { return line.umask == unit_mask(encoding); });
  return found == std::end(fixed_table) ? nullptr : found;
}

const FixedEvent* fixed_event(std::string_view name) {
  std::string with_dots = lower(name);
  std::replace(with_dots.begin(), with_dots.end(), ':', '.');
  const auto found = std::find_if(std::begin(fixed_table), std::end(fixed_table),
                                  [&](const FixedEvent& line) { return lower(line.name) == with_dots; });
  return found == std::end(fixed_table) ? nullptr : found;
}

std::uint64_t kernel_config(const Encoding& encoding) {
  const FixedEvent* const fixed = fixed_event(encoding);
  return fixed == nullptr ? encoding.config : fixed->kernel_config;
}

Parsed parse_fixed_counter_event(std::string_view text, const Sources& sources) {
  // Separates modifiers: "INST_RETIRED:ANY:u".
  std::string_view name = text, modifiers;
  if (const std::size_t colon = text.rfind(':'); colon != std::string_view::npos && colon + 1 < text.size() &&
                                                 text.find_first_not_of("uk", colon + 1) == std::string_view::npos) {
    name = text.substr(0, colon);
    modifiers = text.substr(colon + 1);
  }
  const FixedEvent* const fixed = fixed_event(name);
  if (fixed == nullptr) return std::nullopt;
  Mode mode = Mode::user;
  if (!modifiers.empty()) {
    const auto asked = parse_modifiers(modifiers, text);
    if (!asked) return fail(asked.error());
    mode = *asked;
  }
  const bool is_of_this_processor = !is_amd(own_family(sources));
  const Encoding encoding{Family::intel_core,
                          is_of_this_processor ? "" : "hsw",
                          is_of_this_processor ? std::optional(perf_type_raw) : std::nullopt,
                          std::uint64_t{fixed->umask} << 8,
                          0,
                          0};
  Event event = coded(text, std::string(fixed->name), encoding, mode);
  if (!is_of_this_processor)
    event.notes.push_back(fmt::format("{}: an event of Intel's processors, not of this one", text));
  return event;
}

}  // namespace tally::event
