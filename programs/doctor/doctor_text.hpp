// The result of `tally doctor`: as text and as JSON.
#pragma once

#include <string>

#include "programs/doctor/diagnosis.hpp"

namespace tally::doctor {

/// The answer, what to do, what can be counted, why, and the facts. At most 80 columns wide, or as wide as a narrower
/// terminal (0: no terminal), unless a word or command is longer.
std::string doctor_text(const Diagnosis& diagnosis, std::size_t terminal = 0);

/// The same as one JSON object, tally-doctor/2 (docs/reference/doctor-json.md).
std::string doctor_json(const Diagnosis& diagnosis);

}  // namespace tally::doctor
