// The part of a local APIC that performance monitoring interrupts pass through.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

namespace tally::pmu::emulated {

/// How an interrupt is delivered: the delivery mode of a local vector.
enum class Delivery : std::uint8_t { fixed = 0, smi = 2, nmi = 4 };

/// An interrupt that reaches the processor.
struct Interrupt {
  Delivery delivery = Delivery::fixed;
  std::uint8_t vector = 0;  ///< 2 with NMI
  bool operator==(const Interrupt&) const = default;
};

/// What became of a PMI.
enum class Sent {
  pending,         ///< on its way to the processor
  masked,          ///< the mask bit of the local vector was set: lost
  illegal_vector,  ///< vectors 0 to 15: error status bit 6, nothing is delivered and nothing is raised
  wrong_mode,      ///< INIT, ExtINT or a reserved mode: nothing is delivered
};

/// Request, service and error registers, and the local vector of the performance counters.
/// Source: Intel SDM vol. 3A, "Advanced Programmable Interrupt Controller (APIC)".
class LocalApic {
 public:
  /// The bits of LVT_PERFMON that exist, and its mask.
  static constexpr std::uint32_t vector_bits = 0x0001'17FF;
  static constexpr std::uint32_t vector_writable = 0x0001'07FF;
  static constexpr std::uint32_t vector_mask = 1U << 16;

  std::uint32_t perfmon_vector() const { return perfmon_; }
  void set_perfmon_vector(std::uint32_t value) { perfmon_ = value & vector_writable; }

  /// Sends the interrupt that LVT_PERFMON describes. Sets its mask where something is delivered.
  Sent send_perfmon();

  /// Asks for an interrupt of the Fixed kind; one that waits already is not asked for twice.
  void request(std::uint8_t vector) { set(requested_, vector); }

  /// The interrupt that the processor takes now, if any: it is then in service. NMI goes before, and ignores the
  /// interrupt flag; a Fixed one waits while one of the same or a higher priority is in service.
  std::optional<Interrupt> take(bool interrupts_enabled);

  /// Whether nothing waits, whatever the interrupt flag says.
  bool is_idle() const { return !nmi_waits_ && !smi_waits_ && requested_ == Vectors{}; }

  /// Whether take() would give one.
  bool has_pending(bool interrupts_enabled) const;

  /// The EOI register was written: the highest interrupt in service is done.
  void end_of_interrupt();

  /// The error status register: latched by the write that must come before its read.
  void write_error_status();
  std::uint32_t error_status() const { return latched_errors_; }

  std::uint8_t task_priority() const { return task_priority_; }
  void set_task_priority(std::uint8_t value) { task_priority_ = value; }

  /// 32 bits of the request and the in-service register, counted from vector 32 * `word`.
  std::uint32_t requested(int word) const { return requested_[static_cast<std::size_t>(word)]; }
  std::uint32_t in_service(int word) const { return in_service_[static_cast<std::size_t>(word)]; }

 private:
  using Vectors = std::array<std::uint32_t, 8>;
  static void set(Vectors& vectors, int vector) {
    vectors[static_cast<std::size_t>(vector) / 32] |= 1U << (static_cast<unsigned>(vector) % 32);
  }
  static int highest(const Vectors& vectors);
  bool can_take_fixed() const;

  std::uint32_t perfmon_ = vector_mask;  // after power-up
  Vectors requested_{};
  Vectors in_service_{};
  bool nmi_waits_ = false;
  bool smi_waits_ = false;
  std::uint8_t task_priority_ = 0;
  std::uint32_t errors_ = 0;
  std::uint32_t latched_errors_ = 0;
};

}  // namespace tally::pmu::emulated
