// Stores the records of Intel's processor event based sampling (PEBS) in the buffer of the debug store (DS) area.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

namespace tally::pmu::emulated {

/// Memory of the program, by linear address.
class LinearMemory {
 public:
  virtual ~LinearMemory() = default;
  /// Read and write eight bytes. nullopt and false: no memory is mapped there.
  virtual std::optional<std::uint64_t> read(std::uint64_t address) const = 0;
  virtual bool write(std::uint64_t address, std::uint64_t value) = 0;
};

/// The state of the processor after the recorded instruction.
struct PebsState {
  std::uint64_t instruction = 0;              ///< address of the recorded instruction
  std::uint64_t next = 0;                     ///< address of the instruction to execute next
  std::uint64_t flags = 0;                    ///< RFLAGS
  std::array<std::uint64_t, 16> registers{};  ///< RAX, RBX, RCX, RDX, RSI, RDI, RBP, RSP, R8 to R15
  std::uint64_t loaded = 0;                   ///< address of its last load; 0: none
  std::uint64_t stored = 0;                   ///< address of its last store; 0: none
};

/// The result of one record.
struct PebsRecord {
  enum class Outcome {
    stored,
    no_area,        ///< no memory is mapped at IA32_DS_AREA
    no_buffer,      ///< no memory is mapped where the record belongs
    out_of_bounds,  ///< the index is below the base, or the record would end beyond the absolute maximum
  };
  Outcome outcome = Outcome::stored;
  std::uint64_t address = 0;   ///< of the record; of the unmapped memory
  std::uint64_t counters = 0;  ///< bit n: IA32_PMCn had overflowed
  bool is_threshold = false;   ///< the index reached the interrupt threshold
};

/// The DS area of 64-bit layout, which processors with DTES64 use in every mode.
namespace ds {
inline constexpr std::uint64_t base = 0x20, index = 0x28, maximum = 0x30, threshold = 0x38, reset = 0x40;
}

/// The size of a record in bytes, by IA32_PERF_CAPABILITIES[11:8].
std::uint64_t pebs_record_bytes(int format);

/// What a record contains in addition to the state of the processor.
struct PebsDetails {
  int format = 0;
  std::uint64_t counters = 0;  ///< that overflowed
  std::uint64_t status = 0;    ///< IA32_PERF_GLOBAL_STATUS
  std::uint64_t accessed = 0;  ///< address of the access that was counted
  std::uint64_t time_stamp = 0;
};

/// Stores a record at the index of the DS area, and advances the index. Stores nothing if a check fails.
PebsRecord store_pebs_record(LinearMemory& memory, std::uint64_t area, const PebsState& state,
                             const PebsDetails& details);

}  // namespace tally::pmu::emulated
