// Text for the Arm machine: its registers and their events.
#include <fmt/format.h>

#include "programs/lab/arm/arm_machine.hpp"
#include "programs/lab/story.hpp"
#include "programs/register/pmu/codec.hpp"
#include "tally/core/base/text.hpp"

namespace tally::lab::arm {

std::string LabArm::headline() const {
  return fmt::format("{}, emulated: {}\n{}", core_->profile().name, core_->profile().title,
                     model_line(settings_.cache_bytes, ", last target"));
}

std::string LabArm::register_name(std::uint32_t number) const {
  if (const auto place = core_->place_of(number)) return pmu::name(*place);
  return fmt::format("S{}_{}_C{}_C{}_{}", number >> 14, number >> 11 & 7, number >> 7 & 15, number >> 3 & 15,
                     number & 7);
}

std::optional<pmu::Value> LabArm::value(const Entry& entry) const {
  const auto place = core_->place_of(entry.number);
  if (!place) return std::nullopt;
  return pmu::Value{*place, entry.value, core_->profile().version};
}

std::string LabArm::meaning(const Entry& entry) const {
  const auto what = value(entry);
  if (!what || what->place.reg->fields.front().show == pmu::Show::counter) return {};
  return meaning_of(*what);
}

std::string LabArm::words(const Entry& entry) const {
  switch (entry.kind) {
    case Entry::Kind::write: return fmt::format("MSR {} = {:#x}", register_name(entry.number), entry.value);
    case Entry::Kind::read: return fmt::format("MRS {} -> {:#x}", register_name(entry.number), entry.value);
    case Entry::Kind::rdpmc:
      if (!entry.text.empty()) return "MRS " + register_name(entry.number);
      return fmt::format("MRS {} -> {} ({:X}H)", register_name(entry.number),
                         thousands(static_cast<std::int64_t>(entry.value)), entry.value);
    case Entry::Kind::enter:
      return fmt::format("{} is taken before this instruction, at EL{} ({})",
                         entry.number == 0   ? "an exception"
                         : entry.number == 1 ? "an IRQ"
                                             : "an FIQ",
                         entry.cpl, entry.text);
    case Entry::Kind::leave: return "ERET";
    default: return entry.text;
  }
}

std::string LabArm::handler_words(const Entry& entry) const {
  if (entry.number == 0) return "an exception is taken: " + entry.text;
  return entry.number == 1 ? "an IRQ is taken: the lab's handler clears the overflow flags and returns"
                           : "an FIQ is taken: the lab's handler disables interrupts of the counters and returns";
}

std::string LabArm::drawings() const {
  std::string text;
  for (const pmu::RegisterInstance& place : pmu::places(*core_->profile().model)) {
    if (place.reg->space != pmu::Space::system_register) continue;
    const auto number = place.reg->number + static_cast<std::uint64_t>(place.index) * place.reg->stride;
    const auto answer = core_->read(number, 1);
    if (answer) text += drawn({place, answer.value, core_->profile().version});
  }
  return text;
}

}  // namespace tally::lab::arm
