// A setting with which a result was counted.
#pragma once

#include <compare>
#include <string>
#include <string_view>

namespace tally::result {

/// A setting that decides counts.
struct Setting {
  std::string name;           ///< "--cpu-model", "backend"
  std::string value;          ///< in words
  bool is_of_models = false;  ///< it only decides modelled counts
  auto operator<=>(const Setting&) const = default;
};

/// A setting of runs that decides counts: the option `--NAME` of `tally stat` and `tally profile`, the key NAME of a
/// suite (`tally bench`), an input of action.yml, and the variable NAME of ci/gate (`CPU_MODEL`).
struct RunSetting {
  std::string_view name;
  bool is_flag = false;  ///< on or off; others have a value
};
inline constexpr RunSetting run_settings[] = {
    {"repeatable", true}, {"environment"}, {"clock"}, {"cpu-model"}, {"backend"}, {"model"},
    {"precision"},        {"prefetch"},    {"llc"},   {"marks"},     {"pin"},     {"wait-all", true},
};

}  // namespace tally::result
