#include "programs/lab/pmu/local_apic.hpp"

#include <bit>

namespace tally::pmu::emulated {
namespace {

constexpr std::uint32_t received_illegal_vector = 1U << 6;

}  // namespace

int LocalApic::highest(const Vectors& vectors) {
  for (int word = 7; word >= 0; --word) {
    const std::uint32_t bits = vectors[static_cast<std::size_t>(word)];
    if (bits != 0) return word * 32 + std::bit_width(bits) - 1;
  }
  return -1;
}

// Clears the bit of a vector and returns whether it was set.
bool LocalApic::take_from(Vectors& vectors, int vector) {
  std::uint32_t& word = vectors[static_cast<std::size_t>(vector) / 32];
  const std::uint32_t bit = 1U << (static_cast<unsigned>(vector) % 32);
  const bool was_set = (word & bit) != 0;
  word &= ~bit;
  return was_set;
}

Sent LocalApic::send_perfmon() {
  if ((perfmon_ & vector_mask) != 0) return Sent::masked;
  const auto vector = static_cast<std::uint8_t>(perfmon_);
  switch (perfmon_ >> 8 & 7) {
    case static_cast<std::uint32_t>(Delivery::fixed):
      if (vector < 16) {
        errors_ |= received_illegal_vector;
        return Sent::illegal_vector;
      }
      request(vector);
      set(of_perfmon_, vector);
      break;
    case static_cast<std::uint32_t>(Delivery::nmi): nmi_waits_ = true; break;
    case static_cast<std::uint32_t>(Delivery::smi): smi_waits_ = true; break;
    default: return Sent::wrong_mode;
  }
  perfmon_ |= vector_mask;
  return Sent::pending;
}

// Compares priority classes, the upper four bits of the vector.
bool LocalApic::can_take_fixed() const {
  const int vector = highest(requested_);
  if (vector < 0) return false;
  const int priority = vector >> 4;
  const int served = highest(in_service_);
  return priority > task_priority_ >> 4 && (served < 0 || priority > served >> 4);
}

bool LocalApic::has_pending(bool interrupts_enabled) const {
  return smi_waits_ || nmi_waits_ || (interrupts_enabled && can_take_fixed());
}

std::optional<Interrupt> LocalApic::take(bool interrupts_enabled) {
  if (smi_waits_) {
    smi_waits_ = false;
    return Interrupt{Delivery::smi, 0};
  }
  if (nmi_waits_) {
    nmi_waits_ = false;
    return Interrupt{Delivery::nmi, 2};
  }
  if (!interrupts_enabled || !can_take_fixed()) return std::nullopt;
  const int vector = highest(requested_);
  take_from(requested_, vector);
  set(in_service_, vector);
  return Interrupt{Delivery::fixed, static_cast<std::uint8_t>(vector), take_from(of_perfmon_, vector)};
}

void LocalApic::end_of_interrupt() {
  const int vector = highest(in_service_);
  if (vector >= 0) take_from(in_service_, vector);
}

void LocalApic::write_error_status() {
  latched_errors_ = errors_;
  errors_ = 0;
}

}  // namespace tally::pmu::emulated
