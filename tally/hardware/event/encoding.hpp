// What the kernel or a counter is told, so that it counts an event.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tally::event {

/// Whose codes a number is one of. The same number means different things to different makers, and to generations.
enum class Family {
  none,          ///< not a processor's event codes: a software PMU, an uncore, an unknown maker
  intel_old,     ///< Intel Core 2 and the first Atom: the architectural events, and codes of their own
  intel_core,    ///< Intel Nehalem to Cascade Lake. Codes without a PMU's name are read as these
  intel_recent,  ///< Intel Ice Lake and later
  intel_atom,    ///< Intel Silvermont and later small cores
  amd,           ///< AMD before Zen
  amd_zen,       ///< AMD Zen and later
  arm,           ///< PMUv3
  apple,         ///< Apple M1 and its kind
};

/// True for the families whose `config` has the layout of IA32_PERFEVTSELx without its control bits.
constexpr bool is_x86(Family family) { return family >= Family::intel_old && family <= Family::amd_zen; }

/// True for AMD's codes.
constexpr bool is_amd(Family family) { return family == Family::amd || family == Family::amd_zen; }

/// "Intel", "AMD", "Arm", "Apple"; empty for none.
std::string_view maker(Family family);

/// The type numbers of perf_event_open(2) that every kernel has.
inline constexpr std::uint32_t perf_type_hardware = 0;
inline constexpr std::uint32_t perf_type_software = 1;
inline constexpr std::uint32_t perf_type_cache = 3;
inline constexpr std::uint32_t perf_type_raw = 4;

/// An event as perf_event_open(2) takes it. User and kernel mode are no part of it: the Event has them.
struct Encoding {
  Family family = Family::none;
  std::string pmu;  ///< the PMU that was named: the kernel's name ("cpu") or libpfm4's ("hsw"); may be empty
  std::optional<std::uint32_t> type;  ///< perf_event_attr.type; nothing where the kernel here has no such PMU
  std::uint64_t config = 0;
  std::uint64_t config1 = 0;
  std::uint64_t config2 = 0;
  bool operator==(const Encoding&) const = default;
};

/// True where an x86 encoding has conditions beyond event and unit mask: counter mask, inversion, edge and the like.
bool is_conditional(const Encoding& encoding);

/// Event and unit mask of an x86 encoding: "C4/01"; "1D6/00" for AMD's longer codes.
std::string code_text(const Encoding& encoding);

/// Event select of an x86 encoding; AMD's has 12 bits.
unsigned event_code(const Encoding& encoding);

/// Unit mask of an x86 encoding.
unsigned unit_mask(const Encoding& encoding);

}  // namespace tally::event
