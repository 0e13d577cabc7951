#include "programs/lab/x86_lint.hpp"

#include <fmt/format.h>

#include <bit>
#include <utility>

#include "tally/hardware/pmu/intel/event_select.hpp"

namespace tally::lab {
namespace {

using pmu::Remark;
using pmu::Severity;
using pmu::emulated::IntelPmu;

constexpr pmu::Source sdm{"Intel SDM vol. 3B", "Architectural Performance Monitoring"};
constexpr pmu::Source pebs{"Intel SDM vol. 3B", "Processor Event Based Sampling (PEBS) Facility"};
constexpr pmu::Source apic{"Intel SDM vol. 3A", "Local Vector Table"};

void say(std::vector<Remark>& remarks, Severity severity, std::string text, const pmu::Source& source = sdm) {
  remarks.push_back({severity, std::move(text), source});
}

constexpr std::uint32_t pebs_enable = 0x3F1, ds_area = 0x600;

std::uint64_t status_of(const IntelPmu& pmu) { return pmu.read(0x38E).value; }

// Whether an interrupt is in service.
bool serves(const IntelPmu& pmu) {
  std::uint32_t vectors = 0;
  for (int word = 0; word < 8; ++word) vectors |= pmu.apic().in_service(word);
  return vectors != 0;
}

// Of the counters, and of the DS buffer.
constexpr std::uint64_t overflow_bits = 0xFFFF'FFFF'FFFF | 1ULL << 62;

// Says what is wrong with a counter that writes PEBS records.
void check_pebs_counter(int number, std::uint64_t control, std::vector<Remark>& remarks) {
  const auto select = pmu::intel::decode_event_select(control);
  if (select.event == 0) return;
  if (!pmu::emulated::is_precise(pmu::emulated::signal_of(select.event, select.umask))) {
    say(remarks, Severity::caution,
        fmt::format("counter {} writes no PEBS records: event {:02X}H/{:02X}H does not belong to an instruction",
                    number, select.event, select.umask),
        pebs);
  } else if (select.interrupt) {
    say(remarks, Severity::note,
        fmt::format(
            "INT of counter {} interrupts at each overflow, before its PEBS record; the threshold of the buffer "
            "interrupts without it",
            number),
        pebs);
  }
}

void check_record(const pmu::emulated::PebsRecord& record, const IntelPmu& pmu, std::vector<Remark>& remarks) {
  using Outcome = pmu::emulated::PebsRecord::Outcome;
  if (record.outcome == Outcome::stored) return;
  const std::string_view why =
      pmu.read(ds_area).value == 0 ? "IA32_DS_AREA is 0. Write the address of the DS buffer management area to 600H"
      : record.outcome == Outcome::no_area ? "no memory is mapped at IA32_DS_AREA. Write the address of the DS buffer "
                                             "management area to 600H"
      : record.outcome == Outcome::no_buffer
          ? "no memory is mapped there. Correct the PEBS buffer in the DS area"
          : "it does not fit between the PEBS base and the absolute maximum of the DS "
            "area. The handler of the threshold writes the base to the index";
  say(remarks, Severity::caution, fmt::format("the record is lost, and the counter is not reloaded: {}", why), pebs);
}

}  // namespace

void Linter::written(const Entry& entry, const IntelPmu& pmu, std::vector<Remark>& remarks) {
  const std::uint32_t index = entry.number;
  if (!entry.text.empty()) return;  // it faulted, which has its own message
  const bool is_masked = (pmu.apic().perfmon_vector() & pmu::emulated::LocalApic::vector_mask) != 0;
  if (index >= 0x186 && index < 0x18E) {
    const auto select = pmu::intel::decode_event_select(entry.value);
    std::uint64_t& before = selects_[index - 0x186];
    const auto old = pmu::intel::decode_event_select(before);
    const int number = static_cast<int>(index - 0x186);
    if (old.enable && select.enable && (old.event != select.event || old.umask != select.umask)) {
      say(remarks, Severity::caution,
          fmt::format("the event was changed while the counter ran: it holds {} of the old event",
                      pmu.counter(number)));
    }
    if (select.enable && !old.enable && pmu.counter(number) != 0 && pmu.counter(number) < 1ULL << 47) {
      say(remarks, Severity::note,
          fmt::format("the counter continues from {}: it was not zeroed", pmu.counter(number)));
    }
    if (select.enable && pmu::emulated::signal_of(select.event, select.umask) == pmu::emulated::Signal::nothing &&
        select.event != 0) {
      say(remarks, Severity::caution,
          fmt::format("the lab does not model event {:02X}H/{:02X}H: it counts 0 here", select.event, select.umask));
    }
    if (select.interrupt && select.enable && is_masked) {
      say(remarks, Severity::caution, "INT is set and LVT_PERFMON is masked (bit 16): its interrupt would be lost",
          apic);
    }
    before = entry.value;
    if (select.enable && pmu.profile().pebs && (pmu.read(pebs_enable).value >> number & 1) != 0) {
      check_pebs_counter(number, entry.value, remarks);
    }
  } else if (index == pebs_enable) {
    for (int i = 0; i < pmu.profile().counters && i < 8; ++i) {
      if ((entry.value >> i & 1) != 0) check_pebs_counter(i, selects_[i], remarks);
    }
    if (entry.value != 0 && pmu.read(ds_area).value == 0) {
      say(remarks, Severity::caution, "IA32_DS_AREA is 0: there is no buffer for PEBS records yet", pebs);
    }
    if (entry.value != 0 && is_masked) {
      say(remarks, Severity::caution,
          "LVT_PERFMON is masked (bit 16): the interrupt at the threshold of the PEBS buffer would be lost", apic);
    }
  } else if (index == 0x38F) {
    for (int i = 0; i < pmu.profile().counters && i < 8; ++i) {
      if ((entry.value >> i & 1) != 0 && selects_[i] == 0) {
        say(remarks, Severity::note,
            fmt::format("counter {} is enabled before its event was chosen: it begins with the write of {:X}H", i,
                        0x186 + i));
      }
    }
    const std::uint64_t fixed = pmu.profile().version >= 2 ? pmu.read(0x38D).value : 0;
    for (int i = 0; i < 4; ++i) {
      if ((entry.value >> (32 + i) & 1) != 0 && (fixed >> (4 * i) & 3) == 0) {
        say(remarks, Severity::note,
            fmt::format("fixed counter {} is enabled here but in no mode by IA32_FIXED_CTR_CTRL: it does not count",
                        i));
      }
    }
  } else if (index == 0x390) {
    const std::uint64_t left = status_of(pmu) & overflow_bits;
    if (left != 0) {
      say(remarks, Severity::caution,
          fmt::format("this write leaves {} {} of IA32_PERF_GLOBAL_STATUS set",
                      std::popcount(left) == 1 ? "bit" : "bits", pmu::ranges(left)));
    }
  } else if (index == 0x38D) {
    bool interrupts = false;
    for (int i = 0; i < 4; ++i) interrupts = interrupts || (entry.value >> (4 * i + 3) & 1) != 0;
    if (interrupts && is_masked) {
      say(remarks, Severity::caution, "PMI is set and LVT_PERFMON is masked (bit 16): the interrupt would be lost",
          apic);
    }
  }
}

void Linter::returned(const IntelPmu& pmu, std::vector<Remark>& remarks) {
  in_handler_ = false;
  if ((pmu.apic().perfmon_vector() & pmu::emulated::LocalApic::vector_mask) != 0) {
    say(remarks, Severity::caution,
        "the handler returns with LVT_PERFMON masked: hardware set bit 16, and no further PMI comes until it is "
        "cleared",
        apic);
  }
  if (serves(pmu)) {
    say(remarks, Severity::caution,
        "the handler returns without an EOI (a write of 0 to FEE000B0H): interrupts of its class stay blocked", apic);
  }
  if (pmu.profile().version >= 2 && (status_of(pmu) & overflow_bits) != 0) {
    // A counter may also overflow while the handler runs. The warning comes once.
    const std::uint64_t stay = status_of(pmu) & overflow_bits & entered_;
    const bool warns = stay != 0 && !std::exchange(warned_, true);
    say(remarks, warns ? Severity::caution : Severity::note,
        fmt::format("the handler returns with overflow bits {} set in IA32_PERF_GLOBAL_STATUS{}",
                    pmu::ranges(status_of(pmu) & overflow_bits),
                    warns ? ", as when it was called: a write to 390H clears them" : ""));
  }
  if (pmu.profile().version >= 2 && pmu.profile().version < 4 && (pmu.read(0x1D9).value >> 12 & 1) != 0 &&
      pmu.read(0x38F).value == 0) {
    say(remarks, Severity::note,
        "IA32_PERF_GLOBAL_CTRL is 0, for the PMI froze the counters: nothing counts until it is written again");
  }
}

bool Linter::stops_a_counter(const Entry& entry) const {
  if (entry.number < 0x186 || entry.number >= 0x18E) return false;
  return pmu::intel::decode_event_select(selects_[entry.number - 0x186]).enable;
}

std::vector<Remark> Linter::check(Entry& entry, const IntelPmu& pmu) {
  std::vector<Remark> remarks;
  switch (entry.kind) {
    case Entry::Kind::write:
      if (stops_a_counter(entry)) {
        // The counter is stopped on purpose.
        std::erase_if(entry.remarks, [](const Remark& one) { return one.text.starts_with("EN (bit 22)"); });
      }
      written(entry, pmu, remarks);
      break;
    case Entry::Kind::read:
      if (entry.number == 0x390) {
        say(remarks, Severity::note, "390H reads 0: a read-modify-write of it is a plain write");
      }
      break;
    case Entry::Kind::record: check_record(entry.record, pmu, remarks); break;
    case Entry::Kind::pmi:
      if (entry.value == 0) ++lost_;
      break;
    case Entry::Kind::enter:
      if (in_handler_)
        ++nested_;
      else if (pmu.profile().version >= 2)
        entered_ = status_of(pmu);
      in_handler_ = in_handler_ || entry.value == 1;
      break;
    case Entry::Kind::leave:
      if (nested_ > 0) {
        --nested_;
      } else if (in_handler_) {
        returned(pmu, remarks);
      }
      break;
    default: break;
  }
  return remarks;
}

std::vector<Remark> Linter::at_end(const IntelPmu& pmu, bool interrupts_enabled) const {
  std::vector<Remark> remarks;
  if (pmu.has_interrupt(true) && !interrupts_enabled) {
    say(remarks, Severity::caution,
        "a pending interrupt was never taken: interrupts are off (IF is 0). STI turns them on");
  } else if (!pmu.apic().is_idle() && !pmu.has_interrupt(true) && serves(pmu)) {
    say(remarks, Severity::caution,
        "a pending interrupt was never taken: one of its class is still in service. A write to EOI ends that", apic);
  }
  if (lost_ > 0) {
    say(remarks, Severity::caution, fmt::format("{} of the counters' interrupts were lost", lost_), apic);
  }
  return remarks;
}

}  // namespace tally::lab
