#include "programs/lab/pmu/work.hpp"

namespace tally::pmu::emulated {
namespace {

struct Row {
  std::uint8_t event;
  std::uint8_t umask;
  Signal signal;
  int announced;  // bit of CPUID.0AH:EBX; -1: not an architectural event
};

// Intel SDM vol. 3B, table of the architectural events; C4H and D0H: Intel perfmon event lists, Haswell.
constexpr Row rows[] = {
    {0x3C, 0x00, Signal::core_cycles, 0},
    {0xC0, 0x00, Signal::instructions, 1},
    {0x3C, 0x01, Signal::reference_cycles, 2},
    {0x2E, 0x4F, Signal::llc_references, 3},
    {0x2E, 0x41, Signal::llc_misses, 4},
    {0xC4, 0x00, Signal::branches, 5},
    {0xC5, 0x00, Signal::mispredicts, 6},
    {0xA4, 0x01, Signal::slots, 7},
    {0xC4, 0x01, Signal::conditional_branches, -1},
    {0xC4, 0x02, Signal::calls, -1},
    {0xC4, 0x08, Signal::returns, -1},
    {0xC4, 0x20, Signal::taken_branches, -1},
    {0xC4, 0x40, Signal::far_branches, -1},
    {0xD0, 0x81, Signal::loads, -1},
    {0xD0, 0x82, Signal::stores, -1},
};

const Row* find(std::uint8_t event, std::uint8_t umask) {
  for (const Row& row : rows) {
    if (row.event == event && row.umask == umask) return &row;
  }
  return nullptr;
}

}  // namespace

Signal signal_of(std::uint8_t event, std::uint8_t umask) {
  const Row* row = find(event, umask);
  return row ? row->signal : Signal::nothing;
}

bool is_precise(Signal signal) {
  switch (signal) {
    case Signal::nothing:
    case Signal::core_cycles:
    case Signal::reference_cycles:
    case Signal::slots:
    case Signal::llc_references:
    case Signal::llc_misses: return false;
    default: return true;
  }
}

std::optional<int> announced_at(std::uint8_t event, std::uint8_t umask) {
  const Row* row = find(event, umask);
  if (!row || row->announced < 0) return std::nullopt;
  return row->announced;
}

}  // namespace tally::pmu::emulated
