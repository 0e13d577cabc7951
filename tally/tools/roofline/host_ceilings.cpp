#include "tally/tools/roofline/host_ceilings.hpp"

#include "tally/core/base/json_text.hpp"
#include "tally/engine/machines/host_file.hpp"
#include "tally/output/kit/json_values.hpp"
#include "tally/output/result/stored_ceilings.hpp"

namespace tally::roofline {
namespace {

constexpr const char* file_name = "ceilings";

}  // namespace

bool store_ceilings(const result::Ceilings& ceilings, const std::filesystem::path& root) {
  output::Json json;
  output::add_ceilings(json, ceilings);
  return machines::store_for_host(file_name, json_text(json, 2) + "\n", root);
}

std::optional<result::Ceilings> stored_ceilings(const std::filesystem::path& root) {
  const auto text = machines::stored_for_host(file_name, root);
  if (!text) return std::nullopt;
  auto ceilings = result::parse_ceilings(*text);
  if (!ceilings || ceilings->bandwidths.empty() || ceilings->peaks.empty()) return std::nullopt;
  return ceilings;
}

}  // namespace tally::roofline
