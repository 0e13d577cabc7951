#include "tally/counting/backend/engine/count/missing_features.hpp"

#include <algorithm>
#include <cstring>

#include "tally/engine/cpus/cpu_model.hpp"

namespace tally::backend::engine {
namespace {

/// The text of an array, which a program may have overwritten.
template <std::size_t N>
std::string text_in_array(const char (&array)[N]) {
  return std::string(array, ::strnlen(array, N));
}

}  // namespace

std::vector<result::UnaskedCode> unasked_code(const Channel& shared) {
  std::vector<result::UnaskedCode> all;
  for (const channel::UnaskedSite& site : shared.records.header().unasked) {
    if (site.state != 2 || site.count == 0 || site.feature >= static_cast<std::uint32_t>(channel::Feature::count))
      continue;
    const std::string feature(cpus::name_of(static_cast<channel::Feature>(site.feature)));
    std::string file = text_in_array(site.file);
    const auto count = static_cast<std::int64_t>(site.count);
    const auto same = std::find_if(all.begin(), all.end(), [&](const result::UnaskedCode& code) {
      return code.feature == feature && code.file == file;
    });
    if (same != all.end())
      same->count += count;
    else
      all.push_back({feature, text_in_array(site.instruction), std::move(file), site.offset, {}, count});
  }
  return all;
}

}  // namespace tally::backend::engine
