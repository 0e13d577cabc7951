#pragma once
#include <string>

#include "tally/engine/channel/stored_layout.hpp"

namespace tally::engine_test {

/// The file of translations in a cache folder, and the key that its records are sealed with.
struct KeptFile {
  std::string path;
  channel::RecordKey key;
};

/// Fails the test if there is none. `modelled`: of code with models.
KeptFile kept_file(const std::string& folder, bool modelled = false);

}  // namespace tally::engine_test
