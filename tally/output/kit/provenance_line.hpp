// The provenance of a result, for people.
#pragma once

#include <string>

#include "tally/output/result/provenance.hpp"

namespace tally::output {

/// "2026-11-27T06:54:18Z · label: before · commit 703b6f084e4f · host build-3"; what is unknown is left out.
std::string provenance_line(const result::Provenance& provenance);

}  // namespace tally::output
