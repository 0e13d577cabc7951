// Reading the JSON of results, for the files of this room.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "tally/result/stat.hpp"

namespace tally::result {

/// Keys keep the order in which they were written.
using Json = nlohmann::ordered_json;

// All of these may throw Json::exception; who reads a whole file turns it into an Error.

/// The text of a key; empty where it is missing or null.
inline std::string text(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found == object.end() || found->is_null() ? "" : found->get<std::string>();
}

/// A number of that type. A number with a point is no integer: what it would be cut to is nobody's number.
template <class T>
T number(const Json& json) {
  if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) {
    if (!json.is_number_integer()) return static_cast<T>(json.get_ref<const std::int64_t&>());
  }
  return json.get<T>();
}

/// The number of a key; nothing where it is missing or null.
template <class T>
std::optional<T> optional(const Json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end() || found->is_null()) return std::nullopt;
  return number<T>(*found);
}

/// How far a value can be believed, by its word. The only one that a later version could add is one that this one
/// cannot believe.
inline Trust trust(const Json& word) { return trust_of(word.get<std::string>()).value_or(Trust::absent); }

/// What a process counted of its own regions.
ProgramRegions program_regions(const Json& json);

/// The objects of a text: one, or one in each line.
std::vector<Json> objects(std::string_view text);

/// Where it was measured.
Environment read_environment(const Json& json);

/// Why a text cannot be read, from what the library's exception says: without the words that are the library's own.
std::string what_is_wrong(std::string_view text, std::string_view exception);

}  // namespace tally::result
