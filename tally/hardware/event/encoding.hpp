// The encoding of an event: the numbers that select it on a counter or in perf_event_open(2).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tally/core/base/units.hpp"

namespace tally::event {

/// Processor families with common event codes. The same code means different things across vendors and generations.
enum class Family {
  none,          ///< no processor's event codes: a software PMU, an uncore PMU, an unknown vendor
  intel_old,     ///< Intel Core 2 and the first Atom: the architectural events, and model-specific codes
  intel_core,    ///< Intel Nehalem to Cascade Lake. The default for codes without a PMU name
  intel_recent,  ///< Intel Ice Lake and later
  intel_atom,    ///< Intel Silvermont and later small cores
  amd,           ///< AMD before Zen
  amd_zen,       ///< AMD Zen and later
  arm,           ///< PMUv3
  apple,         ///< Apple M1 and later
};

/// Whether `config` has the layout of IA32_PERFEVTSELx, without its control bits.
constexpr bool is_x86(Family family) { return family >= Family::intel_old && family <= Family::amd_zen; }

/// Whether the codes are AMD's.
constexpr bool is_amd(Family family) { return family == Family::amd || family == Family::amd_zen; }

/// "Intel", "AMD", "Arm", "Apple"; empty for none.
std::string_view maker(Family family);

/// The type numbers of perf_event_open(2) that are the same in every kernel.
inline constexpr std::uint32_t perf_type_hardware = 0;
inline constexpr std::uint32_t perf_type_software = 1;
inline constexpr std::uint32_t perf_type_cache = 3;
inline constexpr std::uint32_t perf_type_raw = 4;

/// A counter of a unit outside the cores: it counts whatever the machine does, and is opened on one processor.
struct MachineCounter {
  std::uint32_t type = 0;
  int processor = 0;
  bool operator==(const MachineCounter&) const = default;
};

/// An event as perf_event_open(2) selects it, without user or kernel mode, which the Event has.
struct Encoding {
  Family family = Family::none;
  std::string pmu;                    ///< requested PMU: the kernel's name ("cpu") or libpfm4's ("hsw"); may be empty
  std::optional<std::uint32_t> type;  ///< perf_event_attr.type; nothing if this kernel has no such PMU
  std::uint64_t config = 0;
  std::uint64_t config1 = 0;
  std::uint64_t config2 = 0;
  std::vector<MachineCounter> machine = {};  ///< of a PMU outside the cores: the counters that add up to the event
  double scale = 1;                          ///< from a count of these to the unit
  Unit unit = Unit::events;
  bool operator==(const Encoding&) const = default;
};

/// Whether an x86 encoding has other conditions than event and unit mask: counter mask, inversion, edge, and so on.
bool is_conditional(const Encoding& encoding);

/// Event and unit mask of an x86 encoding: "C4/01"; "1D6/00" for AMD's 12-bit codes.
std::string code_text(const Encoding& encoding);

/// Event select of an x86 encoding; AMD's has 12 bits.
unsigned event_code(const Encoding& encoding);

/// Unit mask of an x86 encoding.
unsigned unit_mask(const Encoding& encoding);

}  // namespace tally::event
