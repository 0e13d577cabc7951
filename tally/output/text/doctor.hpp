// The answer of `tally doctor`: for people, and for programs.
#pragma once

#include <string>

#include "tally/output/result/doctor.hpp"

namespace tally::report {

/// Within 80 columns where no word or command is longer: the answer, what to do, what can be counted, why, the facts.
std::string doctor_text(const result::Diagnosis& diagnosis);

/// The same as one JSON object, tally-doctor/2 (docs/reference/doctor-json.md).
std::string doctor_json(const result::Diagnosis& diagnosis);

}  // namespace tally::report
