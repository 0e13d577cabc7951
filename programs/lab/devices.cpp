// The local APIC's page, the serial port, and the port that ends the program.
#include <fmt/format.h>

#include "programs/lab/x86_machine.hpp"

namespace tally::lab {
namespace {

constexpr std::uint32_t serial = 0x3F8;
constexpr std::uint32_t serial_status = 0x3FD;
constexpr std::uint32_t debug_port = 0xE9;
// QEMU's fw_cfg: a write to the first port selects an item, reads from the second one return its bytes.
constexpr std::uint32_t firmware_select = 0x510;
constexpr std::uint32_t firmware_data = 0x511;
constexpr std::uint32_t exit_port = 0xF4;
// QEMU's pc-testdev: four ports, one for each byte of a register.
constexpr std::uint32_t test_port = 0xE0, test_port_end = 0xE4;

constexpr std::uint64_t local_vector = 0x340;

}  // namespace

// Offsets: Intel SDM vol. 3A, "Local APIC Register Address Map".
std::uint64_t LabX86::on_apic_read(uc_engine*, std::uint64_t offset, unsigned, void* machine) {
  const LabX86& self = *static_cast<LabX86*>(machine);
  const pmu::emulated::LocalApic& apic = self.pmu_.apic();
  if (offset >= 0x100 && offset < 0x180) return apic.in_service(static_cast<int>(offset - 0x100) / 16);
  if (offset >= 0x200 && offset < 0x280) return apic.requested(static_cast<int>(offset - 0x200) / 16);
  switch (offset) {
    case 0x30: return 0x0005'0014;  // version 14H, six local vectors
    case 0x80: return apic.task_priority();
    case 0xF0: return self.spurious_;
    case 0x280: return apic.error_status();
    case local_vector: return apic.perfmon_vector();
    case 0x320: return self.timer_.vector;
    case 0x380: return static_cast<std::uint32_t>(self.timer_.count);
    case 0x390:
      return self.timer_.deadline > self.pmu_.time_stamp() ? self.timer_.deadline - self.pmu_.time_stamp() : 0;
    case 0x3E0: return self.timer_.divide;
    case 0x330:
    case 0x350:
    case 0x360:
    case 0x370: return 0x0001'0000;  // other local vectors: masked, without a source
    default: return 0;
  }
}

void LabX86::on_apic_write(uc_engine*, std::uint64_t offset, unsigned, std::uint64_t value, void* machine) {
  LabX86& self = *static_cast<LabX86*>(machine);
  pmu::emulated::LocalApic& apic = self.pmu_.apic();
  switch (offset) {
    case 0x80: apic.set_task_priority(static_cast<std::uint8_t>(value)); break;
    case 0xB0: apic.end_of_interrupt(); break;
    case 0x320: self.timer_.vector = static_cast<std::uint32_t>(value); break;
    case 0x380: self.start_timer(value); break;
    case 0x3E0: self.timer_.divide = static_cast<std::uint32_t>(value); break;
    case 0xF0: self.spurious_ = static_cast<std::uint32_t>(value); break;
    case 0x280: apic.write_error_status(); break;
    case local_vector: {
      apic.set_perfmon_vector(static_cast<std::uint32_t>(value));
      Entry write = self.entry(Entry::Kind::write);
      write.number = 0x834;
      write.value = value;
      write.remarks = self.remarks_of(0x834, value);
      self.note(write);
      break;
    }
    default: break;
  }
}

// Ticks are those of the time stamp counter, divided according to the divide register. 0 stops the timer.
void LabX86::start_timer(std::uint64_t ticks) {
  const std::uint32_t code = (timer_.divide & 3) | (timer_.divide >> 1 & 4);
  const unsigned shift = code == 7 ? 0 : code + 1;
  timer_.count = ticks;
  timer_.deadline = ticks == 0 ? 0 : pmu_.time_stamp() + (ticks << shift);
}

void LabX86::ring_timer() {
  constexpr std::uint32_t masked = 1U << 16, periodic = 1U << 17;
  const bool again = (timer_.vector & periodic) != 0;
  if ((timer_.vector & masked) == 0) pmu_.apic().request(static_cast<std::uint8_t>(timer_.vector));
  timer_.deadline = 0;
  if (again) start_timer(timer_.count);
}

std::uint32_t LabX86::on_in(uc_engine*, std::uint32_t port, int, void* machine) {
  LabX86& self = *static_cast<LabX86*>(machine);
  constexpr std::uint32_t transmitter_empty = 0x60;
  if (port >= test_port && port < test_port_end) return self.test_register_ >> (8 * (port - test_port));
  switch (port) {
    case serial_status: return transmitter_empty;
    case serial + 3: return self.line_control_;
    case firmware_data: return self.read_firmware();
    default: return 0;
  }
}

// Returns data that QEMU provides to programs: the size of memory and the number of processors. Items: QEMU,
// docs/specs/fw_cfg.
std::uint8_t LabX86::read_firmware() {
  constexpr std::uint16_t signature = 0, identification = 1, memory = 3, processors = 5, most_processors = 15;
  std::uint64_t item = 0;
  switch (firmware_item_) {
    case signature: item = 0x554D'4551; break;  // "QEMU"
    case identification:
    case processors:
    case most_processors: item = 1; break;
    case memory: item = memory_size(); break;
    default: break;
  }
  const std::uint32_t at = firmware_at_++;
  return at < 8 ? static_cast<std::uint8_t>(item >> (8 * at)) : 0;
}

void LabX86::on_out(uc_engine*, std::uint32_t port, int size, std::uint32_t value, void* machine) {
  LabX86& self = *static_cast<LabX86*>(machine);
  constexpr std::uint8_t divisor_latch = 0x80;
  if (port == serial + 3) {
    self.line_control_ = static_cast<std::uint8_t>(value);
  } else if (port == firmware_select) {
    self.firmware_item_ = static_cast<std::uint16_t>(value);
    self.firmware_at_ = 0;
  } else if (port == serial && (self.line_control_ & divisor_latch) != 0) {
    return;  // the baud rate
  } else if (port == serial || port == debug_port) {
    // Terminals expect a carriage return before a line feed; it is dropped here.
    if (static_cast<char>(value) != '\r') self.output_ += static_cast<char>(value);
    if (self.output_.ends_with('\n')) self.flush_output();
  } else if (port >= test_port && port < test_port_end) {
    const std::uint32_t shift = 8 * (port - test_port);
    const auto mask = static_cast<std::uint32_t>(((1ULL << (8 * size)) - 1) << shift);
    self.test_register_ = (self.test_register_ & ~mask) | (value << shift & mask);
  } else if (port == exit_port) {
    // The instruction is done; the run ends before the next one.
    self.end_ = ended_itself(self.at_, value);
    uc_emu_stop(self.uc_);
  }
}

void LabX86::flush_output() {
  if (output_.empty()) return;
  Entry printed = entry(Entry::Kind::output);
  printed.text = output_;
  output_.clear();
  note(printed);
}

}  // namespace tally::lab
