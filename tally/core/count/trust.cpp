#include "tally/core/count/trust.hpp"

#include <array>

namespace tally {
namespace {

constexpr std::array<std::string_view, 8> trust_names{"exact",     "counted",  "scaled",  "sampled",
                                                      "estimated", "modelled", "partial", "absent"};

}  // namespace

std::string_view name(Trust trust) { return trust_names[static_cast<std::size_t>(trust)]; }

std::optional<Trust> trust_of(std::string_view name) {
  for (std::size_t i = 0; i < trust_names.size(); ++i) {
    if (trust_names[i] == name) return static_cast<Trust>(i);
  }
  return std::nullopt;
}

}  // namespace tally
