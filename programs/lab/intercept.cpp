// The instructions that the lab executes itself: those that use the PMU, and a few that the emulator handles
// differently.
#include <fmt/format.h>

#include <bit>

#include "programs/lab/pmu/core_profile.hpp"
#include "programs/lab/x86_machine.hpp"

namespace tally::lab {
namespace {

constexpr std::uint32_t apic_base_msr = 0x1B;
constexpr std::uint64_t x2apic_enabled = 1U << 10;
constexpr std::uint32_t first_x2apic = 0x800, last_x2apic = 0x83F;
constexpr std::uint32_t end_of_interrupt_msr = 0x80B;
constexpr std::uint32_t local_vector_msr = 0x834;
constexpr std::uint64_t user_rdpmc = 1U << 8;  // CR4.PCE
constexpr std::uint64_t general_protection = 13;

// Registers of the emulated processor itself: EFER, those of the system calls, the bases of FS and GS.
bool is_emulators(std::uint32_t index) {
  return (index >= 0xC000'0080 && index <= 0xC000'0084) || (index >= 0xC000'0100 && index <= 0xC000'0102);
}

// CPUID.07H:EBX: SMEP since Ivy Bridge, SMAP since Broadwell. The version of the PMU shows the age of the model.
constexpr std::uint32_t smep = 1U << 7, smap = 1U << 20;
std::uint32_t structured_features(const pmu::emulated::Profile& profile) {
  const bool has_smep = profile.has_capability(13);  // full-width writes of counters came with it
  return (has_smep ? smep : 0) | (profile.version >= 4 ? smap : 0);
}

// The bits of CR4 that the processor has: up to OSXMMEXCPT, and what CPUID.07H reports.
std::uint64_t control_4_bits(const pmu::emulated::Profile& profile) {
  constexpr std::uint64_t basic = 0x7FF, smep_enabled = 1U << 20, smap_enabled = 1U << 21;
  const std::uint32_t features = structured_features(profile);
  return basic | ((features & smep) != 0 ? smep_enabled : 0) | ((features & smap) != 0 ? smap_enabled : 0);
}

}  // namespace

std::optional<pmu::RegisterInstance> find_msr(std::uint32_t index) {
  const auto place = pmu::find_register(fmt::format("{:#x}", index), &pmu::intel_model);
  if (!place || place->reg->space != pmu::Space::msr) return std::nullopt;
  return *place;
}

// A handler writes the same values repeatedly, so the remarks about a value are cached.
const std::vector<pmu::Remark>& LabX86::remarks_of(std::uint32_t index, std::uint64_t value) {
  const auto [at, is_new] = remarks_.try_emplace({index, value});
  if (is_new) {
    if (const auto place = find_msr(index)) at->second = pmu::check({*place, value, pmu_.profile().version});
  }
  return at->second;
}

void LabX86::intercept(const Instruction& instruction) {
  switch (instruction.kind) {
    case Kind::rdmsr: read_msr(instruction); return;
    case Kind::wrmsr: write_msr(instruction); return;
    case Kind::rdpmc: read_counter(instruction); return;
    case Kind::halt: halt(instruction); return;
    case Kind::cpuid: identify(); break;
    case Kind::rdtsc:
    case Kind::rdtscp: {
      const std::uint64_t now = pmu_.time_stamp();
      set(UC_X86_REG_RAX, now & 0xFFFF'FFFF);
      set(UC_X86_REG_RDX, now >> 32);
      if (instruction.kind == Kind::rdtscp) set(UC_X86_REG_RCX, 0);
      break;
    }
    case Kind::paging:
      if (const std::string why = refused_control(instruction); !why.empty()) {
        arrive({general_protection, 0, instruction.address, why});
        return;
      }
      running_ = instruction;
      return;
    case Kind::interrupt_return:
    case Kind::far:
      if (instruction.far_return_bytes != 0 && mode() == Mode::real) {
        return_far(instruction);
        return;
      }
      if (cpl_ == 0) uc_context_save(uc_, kernel_);
      [[fallthrough]];
    default:
      // Executed by the emulator, and processed when it is done.
      running_ = instruction;
      return;
  }
  running_ = instruction;
  finish();
  jump_to(instruction.address + instruction.length);
}

// Returns the reason why MOV to a control register raises #GP(0); empty if it does not. The emulator drops bits that it
// does not have. Source: Intel SDM vol. 3A, "Control Registers".
std::string LabX86::refused_control(const Instruction& instruction) const {
  if (instruction.control < 0 || cpl_ > 0) return {};
  static constexpr int general[] = {UC_X86_REG_RAX, UC_X86_REG_RCX, UC_X86_REG_RDX, UC_X86_REG_RBX,
                                    UC_X86_REG_RSP, UC_X86_REG_RBP, UC_X86_REG_RSI, UC_X86_REG_RDI};
  const int source = instruction.general < 8 ? general[instruction.general] : UC_X86_REG_R8 + instruction.general - 8;
  std::uint64_t value = get(source);
  if (code_bits_ != 64) value &= 0xFFFF'FFFF;
  const auto has = [&](int bit) { return (value >> bit & 1) != 0; };
  constexpr int protection = 0, not_write_through = 29, cache_disable = 30, paging = 31, physical_extension = 5;
  switch (instruction.control) {
    case 0:
      if (value >> 32 != 0) return "bits 63 to 32 of CR0 are reserved";
      if (has(paging) && !has(protection)) return "CR0.PG is set without CR0.PE";
      if (has(not_write_through) && !has(cache_disable)) return "CR0.NW is set without CR0.CD";
      return {};
    case 4: {
      const std::uint64_t wrong = value & ~control_4_bits(pmu_.profile());
      if (wrong != 0) {
        return fmt::format("{} {} of CR4 {} reserved on {}", std::popcount(wrong) == 1 ? "bit" : "bits",
                           pmu::ranges(wrong), std::popcount(wrong) == 1 ? "is" : "are", pmu_.profile().name);
      }
      if (!has(physical_extension) && mode() == Mode::wide && is_paging()) return "CR4.PAE is cleared in long mode";
      return {};
    }
    case 8: return value > 0xF ? "bits 63 to 4 of CR8 are reserved" : "";
    default: return {};
  }
}

// A far return in real mode. Unicorn 2.0.1 sets RIP before it reads CS, and the hook of that read resets it.
void LabX86::return_far(const Instruction& instruction) {
  const std::uint64_t before = get(UC_X86_REG_RSP), base = segment_base(get(UC_X86_REG_SS));
  const std::uint64_t bytes = instruction.far_return_bytes;
  const auto pop = [&](std::uint64_t at, int size) {
    const std::uint64_t address = base + ((before + at) & 0xFFFF);
    tags_.access(address);
    return peek(address, size);
  };
  const std::uint64_t offset = pop(0, static_cast<int>(bytes));
  const auto selector = static_cast<std::uint16_t>(pop(bytes, 2));
  running_ = instruction;
  finish();
  set(UC_X86_REG_RSP, (before & ~0xFFFFULL) | ((before + 2 * bytes + instruction.drops) & 0xFFFF));
  enter_code(selector, offset);
}

void LabX86::read_msr(const Instruction& instruction) {
  const auto index = static_cast<std::uint32_t>(get(UC_X86_REG_RCX));
  const std::uint64_t next = instruction.address + instruction.length;
  pmu::emulated::Answer answer;
  if (cpl_ == 0 && is_emulators(index)) {
    running_ = instruction;
    return;
  }
  if (pmu::emulated::IntelPmu::owns(index) || index == local_vector_msr || cpl_ > 0) {
    answer = pmu_.rdmsr(index, cpl_, work_of(instruction));
    if (answer && settings_.reads) {
      Entry read = entry(Entry::Kind::read);
      read.number = index;
      read.value = answer.value;
      note(read);
    }
    if (answer) ++instructions_;
  } else {
    answer = other_msr(index);
    if (answer) {
      running_ = instruction;
      finish();
    }
  }
  if (!answer) {
    arrive({general_protection, 0, instruction.address, *answer.fault});
    return;
  }
  set(UC_X86_REG_RAX, answer.value & 0xFFFF'FFFF);
  set(UC_X86_REG_RDX, answer.value >> 32);
  jump_to(next);
}

pmu::emulated::Answer LabX86::other_msr(std::uint32_t index) {
  if (index == apic_base_msr) return {apic_base_, {}};
  if (index >= first_x2apic && index <= last_x2apic && (apic_base_ & x2apic_enabled) != 0) {
    return {on_apic_read(uc_, std::uint64_t{index - first_x2apic} * 16, 4, this), {}};
  }
  return {0, fmt::format("RDMSR of {:X}H: the emulated processor has no such register", index)};
}

void LabX86::write_msr(const Instruction& instruction) {
  const auto index = static_cast<std::uint32_t>(get(UC_X86_REG_RCX));
  const std::uint64_t value = (get(UC_X86_REG_RDX) & 0xFFFF'FFFF) << 32 | (get(UC_X86_REG_RAX) & 0xFFFF'FFFF);
  const std::uint64_t next = instruction.address + instruction.length;
  if (cpl_ == 0 && is_emulators(index)) {
    running_ = instruction;
    return;
  }
  if (cpl_ == 0 && write_apic(index, value)) {
    running_ = instruction;
    finish();
    jump_to(next);
    return;
  }
  Entry write = entry(Entry::Kind::write);
  write.number = index;
  write.value = value;
  write.remarks = remarks_of(index, value);
  const pmu::emulated::Answer answer = pmu_.wrmsr(index, value, cpl_, work_of(instruction));
  if (answer) ++instructions_;
  if (!answer) {
    write.text = *answer.fault;
    note(write);
    arrive({general_protection, 0, instruction.address, *answer.fault});
    return;
  }
  if (pmu::emulated::IntelPmu::owns(index)) write.kept = pmu_.read(index).value;
  note(write);
  jump_to(next);
}

// Writes IA32_APIC_BASE and, where it enables them, registers of the x2APIC, except the local vector of the counters,
// which belongs to the PMU. An end of interrupt is always accepted.
bool LabX86::write_apic(std::uint32_t index, std::uint64_t value) {
  if (index == end_of_interrupt_msr) {
    pmu_.apic().end_of_interrupt();
  } else if (index == apic_base_msr) {
    apic_base_ = value;
  } else if (index >= first_x2apic && index <= last_x2apic && index != local_vector_msr &&
             (apic_base_ & x2apic_enabled) != 0) {
    on_apic_write(uc_, std::uint64_t{index - first_x2apic} * 16, 4, value, this);
  } else {
    return false;
  }
  return true;
}

void LabX86::read_counter(const Instruction& instruction) {
  const auto ecx = static_cast<std::uint32_t>(get(UC_X86_REG_RCX));
  const bool user_may = (get(UC_X86_REG_CR4) & user_rdpmc) != 0;
  Entry read = entry(Entry::Kind::rdpmc);
  read.number = ecx;
  const pmu::emulated::Answer answer = pmu_.rdpmc(ecx, cpl_, user_may, work_of(instruction));
  if (!answer) {
    read.text = *answer.fault;
    note(read);
    arrive({general_protection, 0, instruction.address, *answer.fault});
    return;
  }
  ++instructions_;
  read.value = answer.value;
  note(read);
  set(UC_X86_REG_RAX, answer.value & 0xFFFF'FFFF);
  set(UC_X86_REG_RDX, answer.value >> 32);
  jump_to(instruction.address + instruction.length);
}

// Executes CPUID for programs that search for a PMU. Source: Intel SDM vol. 2A, CPUID.
void LabX86::identify() {
  const pmu::emulated::Profile& profile = pmu_.profile();
  const auto leaf = static_cast<std::uint32_t>(get(UC_X86_REG_RAX));
  pmu::CpuidLeaf out;
  switch (leaf) {
    case 0: out = {0x16, 0x756E'6547, 0x6C65'746E, 0x4965'6E69}; break;  // GenuineIntel
    case 1:
      out.eax = profile.signature;
      out.ecx = 1U << 0 | 1U << 19 | 1U << 20 | 1U << 21;  // SSE3, SSE4.1, SSE4.2, x2APIC
      if (profile.capabilities) out.ecx |= 1U << 15;       // PDCM
      // FPU, PSE, TSC, MSR, PAE, CX8, APIC, PGE, CMOV, MMX, FXSR, SSE, SSE2
      if (profile.pebs) out.ecx |= 1U << 2;  // DTES64
      out.edx = 1U << 0 | 1U << 3 | 1U << 4 | 1U << 5 | 1U << 6 | 1U << 13 | 1U << 8 | 1U << 9 | 1U << 15 | 1U << 23 |
                1U << 24 | 1U << 25 | 1U << 26;
      if (profile.pebs) out.edx |= 1U << 21;  // DS
      break;
    case 7: out.ebx = structured_features(profile); break;
    case 0xA: out = pmu::emulated::perfmon_leaf(profile); break;
    case 0x16: out.eax = static_cast<std::uint32_t>(pmu_.behaviour().clock.base); break;
    case 0x8000'0000: out.eax = 0x8000'0001; break;
    case 0x8000'0001: out.edx = 1U << 11 | 1U << 27 | 1U << 29; break;  // SYSCALL, RDTSCP, 64 bit
    default: break;
  }
  set(UC_X86_REG_RAX, out.eax);
  set(UC_X86_REG_RBX, out.ebx);
  set(UC_X86_REG_RCX, out.ecx);
  set(UC_X86_REG_RDX, out.edx);
}

void LabX86::halt(const Instruction& instruction) {
  if (cpl_ > 0) {
    arrive({general_protection, 0, instruction.address, "HLT requires CPL 0"});
    return;
  }
  const std::uint64_t next = instruction.address + instruction.length;
  running_ = instruction;
  finish();
  store_record(next);
  // Halted until the timer interrupt: the counters stop, time continues.
  if (timer_.is_running() && interrupts_enabled() && !pmu_.has_interrupt(true)) {
    if (timer_.deadline > pmu_.time_stamp()) pmu_.halt(timer_.deadline - pmu_.time_stamp());
    ring_timer();
  }
  if (pmu_.has_interrupt(interrupts_enabled())) {
    jump_to(next);
    return;
  }
  end(End::Reason::halted, instruction.address, "the program halted");
  jump_to(next);
}

}  // namespace tally::lab
