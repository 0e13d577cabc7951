// A stored result of any kind, and its file.
#pragma once

#include <string>

#include "tally/output/result/any.hpp"

namespace tally::results {

struct StoredResult {
  std::string name;  ///< of its file
  result::AnyResult result;
};

}  // namespace tally::results
