#include "programs/lab/arm/arm_lint.hpp"

#include <fmt/format.h>

#include "programs/lab/arm/pmu_registers.hpp"
#include "programs/register/pmu/codec.hpp"

namespace tally::lab::arm {
namespace {

using pmu::Remark;
using pmu::Severity;
using pmu::system_register;

constexpr pmu::Source monitors{"Arm ARM (DDI 0487)", "The Performance Monitors Extension"};
constexpr pmu::Source asahi{"Asahi Linux documentation", "HW: ARM System Registers"};

constexpr std::uint64_t enable_clear = system_register(3, 3, 9, 12, 2);
constexpr std::uint64_t overflow_clear = system_register(3, 3, 9, 12, 3);
constexpr std::uint64_t interrupt_clear = system_register(3, 0, 9, 14, 2);
constexpr std::uint64_t cycle_filter = system_register(3, 3, 14, 15, 7);
constexpr std::uint64_t interrupt_set = system_register(3, 0, 9, 14, 1);
constexpr std::uint64_t selected_type = system_register(3, 3, 9, 13, 1);
constexpr int most = 31;

void say(std::vector<Remark>& remarks, Severity severity, std::string text, const pmu::Source& source) {
  remarks.push_back({severity, std::move(text), source});
}

// Returns the remark about an event that the core does not model.
std::string absent(const Core& core, std::uint32_t event) {
  const std::string_view why = core.why_absent(event);
  return fmt::format("the lab does not model event {:02X}H: it counts 0 here{}{}", event, why.empty() ? "" : ". ", why);
}

}  // namespace

// After reset the architecture defines only that PMCR_EL0.E is 0.
void Linter::written_pmuv3(const Entry& entry, const Core& core, std::vector<Remark>& remarks) {
  const std::uint64_t number = entry.number;
  const bool by_selection = written_.contains(selected_type);
  const auto counters = core.counters();  // the cycle counter first
  if (number == pmcntenset) {
    std::uint64_t unknown_type = 0, unknown_count = 0;
    for (int i = 0; i < core.profile().counters; ++i) {
      if ((entry.value >> i & 1) == 0) continue;
      if (!written_.contains(first_pmevtyper + static_cast<std::uint64_t>(i)) && !by_selection)
        unknown_type |= 1ULL << i;
      if (!counters[static_cast<std::size_t>(i) + 1].is_known) unknown_count |= 1ULL << i;
    }
    if (unknown_type != 0) {
      say(remarks, Severity::caution,
          fmt::format("counter {} is enabled before its event was chosen: after reset PMEVTYPER is unknown",
                      pmu::ranges(unknown_type)),
          monitors);
    }
    if (unknown_count != 0) {
      say(remarks, Severity::note,
          fmt::format("counter {} continues from an unknown reset value: PMCR_EL0.P zeroes event counters",
                      pmu::ranges(unknown_count)),
          monitors);
    }
    if ((entry.value >> 31 & 1) != 0 && !written_.contains(cycle_filter)) {
      say(remarks, Severity::caution,
          "the cycle counter is enabled, but PMCCFILTR_EL0 is unknown after reset: it may count at no level", monitors);
    }
    if ((entry.value >> 31 & 1) != 0 && !counters.front().is_known) {
      say(remarks, Severity::note, "the cycle counter continues from an unknown reset value: PMCR_EL0.C zeroes it",
          monitors);
    }
  } else if (number == pmcr && (entry.value & 1) != 0 && !written_.contains(pmcntenset) &&
             !written_.contains(enable_clear)) {
    say(remarks, Severity::note,
        "which counters are enabled is unknown after reset: a write of all ones to PMCNTENCLR_EL0 disables them all",
        monitors);
  } else if (number == pmcr && (entry.value & 1) != 0 && !written_.contains(interrupt_clear)) {
    say(remarks, Severity::caution,
        "which counters interrupt, and which have overflowed, is unknown after reset: write all ones to "
        "PMINTENCLR_EL1 and PMOVSCLR_EL0 before",
        monitors);
  } else if (number == interrupt_set && entry.value != 0 && !written_.contains(overflow_clear)) {
    say(remarks, Severity::caution,
        "overflow flags are unknown after reset, and one that is set interrupts at once: clear them by PMOVSCLR_EL0 "
        "before",
        monitors);
  } else if (number >= first_pmevtyper && number < first_pmevtyper + most) {
    const auto counter = static_cast<std::size_t>(number - first_pmevtyper);
    const std::uint32_t event = entry.value & 0x3FF;
    if (counter + 1 >= counters.size()) {
      say(remarks, Severity::caution, fmt::format("there is no counter {}: the write has no effect", counter),
          monitors);
    } else if (counters[counter + 1].runs && written_.contains(number)) {
      say(remarks, Severity::caution, "the event was changed while the counter ran: it holds counts of the old one too",
          monitors);
    }
    if (!core.models(event)) {
      say(remarks, Severity::caution, absent(core, event), monitors);
    }
  }
}

void Linter::written_apple(const Entry& entry, const Core& core, std::vector<Remark>& remarks) {
  const std::string name = core.place_of(entry.number) ? pmu::name(*core.place_of(entry.number)) : "";
  if (name == "PMESR0_EL1" || name == "PMESR1_EL1") {
    for (int i = 0; i < 4; ++i) {
      const auto code = static_cast<std::uint8_t>(entry.value >> (8 * i));
      if (code == 0 || core.models(code)) continue;
      say(remarks, Severity::caution, absent(core, code), asahi);
    }
  } else if (name == "PMCR0_EL1") {
    constexpr std::uint64_t pmi = 1, aic = 2;
    const std::uint64_t mode = entry.value >> 8 & 7;
    if (mode == pmi || mode == aic) {
      say(remarks, Severity::caution,
          fmt::format(
              "mode {} interrupts by the interrupt controller, which the lab does not have: nothing arrives here. "
              "Mode FIQ (4) does",
              mode == pmi ? "PMI" : "AIC"),
          asahi);
    }
    std::uint64_t on = entry.value & 0xFF;
    on |= (entry.value >> 32 & 3) << 8;
    std::uint64_t nowhere = 0;
    for (const CounterState& one : core.counters()) {
      const int number = std::stoi(one.name.substr(3));
      if ((on >> number & 1) != 0 && !one.runs) nowhere |= 1ULL << number;
    }
    if (nowhere != 0) {
      say(remarks, Severity::note,
          fmt::format("PMC {} {} on, but PMCR1_EL1 enables no level: {} not count", pmu::ranges(nowhere),
                      (nowhere & (nowhere - 1)) == 0 ? "is" : "are",
                      (nowhere & (nowhere - 1)) == 0 ? "it does" : "they do"),
          asahi);
    }
  }
}

std::vector<Remark> Linter::check(const Entry& entry, const Core& core) {
  std::vector<Remark> remarks;
  if (entry.kind == Entry::Kind::write && entry.text.empty()) {
    if (core.profile().model == &pmu::arm_model) {
      written_pmuv3(entry, core, remarks);
    } else {
      written_apple(entry, core, remarks);
    }
    written_.insert(entry.number);
  }
  if (entry.kind == Entry::Kind::enter && entry.number != 0) in_handler_ = true;
  if (entry.kind == Entry::Kind::leave && in_handler_) {
    in_handler_ = false;
    if (core.line() == Line::irq) {
      say(remarks, Severity::caution,
          "the handler returns with an overflow flag set: the line is a level, so the interrupt comes again at once",
          monitors);
    } else if (core.line() == Line::fiq) {
      say(remarks, Severity::caution, "the handler returns with IACT set: the interrupt comes again at once", asahi);
    } else if (core.profile().model == &pmu::apple_model && core.overflows() != 0) {
      say(remarks, Severity::note,
          fmt::format("the handler returns with bit 47 of PMC {} set: it interrupts again with the next count",
                      pmu::ranges(core.overflows())),
          asahi);
    }
  }
  return remarks;
}

std::vector<Remark> Linter::at_end(const Core& core, bool is_masked) const {
  std::vector<Remark> remarks;
  if (core.line() != Line::none && is_masked) {
    const bool is_irq = core.line() == Line::irq;
    say(remarks, Severity::caution,
        fmt::format("a pending {} was never taken: PSTATE.{} is 1. Unmask it with msr daifclr, #{}",
                    is_irq ? "IRQ" : "FIQ", is_irq ? "I" : "F", is_irq ? 2 : 1),
        monitors);
  }
  return remarks;
}

}  // namespace tally::lab::arm
