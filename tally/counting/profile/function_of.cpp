#include "tally/counting/profile/function_of.hpp"

#include <algorithm>

namespace tally::profile {

const NamedCode* function_of(const CodeNames& names, std::uint64_t address) {
  const auto& all = names.functions();
  auto after = std::upper_bound(all.begin(), all.end(), address,
                                [](std::uint64_t at, const NamedCode& code) { return at < code.address; });
  // A short function may be inside a long one.
  constexpr int nested = 8;
  for (int i = 0; i < nested && after != all.begin(); ++i) {
    --after;
    if (address - after->address < after->bytes) return &*after;
  }
  return nullptr;
}

}  // namespace tally::profile
