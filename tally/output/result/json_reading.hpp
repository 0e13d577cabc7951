// Helpers that read results from JSON.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "tally/core/base/json_text.hpp"
#include "tally/output/result/stat_result.hpp"
#include "tally/output/result/windows_result.hpp"

namespace tally::result {

/// Keys keep the order in which they were written.
using Json = nlohmann::ordered_json;

// All of these may throw Json::exception; the caller that reads a whole file turns it into an Error.

/// The text of a key; empty if it is missing or null.
inline std::string text(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found == object.end() || found->is_null() ? "" : found->get<std::string>();
}

/// Converts a number to T. Throws if T cannot represent it: a number with a decimal point is no integer, -1 is no size,
/// and 2^63 is no count.
template <class T>
T number(const Json& json) {
  if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) {
    if (!json.is_number_integer()) return static_cast<T>(json.get_ref<const std::int64_t&>());
    const bool fits = json.is_number_unsigned() ? std::in_range<T>(json.get<std::uint64_t>())
                                                : std::in_range<T>(json.get<std::int64_t>());
    if (!fits) throw Json::out_of_range::create(406, "the number " + json_text(json) + " is out of range", &json);
  }
  return json.get<T>();
}

/// A count or index: not negative.
inline std::int64_t count(const Json& json) {
  const auto read = number<std::int64_t>(json);
  if (read < 0) throw Json::out_of_range::create(406, json_text(json) + " is negative", &json);
  return read;
}

/// The number of a key; empty if it is missing or null.
template <class T>
std::optional<T> optional(const Json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end() || found->is_null()) return std::nullopt;
  return number<T>(*found);
}
inline std::optional<std::int64_t> optional_count(const Json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end() || found->is_null()) return std::nullopt;
  return count(*found);
}

/// The trust of that name. A name that a later version may add is read as absent, because this version cannot interpret
/// it.
inline Trust trust(const Json& word) { return trust_of(word.get<std::string>()).value_or(Trust::absent); }

/// What a process counted in its own regions.
ProgramRegions program_regions(const Json& json);

/// The objects of a text: a single one, or one per line.
std::vector<Json> objects(std::string_view text);

/// Reads the key "provenance" of a result; unknown if it is missing or null.
Provenance read_provenance(const Json& result);

/// Reads the machine on which a result was measured, and its provenance.
Environment read_environment(const Json& result);

/// Reads what the programs of a run read that may make runs differ.
std::vector<ReadSource> read_sources(const Json& list);

/// Reads the keys of the CPU model and the simulated machine: cpu_model, unasked, machine_model, clock,
/// program_environment.
void read_models(const Json& result, Stat& stat);
/// The same without unasked.
void read_models(const Json& result, WindowsHead& head);

/// Reads the roofline of a result, if there is one.
std::optional<Roofline> read_roofline(const Json& result);

/// Reads the ceilings of a machine; none if the key is missing.
Ceilings read_ceilings(const Json& result);

/// Why a text cannot be read, from the JSON library's exception, without the library's own terms.
std::string parse_error_text(std::string_view text, std::string_view exception);

}  // namespace tally::result
