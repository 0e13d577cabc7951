#include "tally/counting/backend/backend.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "tally/counting/backend/simulation.hpp"
#include "tally/hardware/event/codes.hpp"
#include "tally/hardware/event/pitfalls.hpp"

namespace tally::backend {

namespace {

constexpr const char* needs_pmu = "needs a PMU: the engine has no model of it";
constexpr const char* needs_pmu_or_model =
    "needs a PMU, or on x86-64 the engine with a model: --backend engine --model NAME";

// Events of Intel's processors whose conditions are in a register of their own, by their codes.
struct RegisterEvents {
  std::vector<unsigned> codes;
  const char* what;
};

std::string why_its_register_needs_a_pmu(const event::Encoding& encoding) {
  static const RegisterEvents all[] = {
      {{0xB7, 0xBB, 0x2A, 0x2B}, "requests that leave the core, by kind and answer (MSR_OFFCORE_RSP)"},
      {{0xCD}, "loads that took at least a number of cycles, which PEBS measures (MSR_PEBS_LD_LAT)"},
      {{0xC6}, "instructions by the delay of their fetch, which PEBS measures (MSR_PEBS_FRONTEND)"},
  };
  for (const auto& [codes, what] : all) {
    if (event::is_amd(encoding.family)) break;
    if (std::find(codes.begin(), codes.end(), event::event_code(encoding)) == codes.end()) continue;
    return fmt::format("needs a PMU: it counts {}, and the engine simulates no such thing", what);
  }
  return fmt::format("needs a PMU: the engine does not simulate its further conditions (config1=0x{:x})",
                     encoding.config1);
}

}  // namespace

Error Backend::cannot_attach() const {
  return {Code::cannot_measure,
          fmt::format("`--backend {}` counts only programs that tally starts: it cannot attach to others", name()),
          "start the program with tally; or omit --backend and what needs a model: tally then uses the PMU, or the "
          "kernel's own events if there is none",
          0};
}

std::optional<Error> Backend::refuses_all_but_counts(const Order& order) const {
  const auto refused = [&](const char* what, const char* it) {
    return Error{Code::cannot_measure, fmt::format("`--backend {}` cannot {}", name(), what),
                 fmt::format("omit --backend to let tally choose a backend that supports {}", it), 0};
  };
  if (order.regions() != nullptr) return refused("count regions of a program", "them");
  if (order.windows() != nullptr) return refused("record windows", "them");
  if (order.profile() != nullptr) return refused("count by function, line or instruction", "it");
  return std::nullopt;
}

Outlook outlook_of(const Count& count) { return {count.trust, count.reason, count.source}; }

std::string why_it_needs_a_pmu(const event::Event& event) {
  if (!event.absent.empty()) return event.absent;
  if (event.id != event::Id::code || !event.encoding) return needed_by(event.id).any() ? needs_pmu_or_model : needs_pmu;
  const event::Encoding& encoding = *event.encoding;
  if (event::is_x86(encoding.family) && encoding.config1 != 0) return why_its_register_needs_a_pmu(encoding);
  if (event::is_conditional(encoding)) {
    return "counter masks, inversion and edge detection need a PMU: the engine does not simulate single cycles";
  }
  if (event::is_of_machine(event))
    return fmt::format("{} counts while a program runs natively: `--backend perf -e {}`", encoding.pmu, event.asked);
  if (encoding.family == event::Family::none && !encoding.pmu.empty()) {
    return fmt::format("the engine cannot count events of the PMU {}", encoding.pmu);
  }
  const auto known = event::known_code(encoding);
  if (known) {
    const bool of_buffers = known->name == "MEM_LOAD_UOPS_RETIRED.HIT_LFB";
    return fmt::format("{}'s {} ({}) needs a PMU: the engine has no {}{}{}", event::maker(encoding.family), known->name,
                       event::code_text(encoding), of_buffers ? "fill buffers" : "such event",
                       known->remark.empty() ? "" : "; ", known->remark);
  }
  if (encoding.family == event::Family::apple || encoding.family == event::Family::arm) {
    return fmt::format("needs a PMU of {}'s processors", event::maker(encoding.family));
  }
  return "needs a PMU: the engine has no such event";
}

EventCount event_count(const event::Event& event, Count count) {
  // Only a count that was read from a PMU's counter has a class; a count that is proved by construction has none.
  const bool by_counter = count.reading && event::has_modes(event::definition(event.id).kind);
  return {event.asked, event::event_name(event), event::unit_of(event), std::move(count),
          by_counter ? std::string(event::name(event::class_of(event))) : ""};
}

}  // namespace tally::backend
