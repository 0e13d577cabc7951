#include "tally/hardware/event/encoding.hpp"

#include <fmt/format.h>

namespace tally::event {
namespace {

// AMD: PERF_CTL bits 35:32 are bits 11:8 of the event select (PPR, "Core Performance Event Select").
constexpr std::uint64_t amd_high = 0xF'0000'0000;

}  // namespace

std::string_view maker(Family family) {
  switch (family) {
    case Family::intel_old:
    case Family::intel_core:
    case Family::intel_recent:
    case Family::intel_atom: return "Intel";
    case Family::amd:
    case Family::amd_zen: return "AMD";
    case Family::arm: return "Arm";
    case Family::apple: return "Apple";
    case Family::none: break;
  }
  return "";
}

bool is_conditional(const Encoding& encoding) {
  const std::uint64_t plain = 0xFFFF | (is_amd(encoding.family) ? amd_high : 0);
  return is_x86(encoding.family) && ((encoding.config & ~plain) || encoding.config1 || encoding.config2);
}

unsigned event_code(const Encoding& encoding) {
  const auto low = static_cast<unsigned>(encoding.config & 0xFF);
  return is_amd(encoding.family) ? low | static_cast<unsigned>((encoding.config & amd_high) >> 24) : low;
}

unsigned unit_mask(const Encoding& encoding) { return static_cast<unsigned>(encoding.config >> 8) & 0xFF; }

std::string code_text(const Encoding& encoding) {
  return fmt::format("{:02X}/{:02X}", event_code(encoding), unit_mask(encoding));
}

}  // namespace tally::event
