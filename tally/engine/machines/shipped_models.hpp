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

extern const std::string_view haswell_text, skylake_text, skylake_server_text, icelake_text, sapphire_rapids_text,
    granite_rapids_text, zen2_text, zen3_text, zen4_text, zen5_text, bonnell_text;

/// All shipped models, one per line. A processor of `--cpu-model` has the same name here.
inline const std::array shipped{
    ShippedModel{"haswell", haswell_text},
    ShippedModel{"skylake", skylake_text},
    ShippedModel{"skylake-server", skylake_server_text},
    ShippedModel{"icelake", icelake_text},
    ShippedModel{"sapphire-rapids", sapphire_rapids_text},
    ShippedModel{"granite-rapids", granite_rapids_text},
    ShippedModel{"zen2", zen2_text},
    ShippedModel{"zen3", zen3_text},
    ShippedModel{"zen4", zen4_text},
    ShippedModel{"zen5", zen5_text},
    ShippedModel{"bonnell", bonnell_text},
};

}  // namespace tally::machines
