// The shipped models: each is a text in the format that `--model FILE` reads, in a file of its own.
#pragma once

#include <array>
#include <string_view>

namespace tally::machines {

/// A model's name and its text.
struct ShippedModel {
  std::string_view name;
  std::string_view text;
};

extern const std::string_view haswell_text;

/// All shipped models, one per line.
inline const std::array shipped{
    ShippedModel{"haswell", haswell_text},
};

}  // namespace tally::machines
