#include "programs/register/pmu/intel/rules.hpp"

#include <fmt/format.h>

#include <string>
#include <vector>

#include "programs/register/pmu/codec.hpp"
#include "programs/register/pmu/intel/readings.hpp"
#include "tally/hardware/pmu/intel/event_select.hpp"
#include "tally/hardware/pmu/intel/intel_events.hpp"

namespace tally::pmu::intel {
namespace {

using Remarks = std::vector<Remark>;

constexpr Source sdm{"Intel SDM vol. 3B", "Architectural Performance Monitoring"};
constexpr Source apic{"Intel SDM vol. 3A", "Local Vector Table; Error Status Register"};
constexpr Source kvm{"Linux", "KVM, arch/x86/kvm/pmu.c: reserved bits of the event select"};

void add(Remarks& remarks, Severity severity, std::string text, const Source& source = sdm) {
  remarks.push_back({severity, std::move(text), source});
}

// IA32_PERFEVTSELn

void never_counts(const Value& value, Remarks& remarks) {
  const EventSelect select = decode_event_select(value.bits);
  if (!select.enable && value.bits != 0)
    add(remarks, Severity::caution, "EN (bit 22) is 0: the counter does not count");
  if (select.enable && !select.usr && !select.os) {
    add(remarks, Severity::caution, "neither USR nor OS is set: nothing is ever counted");
  }
  if (select.enable && select.event == 0) {
    add(remarks, Severity::caution,
        "event select 0 counts nothing, and IA32_PERF_GLOBAL_INUSE shows the counter as free");
  }
}

void event_label(const Value& value, Remarks& remarks) {
  const EventSelect select = decode_event_select(value.bits);
  const EventCode* code = find_event(select.event, select.umask);
  if (!code || code->pitfall.empty()) return;
  add(remarks, Severity::caution,
      fmt::format("{:02X}H/{:02X}H is {}: {}", code->event, code->umask, code->name, code->pitfall), code->source);
}

void conditions(const Value& value, Remarks& remarks) {
  const EventSelect select = decode_event_select(value.bits);
  if (select.invert && select.cmask == 0) add(remarks, Severity::caution, "INV has no effect while CMASK is 0");
  if (select.cmask != 0) add(remarks, Severity::note, "with CMASK the counter counts cycles, not events");
}

void pin_control(const Value& value, Remarks& remarks) {
  if (get(value, "PC") != 0) {
    add(remarks, Severity::caution, "PC (bit 19) toggled a pin of old processors; since Sandy Bridge it has no effect",
        kvm);
  }
}

void any_thread(const Value& value, Remarks& remarks) {
  if (get(value, "ANY") != 0) {
    add(remarks, Severity::caution,
        "ANY (bit 21) is refused where CPUID.0AH:EDX[15] is set, and always by KVM; the count is that of all threads "
        "of "
        "the core, not of the program",
        kvm);
  }
}

void checkpointed(const Value& value, Remarks& remarks) {
  if (get(value, "IN_TXCP") != 0 && value.place.index != 2) {
    add(remarks, Severity::wrong, "IN_TXCP (bit 33) works on counter 2 only");
  }
}

void interrupt_needs_vector(const Value& value, Remarks& remarks) {
  if (get(value, "INT") != 0) {
    add(remarks, Severity::note,
        "INT: LVT_PERFMON controls the delivery; an interrupt that is masked there, as after power-up, is lost");
  }
}

void global_enable(const Value& value, Remarks& remarks) {
  if (get(value, "EN") == 0 || value.version == 1) return;
  add(remarks, Severity::note,
      fmt::format("since version 2 bit {} of IA32_PERF_GLOBAL_CTRL must be set as well (after power-up it is)",
                  value.place.index));
}

// The same event in the notation of perf and `tally stat -e`.
void as_event(const Value& value, Remarks& remarks) {
  const EventSelect select = decode_event_select(value.bits);
  if (select.event == 0) return;
  std::string text = fmt::format("cpu/event={:#x}", select.event);
  if (select.umask != 0) text += fmt::format(",umask={:#x}", select.umask);
  if (select.cmask != 0) text += fmt::format(",cmask={}", select.cmask);
  if (select.invert) text += ",inv";
  if (select.edge) text += ",edge";
  text += "/";
  if (select.usr) text += "u";
  if (select.os) text += "k";
  add(remarks, Severity::note, "written as an event: " + text);
}

// IA32_FIXED_CTR_CTRL

void enable_of_fixed_0(const Value& value, Remarks& remarks) {
  const bool only_second = get(value, "OS#", 1) != 0 && get(value, "USR#", 1) == 0;
  if (only_second && get(value, "OS#", 0) == 0 && get(value, "USR#", 0) == 0) {
    add(remarks, Severity::caution,
        "bit 4 is the kernel-mode enable of fixed counter 1; the enable of fixed counter 0 is bits 1:0");
  } else if ((value.bits & 0xF) == 0xB) {
    add(remarks, Severity::note, "the enable of fixed counter 0 is bits 1:0, not bit 4: 0BH is OS, USR and PMI");
  }
}

void fixed_2_is_reference(const Value& value, Remarks& remarks) {
  if (get(value, "OS#", 2) != 0 || get(value, "USR#", 2) != 0) {
    add(remarks, Severity::note,
        "fixed counter 2 counts reference cycles, at the rate of the time stamp counter; core cycles are fixed counter "
        "1");
  }
}

void interrupt_without_mode(const Value& value, Remarks& remarks) {
  for (int i = 0; i < 8; ++i) {
    if (get(value, "PMI#", i) != 0 && get(value, "OS#", i) == 0 && get(value, "USR#", i) == 0) {
      add(remarks, Severity::caution, fmt::format("PMI{} is set, but fixed counter {} counts in no mode", i, i));
    }
  }
}

void any_of_fixed(const Value& value, Remarks& remarks) {
  for (int i = 0; i < 8; ++i) {
    if (get(value, "ANY#", i) == 0) continue;
    add(remarks, Severity::caution,
        fmt::format("ANY{} is refused where CPUID.0AH:EDX[15] is set, and always by KVM", i), kvm);
  }
}

// Global registers

void not_zero_after_power_up(const Value& value, Remarks& remarks) {
  if (value.bits == 0) {
    add(remarks, Severity::note,
        "no counter counts. After power-up this register is not 0: all general-purpose counters are enabled");
  }
}

void leaves_overflows(const Value& value, Remarks& remarks) {
  const std::uint64_t fixed = value.bits >> 32 & 0xFFFF;
  if (fixed == 0b11) {
    add(remarks, Severity::caution,
        "clears fixed counters 0 and 1 and leaves bit 34: an overflow of fixed counter 2 stays. All three are EDX = 7");
  }
  if (value.bits == 0) add(remarks, Severity::note, "clears nothing: a 1 clears its bit, a 0 leaves it alone");
}

void read_only_status(const Value&, Remarks& remarks) {
  add(remarks, Severity::note, "read-only: WRMSR raises #GP(0). Bits are cleared by writing them to 390H");
}

void frozen(const Value& value, Remarks& remarks) {
  if (get(value, "CTR_Frz") != 0) {
    add(remarks, Severity::note,
        "the counters stay frozen until bit 59 is written to 390H; IA32_PERF_GLOBAL_CTRL keeps its value (version 4; "
        "versions 2 and 3 clear it instead)");
  }
}

void freezing(const Value& value, Remarks& remarks) {
  if (get(value, "FREEZE_PMON") == 0) return;
  add(remarks, Severity::note,
      "at a PMI versions 2 and 3 clear IA32_PERF_GLOBAL_CTRL, which software then has to write again; version 4 sets "
      "IA32_PERF_GLOBAL_STATUS[59] instead");
}

// Counters

void legacy_write(const Value& value, Remarks& remarks) {
  const auto written = static_cast<std::uint64_t>(static_cast<std::int64_t>(static_cast<std::int32_t>(value.bits)));
  const std::uint64_t kept = written & low_ones(48);
  if (value.bits >> 31 == 1) {
    add(remarks, Severity::note,
        fmt::format(
            "as a write this puts {:#x} into a counter of 48 bits: WRMSR takes EAX, sign-extended, which is how a "
            "counter is set to overflow soon",
            kept));
  } else if ((value.bits & low_ones(48)) != kept) {
    add(remarks, Severity::caution,
        fmt::format(
            "as a write this puts {:#x} into a counter of 48 bits: WRMSR takes EAX, sign-extended, and ignores EDX. "
            "MSR {:X}H takes all bits, where IA32_PERF_CAPABILITIES[13] is set",
            kept, 0x4C1 + value.place.index));
  } else if (value.bits >> 32 != 0) {
    add(remarks, Severity::note, "as a write: EDX is ignored, the upper bits come from EAX's sign");
  }
}

void sign_extended_read(const Value& value, Remarks& remarks) {
  if (value.bits >> 48 == 0xFFFF) {
    add(remarks, Severity::caution,
        "bits 63:48 are set, and a counter has 48: EDX and EAX were joined as signed numbers. Join them unsigned");
  }
}

void fixed_2_counter(const Value& value, Remarks& remarks) {
  if (value.place.index == 2) {
    add(remarks, Severity::note,
        "counts reference cycles, at the rate of the time stamp counter; core cycles are IA32_FIXED_CTR1");
  }
}

// PEBS, interrupts, RDPMC

void pebs_on_fixed(const Value& value, Remarks& remarks) {
  if ((value.bits >> 32 & 0xFFFF) != 0) {
    add(remarks, Severity::note,
        "fixed counters write PEBS records since Ice Lake; documents that deny it are older. Before, bits 35:32 were "
        "the "
        "load latency of counters 0 to 3");
  }
}

void reserved_vector(const Value& value, Remarks& remarks) {
  if (get(value, "mode") == 0 && get(value, "vector") < 16) {
    add(remarks, Severity::wrong,
        "vectors 0 to 15 are reserved: the APIC sets ESR bit 6 and delivers nothing. It raises no exception", apic);
  }
  if (const auto mode = get(value, "mode"); mode != 0 && mode != 2 && mode != 4) {
    add(remarks, Severity::wrong, "the interrupt of the counters can be Fixed, SMI or NMI only", apic);
  }
}

void masked_vector(const Value& value, Remarks& remarks) {
  if (get(value, "mask") != 0) {
    add(remarks, Severity::note,
        "hardware sets the mask with each interrupt that it delivers: a handler that does not clear bit 16 sees one "
        "only",
        apic);
  }
}

void rdpmc_fast(const Value& value, Remarks& remarks) {
  if (value.bits >> 31 != 0) {
    add(remarks, Severity::wrong, "bit 31 asked for a fast read on Netburst; everywhere else it raises #GP(0)");
  } else if (const auto type = get(value, "type"); type != 0 && type != 0x4000 && type != 0x2000) {
    add(remarks, Severity::wrong, "no such kind of counter: RDPMC raises #GP(0)");
  }
}

constexpr Rule table[] = {
    {"never-counts", "IA32_PERFEVTSEL#", never_counts},
    {"event-label", "IA32_PERFEVTSEL#", event_label},
    {"conditions", "IA32_PERFEVTSEL#", conditions},
    {"pin-control", "IA32_PERFEVTSEL#", pin_control},
    {"any-thread", "IA32_PERFEVTSEL#", any_thread},
    {"checkpointed", "IA32_PERFEVTSEL#", checkpointed},
    {"interrupt-needs-vector", "IA32_PERFEVTSEL#", interrupt_needs_vector},
    {"global-enable", "IA32_PERFEVTSEL#", global_enable},
    {"as-event", "IA32_PERFEVTSEL#", as_event},
    {"never-counts", "IA32_PMC_GP#_CFG_A", never_counts},
    {"event-label", "IA32_PMC_GP#_CFG_A", event_label},
    {"conditions", "IA32_PMC_GP#_CFG_A", conditions},
    {"enable-of-fixed-0", "IA32_FIXED_CTR_CTRL", enable_of_fixed_0},
    {"fixed-2-is-reference", "IA32_FIXED_CTR_CTRL", fixed_2_is_reference},
    {"interrupt-without-mode", "IA32_FIXED_CTR_CTRL", interrupt_without_mode},
    {"any-of-fixed", "IA32_FIXED_CTR_CTRL", any_of_fixed},
    {"not-zero-after-power-up", "IA32_PERF_GLOBAL_CTRL", not_zero_after_power_up},
    {"leaves-overflows", "IA32_PERF_GLOBAL_STATUS_RESET", leaves_overflows},
    {"read-only-status", "IA32_PERF_GLOBAL_STATUS", read_only_status},
    {"frozen", "IA32_PERF_GLOBAL_STATUS", frozen},
    {"freezing", "IA32_DEBUGCTL", freezing},
    {"legacy-write", "IA32_PMC#", legacy_write},
    {"sign-extended-read", "IA32_PMC#", sign_extended_read},
    {"sign-extended-read", "IA32_FIXED_CTR#", sign_extended_read},
    {"fixed-2-counter", "IA32_FIXED_CTR#", fixed_2_counter},
    {"pebs-on-fixed", "IA32_PEBS_ENABLE", pebs_on_fixed},
    {"reserved-vector", "LVT_PERFMON", reserved_vector},
    {"masked-vector", "LVT_PERFMON", masked_vector},
    {"rdpmc-fast", "RDPMC:ECX", rdpmc_fast},
};

}  // namespace

std::span<const Rule> rules() { return table; }

}  // namespace tally::pmu::intel
