#include "programs/lab/pmu/apple_pmu.hpp"

#include <fmt/format.h>

#include "tally/hardware/pmu/apple/apple_events.hpp"

namespace tally::pmu::emulated {
namespace {

constexpr std::uint64_t interrupt_active = 1ULL << 11;
constexpr std::uint64_t stops_on_interrupt = 1ULL << 20;
constexpr std::uint64_t user_access = 1ULL << 30;
constexpr std::uint64_t mode_fiq = 4;

std::uint64_t number_of(std::string_view name) {
  const auto place = find_register(name, &apple_model);
  return place ? place->reg->number + static_cast<std::uint64_t>(place->index) * place->reg->stride : 0;
}

// The enable bits of PMC7..0 and of PMC9..8 are in different positions.
int bit_of(int counter, int low, int high) { return counter < 8 ? low + counter : high + counter - 8; }

}  // namespace

ApplePmu::ApplePmu(AppleBehaviour behaviour) : behaviour_(behaviour) {
  static constexpr std::string_view names[] = {"PMCR0_EL1", "PMCR1_EL1",  "PMCR2_EL1", "PMCR3_EL1",
                                               "PMCR4_EL1", "PMESR0_EL1", "PMESR1_EL1"};
  for (std::size_t i = 0; i < controls; ++i) numbers_[i] = number_of(names[i]);
  for (int i = 0; i < counters; ++i) {
    for (const RegisterInstance& place : places(apple_model)) {
      if (name(place) != fmt::format("PMC{}", i)) continue;
      counter_numbers_[static_cast<std::size_t>(i)] =
          place.reg->number + static_cast<std::uint64_t>(place.index) * place.reg->stride;
    }
  }
  status_number_ = number_of("PMSR_EL1");
  choose_events();
}

int ApplePmu::control_of(std::uint64_t number) const {
  for (std::size_t i = 0; i < controls; ++i) {
    if (numbers_[i] == number) return static_cast<int>(i);
  }
  return -1;
}

int ApplePmu::counter_of(std::uint64_t number) const {
  for (std::size_t i = 0; i < counters; ++i) {
    if (counter_numbers_[i] == number) return static_cast<int>(i);
  }
  return -1;
}

// PMSR is not stored: each bit is the overflow bit of its counter.
std::uint64_t ApplePmu::overflows() const {
  std::uint64_t bits = 0;
  for (std::size_t i = 0; i < counters; ++i) bits |= (counts_[i] >> behaviour_.overflow_bit & 1) << i;
  return bits;
}

Answer ApplePmu::read(std::uint64_t number, int level) const {
  if (level == 0 && (visible_[pmcr0] & user_access) == 0) {
    return {0, "MRS at EL0 while PMCR0_EL1[30] is 0: it traps"};
  }
  if (number == status_number_) return {overflows()};
  if (const int counter = counter_of(number); counter >= 0) return {counts_[static_cast<std::size_t>(counter)]};
  const int control = control_of(number);
  if (control < 0) return {0, "the emulated core has no such register"};
  const auto at = static_cast<std::size_t>(control);
  if (behaviour_.strict_barriers && values_[at] != visible_[at]) return {poison};
  return {values_[at]};
}

Answer ApplePmu::write(std::uint64_t number, std::uint64_t value, int level) {
  if (level == 0 && (visible_[pmcr0] & user_access) == 0) {
    return {0, "MSR at EL0 while PMCR0_EL1[30] is 0: it traps"};
  }
  if (number == status_number_) return {0, "PMSR_EL1 is read-only: it mirrors the counters"};
  if (const int counter = counter_of(number); counter >= 0) {
    const int width = behaviour_.overflow_bit + 1;
    counts_[static_cast<std::size_t>(counter)] = value & low_ones(width);
    return {};
  }
  const int control = control_of(number);
  if (control < 0) return {0, "the emulated core has no such register"};
  values_[static_cast<std::size_t>(control)] = value;
  if (!behaviour_.strict_barriers) synchronize();
  return {};
}

void ApplePmu::synchronize() {
  const bool chosen_again = visible_[pmesr0] != values_[pmesr0] || visible_[pmesr1] != values_[pmesr1];
  visible_ = values_;
  if (chosen_again) choose_events();
}

std::uint8_t ApplePmu::event_of(int counter) const {
  if (counter < 2) return 0;
  const std::uint64_t select = counter < 6 ? visible_[pmesr0] : visible_[pmesr1];
  return static_cast<std::uint8_t>(select >> (8 * ((counter - 2) % 4)));
}

void ApplePmu::choose_events() {
  can_count_.fill(true);
  for (int i = 2; i < counters; ++i) {
    const std::uint8_t code = event_of(i);
    const apple::Event* event = code == 0 ? nullptr : apple::find_event(code);
    if (!event) continue;
    const std::uint16_t where =
        behaviour_.observed_affinity && event->observed != 0 ? event->observed : event->counters;
    can_count_[static_cast<std::size_t>(i)] = (where >> i & 1) != 0;
    if ((where >> i & 1) == 0) violations_.push_back(fmt::format("event {:02X}H is not counted by PMC{}", code, i));
  }
}

bool ApplePmu::counts(int counter, int level) const {
  const bool stopped = (visible_[pmcr0] & interrupt_active) != 0 && (visible_[pmcr0] & stops_on_interrupt) != 0;
  if (stopped || !can_count_[static_cast<std::size_t>(counter)]) return false;
  const bool enabled = (visible_[pmcr0] >> bit_of(counter, 0, 32) & 1) != 0;
  const int at_level = level == 0 ? bit_of(counter, 8, 40) : bit_of(counter, 16, 48);
  return enabled && (visible_[pmcr1] >> at_level & 1) != 0;
}

void ApplePmu::retire(const AppleWork& work, int level) {
  for (int i = 0; i < counters; ++i) {
    if (!counts(i, level)) continue;
    std::uint64_t times = i == 0 ? work.cycles : work.instructions;
    if (i >= 2) {
      const auto event = work.events.find(event_of(i));
      times = event == work.events.end() ? 0 : event->second;
    }
    auto& count = counts_[static_cast<std::size_t>(i)];
    count = (count + times) & low_ones(behaviour_.overflow_bit + 1);
  }
  raise();
}

// An active interrupt blocks the next one until software clears IACT.
void ApplePmu::raise() {
  if ((visible_[pmcr0] >> 8 & 7) != mode_fiq || (visible_[pmcr0] & interrupt_active) != 0) return;
  for (int i = 0; i < counters; ++i) {
    if ((overflows() >> i & 1) == 0 || (visible_[pmcr0] >> bit_of(i, 12, 44) & 1) == 0) continue;
    values_[pmcr0] |= interrupt_active;
    visible_[pmcr0] |= interrupt_active;
    return;
  }
}

bool ApplePmu::has_interrupt() const {
  return (visible_[pmcr0] & interrupt_active) != 0 && (visible_[pmcr0] >> 8 & 7) == mode_fiq;
}

}  // namespace tally::pmu::emulated
