// Register descriptions: a name, an address, and fields with their meaning. The models' tables consist of them.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace tally::pmu {

/// The source of a fact.
struct Source {
  std::string_view document;  ///< "Intel SDM vol. 3B"
  std::string_view section;   ///< chapter, table or page in it
};

/// How software may access a register or a field.
enum class Access {
  read_write,
  read_only,         ///< writes fault or are ignored; the model says which
  write_only,        ///< reads give zero or fault
  write_1_to_clear,  ///< 1 clears, 0 has no effect
  write_1_to_set,    ///< 1 sets, 0 has no effect
};

/// How a field's value is displayed.
enum class Show {
  flag,     ///< one bit: set or not
  code,     ///< hexadecimal
  number,   ///< decimal
  mask,     ///< one bit per counter or event
  counter,  ///< a counter: decimal, and the distance to its overflow
};

/// The meaning of one value of a field.
struct Meaning {
  std::uint64_t value = 0;
  std::string_view text;
};

/// A processor feature that a field or a register requires, in addition to the version. Without it the bit is reserved:
/// writing it raises #GP(0) on Intel processors.
enum class Feature {
  always,
  counter,        ///< the general-purpose counter of the field's index
  fixed_counter,  ///< the fixed counter of the field's index
  any_thread,     ///< AnyThread, not deprecated by CPUID.0AH:EDX[15]
  transactions,   ///< TSX
  branch_events,  ///< events logged in branch records (CPUID.23H)
  full_width,     ///< IA32_PERF_CAPABILITIES[13]
  metrics,        ///< IA32_PERF_CAPABILITIES[15]
  smm_freeze,     ///< IA32_PERF_CAPABILITIES[12]
  adaptive_pebs,  ///< IA32_PERF_CAPABILITIES[14], with PEBS
  pebs,           ///< CPUID.01H:EDX[21] and not IA32_MISC_ENABLE[12]
  pebs_extras,    ///< PEBS of precise stores, load latency, or the front end: by model
  capabilities,   ///< CPUID.01H:ECX[15]
  tracing,        ///< Intel PT
  enclaves,       ///< SGX
};

/// No upper limit on the version.
inline constexpr int newest = 255;

/// Bits with one meaning. A repeated field (one bit per counter) is one Field with a `count`; `#` in its name is the
/// index.
struct Field {
  std::string_view name;  ///< as in the manual; `#` stands for the index of a repeated field
  int lsb = 0;            ///< lowest bit
  int width = 1;          ///< bits
  std::string_view text;  ///< meaning of the set bit, or of the number
  Show show = Show::flag;
  Access access = Access::read_write;
  std::span<const Meaning> values = {};  ///< names of particular values
  int since = 0;                         ///< first version of the model that has it
  int until = newest;                    ///< last version that has it
  int count = 1;                         ///< number of repetitions
  int stride = 1;                        ///< distance between repetitions in bits
  int first = 0;                         ///< index of the first repetition
  int upper_lsb = 0;                     ///< lowest bit of the upper part, if the number is split
  int upper_width = 0;                   ///< bits of the upper part; 0: the field is not split
  Feature needs = Feature::always;       ///< without it, the bits are reserved

  /// Return a copy with one property changed, so that tables have one line per field.
  template <class T>
  constexpr Field with(T Field::*property, T value) const {
    Field copy = *this;
    copy.*property = value;
    return copy;
  }
  constexpr Field as(Show how) const { return with(&Field::show, how); }
  constexpr Field may(Access what) const { return with(&Field::access, what); }
  constexpr Field named(std::span<const Meaning> names) const { return with(&Field::values, names); }
  constexpr Field from(int version) const { return with(&Field::since, version); }
  constexpr Field needing(Feature feature) const { return with(&Field::needs, feature); }
  constexpr Field upto(int version) const { return with(&Field::until, version); }
  constexpr Field continued_at(int top, int bottom) const {
    return with(&Field::upper_lsb, bottom).with(&Field::upper_width, top - bottom + 1);
  }
  constexpr Field times(int how_often, int distance, int index = 0) const {
    return with(&Field::count, how_often).with(&Field::stride, distance).with(&Field::first, index);
  }
};

/// A one-bit field.
constexpr Field flag(int bit, std::string_view name, std::string_view text) { return {name, bit, 1, text}; }

/// Bits `msb` to `lsb`, in the notation of the manuals; shown as a code unless as() changes it.
constexpr Field bits(int msb, int lsb, std::string_view name, std::string_view text) {
  return {name, lsb, msb - lsb + 1, text, Show::code};
}

/// All ones in the lowest `width` bits; `width` from 0 to 64.
constexpr std::uint64_t low_ones(int width) { return width >= 64 ? ~0ULL : (1ULL << width) - 1; }

/// The bits of repetition `index` (from 0) of a field.
constexpr std::uint64_t field_mask(const Field& field, int index = 0) {
  return (low_ones(field.width) << (field.lsb + index * field.stride)) |
         (low_ones(field.upper_width) << field.upper_lsb);
}

/// Extracts repetition `index` of a field from a register value.
constexpr std::uint64_t extract(const Field& field, std::uint64_t value, int index = 0) {
  const std::uint64_t lower = (value >> (field.lsb + index * field.stride)) & low_ones(field.width);
  if (field.upper_width == 0) return lower;
  return lower | ((value >> field.upper_lsb) & low_ones(field.upper_width)) << field.width;
}

/// `value` with repetition `index` of a field replaced; drops bits of `content` that do not fit the field.
constexpr std::uint64_t insert(const Field& field, std::uint64_t value, std::uint64_t content, int index = 0) {
  value &= ~field_mask(field, index);
  value |= (content & low_ones(field.width)) << (field.lsb + index * field.stride);
  if (field.upper_width != 0) value |= ((content >> field.width) & low_ones(field.upper_width)) << field.upper_lsb;
  return value;
}

/// The width of a field, including its upper part.
constexpr int total_width(const Field& field) { return field.width + field.upper_width; }

/// The address space of a register.
enum class Space {
  msr,              ///< RDMSR, WRMSR; the number is ECX
  system_register,  ///< MRS, MSR of AArch64; the number is op0:op1:CRn:CRm:op2, see system_register()
  cpuid,            ///< an output of CPUID; the number is cpuid_output()
  control,          ///< an x86 control register; the number is n of CRn
  operand,          ///< an operand of an instruction: RDPMC's ECX
};

/// The number of an AArch64 system register. Consecutive values of op2 have consecutive numbers.
constexpr std::uint64_t system_register(unsigned op0, unsigned op1, unsigned crn, unsigned crm, unsigned op2) {
  return op0 << 14 | op1 << 11 | crn << 7 | crm << 3 | op2;
}

/// The number of an output of CPUID; `part` is 0 to 3 for EAX, EBX, ECX, EDX.
constexpr std::uint64_t cpuid_output(std::uint32_t leaf, std::uint32_t subleaf, unsigned part) {
  return std::uint64_t{leaf} << 32 | subleaf << 8 | part;
}

/// The meaning of bits that belong to no field.
enum class OtherBits {
  reserved,        ///< must be 0
  model_specific,  ///< reserved on the source's processors; later ones may use them
  other_uses,      ///< used by other units, not described here
  ignored,         ///< may be written; no effect
};

struct Value;
struct Slot;

/// A register, or a row of similar registers; `#` in the name is then the index.
struct Register {
  std::string_view name;          ///< as in the manual
  std::string_view aliases = {};  ///< other names, separated by spaces
  std::string_view text = {};     ///< a one-line description
  Space space = Space::msr;
  std::uint64_t number = 0;        ///< of the first register of the row
  std::uint64_t other_number = 0;  ///< a second address of the same register (memory-mapped APIC); 0: none
  std::span<const Field> fields = {};
  Source source = {};
  int width = 64;  ///< bits
  Access access = Access::read_write;
  std::string_view reset = {};  ///< value after power-up; empty if not documented
  std::string_view note = {};   ///< faults and special cases; may be empty
  OtherBits others = OtherBits::reserved;
  int since = 0;                    ///< first version of the model that has it
  int until = newest;               ///< last version that has it
  int count = 1;                    ///< registers in the row
  int stride = 1;                   ///< distance between numbers in the row
  int first = 0;                    ///< index of the first register
  Feature needs = Feature::always;  ///< without it, RDMSR and WRMSR raise #GP(0)
  /// Summarizes a value in one sentence; null if the fields are enough.
  std::string (*summary)(const Value& value) = nullptr;
  /// Explains a field's value if a table of meanings is not enough; may return an empty text.
  std::string (*explain)(const Value& value, const Slot& slot) = nullptr;
};

}  // namespace tally::pmu
