// Emulates the part of a local APIC that delivers performance monitoring interrupts.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

namespace tally::pmu::emulated {

/// The delivery mode of a local vector.
enum class Delivery : std::uint8_t { fixed = 0, smi = 2, nmi = 4 };

/// An interrupt that is delivered to the processor.
struct Interrupt {
  Delivery delivery = Delivery::fixed;
  std::uint8_t vector = 0;  ///< 2 for NMI
  bool is_perfmon = true;   ///< of the performance counters
  bool operator==(const Interrupt&) const = default;
};

/// The outcome of sending a PMI.
enum class Sent {
  pending,         ///< pending for the processor
  masked,          ///< the mask bit of the local vector was set: the PMI is lost
  illegal_vector,  ///< vectors 0 to 15: sets error status bit 6; delivers and raises nothing
  wrong_mode,      ///< INIT, ExtINT or a reserved mode: delivers nothing
};

/// Request, service and error registers, and the local vector of the performance counters.
/// Source: Intel SDM vol. 3A, "Advanced Programmable Interrupt Controller (APIC)".
class LocalApic {
 public:
  /// The bits that exist in LVT_PERFMON, and its mask bit.
  static constexpr std::uint32_t vector_bits = 0x0001'17FF;
  static constexpr std::uint32_t vector_writable = 0x0001'07FF;
  static constexpr std::uint32_t vector_mask = 1U << 16;

  std::uint32_t perfmon_vector() const { return perfmon_; }
  void set_perfmon_vector(std::uint32_t value) { perfmon_ = value & vector_writable; }

  /// Sends the interrupt that LVT_PERFMON describes. Sets its mask bit if the interrupt is delivered.
  Sent send_perfmon();

  /// Requests a Fixed interrupt; has no effect if its vector is already pending.
  void request(std::uint8_t vector) { set(requested_, vector); }

  /// Takes the next interrupt, if any; a Fixed one is then in service. NMI comes first and ignores the interrupt flag.
  /// A Fixed interrupt waits while one of the same or a higher priority is in service.
  std::optional<Interrupt> take(bool interrupts_enabled);

  /// Whether nothing is pending, whether interrupts are enabled or not.
  bool is_idle() const { return !nmi_waits_ && !smi_waits_ && requested_ == Vectors{}; }

  /// Whether take() would return an interrupt.
  bool has_pending(bool interrupts_enabled) const;

  /// A write of the EOI register: ends the highest interrupt in service.
  void end_of_interrupt();

  /// A write of the error status register latches the errors for the next read.
  void write_error_status();
  std::uint32_t error_status() const { return latched_errors_; }

  std::uint8_t task_priority() const { return task_priority_; }
  void set_task_priority(std::uint8_t value) { task_priority_ = value; }

  /// 32 bits of the request or the in-service register, from vector 32 * `word` on.
  std::uint32_t requested(int word) const { return requested_[static_cast<std::size_t>(word)]; }
  std::uint32_t in_service(int word) const { return in_service_[static_cast<std::size_t>(word)]; }

 private:
  using Vectors = std::array<std::uint32_t, 8>;
  static void set(Vectors& vectors, int vector) {
    vectors[static_cast<std::size_t>(vector) / 32] |= 1U << (static_cast<unsigned>(vector) % 32);
  }
  static bool take_from(Vectors& vectors, int vector);
  static int highest(const Vectors& vectors);
  bool can_take_fixed() const;

  std::uint32_t perfmon_ = vector_mask;  // after power-up
  Vectors requested_{};
  Vectors of_perfmon_{};  // those of requested_ that the performance counters requested
  Vectors in_service_{};
  bool nmi_waits_ = false;
  bool smi_waits_ = false;
  std::uint8_t task_priority_ = 0;
  std::uint32_t errors_ = 0;
  std::uint32_t latched_errors_ = 0;
};

}  // namespace tally::pmu::emulated
