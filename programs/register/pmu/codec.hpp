// Decodes register values into fields, and encodes fields into values.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "programs/register/pmu/model.hpp"
#include "tally/core/base/result.hpp"

namespace tally::pmu {

/// The value of a register in one version of its model; without a version, in all at once.
struct Value {
  RegisterInstance place;
  std::uint64_t bits = 0;
  std::optional<int> version;
};

/// One field of a register; a repeated field has one Slot per repetition.
struct Slot {
  const Field* field = nullptr;
  int index = 0;  ///< repetition, from 0

  /// "OS2"
  std::string name() const;
  int lsb() const { return field->lsb + index * field->stride; }
  int msb() const { return lsb() + field->width - 1; }
  std::uint64_t mask() const { return field_mask(*field, index); }
  /// The field's value in a register value.
  std::uint64_t of(std::uint64_t bits) const { return extract(*field, bits, index); }
};

/// The fields of a register in a version (without one, in any), lowest bit first.
std::vector<Slot> slots(const Register& reg, std::optional<int> version = {});

/// Whether a field is one bit, repeated without gaps: a mask of counters.
bool is_run(const Field& field);

/// The name of a whole run, "EN_PMC31..0", and of some of its repetitions.
std::string run_name(const Field& field);
std::string run_name(const Field& field, int low, int high);

/// Parses a number of `width` bits as parse_number() does. A negative number is taken modulo 2^width: such values load
/// a counter before its overflow. Returns nothing if it is not a number or does not fit.
std::optional<std::uint64_t> parse_signed(std::string_view text, int width);

/// The width of the number in a register: a counter may be narrower than its register.
int number_width(const Register& reg, std::optional<int> version = {});

/// The bits of all slots.
std::uint64_t known_bits(const Register& reg, std::optional<int> version = {});

/// Set bits that belong to no field; Register::others has their meaning.
std::uint64_t unknown_bits(const Value& value);

/// The value of a field by its name in the table; `index` is the repetition, as in the name. The register must have the
/// field: rules belong to the same file as their tables.
std::uint64_t get(const Value& value, std::string_view field, int index = 0);

/// The meaning of a field's value; empty if the number is enough.
std::string reading(const Value& value, const Slot& slot);

/// Encodes pairs of field names and values on top of `base`. Names are those of Slot::name() and run_name(), ignoring
/// case and - versus _. Values are numbers, also negative, or named values; a one-bit field without a value is set.
/// Errors: bad_usage for an unknown field (suggests the nearest), a duplicate field, and a value that does not fit.
Result<Value> encode(const RegisterInstance& place, std::optional<int> version,
                     const std::vector<std::pair<std::string, std::optional<std::string>>>& fields,
                     std::uint64_t base = 0);

/// Checks a value for reserved bits and against the rules of its model. Most severe first.
std::vector<Remark> check(const Value& value);

/// The versions of a model that have something: "since version 4", "versions 3 to 4"; empty if all have it.
std::string version_text(const Model& model, int since, int until);

/// The set bits as ranges: "0–3, 7".
std::string ranges(std::uint64_t set_bits);

}  // namespace tally::pmu
