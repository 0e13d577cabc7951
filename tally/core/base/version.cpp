#include "tally/core/base/version.hpp"

namespace tally {

std::string_view version() { return TALLY_VERSION; }

}  // namespace tally
