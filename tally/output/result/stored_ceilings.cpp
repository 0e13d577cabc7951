#include "tally/output/result/stored_ceilings.hpp"

#include "tally/output/result/json_reading.hpp"

namespace tally::result {

std::optional<Ceilings> parse_ceilings(std::string_view text) {
  try {
    return read_ceilings(Json::parse(text));
  } catch (const Json::exception&) {
    return std::nullopt;
  }
}

}  // namespace tally::result
