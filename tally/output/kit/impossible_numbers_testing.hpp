// Impossible numbers in stored results, for tests of readers.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

namespace tally::output {

/// Replaces each integer of the text with 2^63, 2^64 - 1 and negative numbers; `again` reads and writes it, and returns
/// nothing on errors.
template <class Again>
void expect_no_other_number(const std::string& text, Again&& again) {
  using Json = nlohmann::ordered_json;
  const Json impossible[] = {Json(std::uint64_t{1} << 63), Json(std::numeric_limits<std::uint64_t>::max()), Json(-1),
                             Json(std::numeric_limits<std::int64_t>::min())};
  const Json whole = Json::parse(text);
  const Json flat = whole.flatten();
  for (const auto& [place, value] : flat.items()) {
    if (!value.is_number_integer()) continue;
    for (const Json& number : impossible) {
      Json damaged = whole;
      damaged[Json::json_pointer(place)] = number;
      const std::optional<std::string> written = again(damaged.dump());
      if (!written) continue;
      const Json read = Json::parse(*written).flatten();
      if (!read.contains(place)) continue;  // derived from other values
      // Derived again from other values, or unchanged.
      EXPECT_TRUE(read[place] == number || read[place] == value)
          << place << ": " << number << " became " << read[place];
    }
  }
}

}  // namespace tally::output
