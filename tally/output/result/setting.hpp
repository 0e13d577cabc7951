// A setting with which a result was counted.
#pragma once

#include <compare>
#include <string>

namespace tally::result {

/// A setting that decides counts.
struct Setting {
  std::string name;           ///< "--cpu-model", "backend"
  std::string value;          ///< in words
  bool is_of_models = false;  ///< it only decides modelled counts
  auto operator<=>(const Setting&) const = default;
};

}  // namespace tally::result
