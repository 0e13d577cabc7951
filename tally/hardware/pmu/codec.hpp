// Values of registers: into fields, and back.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tally/core/base/result.hpp"
#include "tally/hardware/pmu/model.hpp"

namespace tally::pmu {

/// A register's value, seen as that of one version of its model; of all versions at once where none is given.
struct Value {
  Place place;
  std::uint64_t bits = 0;
  std::optional<int> version;
};

/// One field of one register, repetitions spread out.
struct Slot {
  const Field* field = nullptr;
  int index = 0;  ///< repetition, counted from 0

  /// "OS2"
  std::string name() const;
  int lsb() const { return field->lsb + index * field->stride; }
  int msb() const { return lsb() + field->width - 1; }
  std::uint64_t mask() const { return field_mask(*field, index); }
  /// What a register's value holds in it.
  std::uint64_t of(std::uint64_t bits) const { return extract(*field, bits, index); }
};

/// The fields that a register has in a version (in any, where none is given), lowest bit first.
std::vector<Slot> slots(const Register& reg, std::optional<int> version = {});

/// Whether a field is one bit, repeated side by side: one mask of counters, rather than many fields.
bool is_run(const Field& field);

/// The name of a run as a whole, "EN_PMC31..0", and of some of it, by their repetitions.
std::string run_name(const Field& field);
std::string run_name(const Field& field, int low, int high);

/// A number of so many bits, as parse_number() reads them; a negative one is what is that far below 2^width, as a
/// counter is loaded that shall overflow. Nothing where it is none, or does not fit.
std::optional<std::uint64_t> parse_signed(std::string_view text, int width);

/// Bits of what a register holds as a number: a counter may be narrower than its register.
int number_width(const Register& reg, std::optional<int> version = {});

/// The bits of all slots.
std::uint64_t known_bits(const Register& reg, std::optional<int> version = {});

/// Set bits that belong to no field: what they are says Register::others.
std::uint64_t unknown_bits(const Value& value);

/// The content of a field by its name in the table; `index` is that of a repetition, as in the name.
/// The name must be one of the register's: rules are written beside their tables.
std::uint64_t get(const Value& value, std::string_view field, int index = 0);

/// What the content of a field stands for; empty where a number says it all.
std::string reading(const Value& value, const Slot& slot);

/// A value from pairs of field names and contents, on top of `base`. Names as Slot::name() and run_name() give them,
/// case and _ against - do not matter; contents are numbers, also negative ones, or the names of values. Nothing after
/// a one-bit field sets it. Errors: bad_usage for an unknown field (with the nearest), a field named twice, and
/// contents that do not fit.
Result<Value> encode(const Place& place, std::optional<int> version,
                     const std::vector<std::pair<std::string, std::optional<std::string>>>& fields,
                     std::uint64_t base = 0);

/// What there is to say about a value: reserved bits, and the rules of its model. The gravest first.
std::vector<Remark> check(const Value& value);

/// In which versions of a model something exists, in words: "since version 4", "versions 3 to 4"; empty where in all.
std::string version_text(const Model& model, int since, int until);

/// Numbers in one short text: "0–3, 7".
std::string ranges(std::uint64_t set_bits);

}  // namespace tally::pmu
