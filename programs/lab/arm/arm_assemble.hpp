// Assembles programs for the Arm core with the GNU assembler.
#pragma once

#include <string>
#include <vector>

#include "programs/lab/lab_image.hpp"
#include "programs/lab/pmu/arm_profile.hpp"

namespace tally::lab::arm {

/// Assembles and links a text as if it were the file `name`, in whose directory included files are searched. Replaces
/// names of the core's registers that the assembler does not support with encodings. `defines`: NAME=VALUE. Errors:
/// not_found without an assembler; bad_usage with the assembler's message for a line.
Result<Image> assemble(const std::string& name, const std::string& text, const pmu::emulated::ArmProfile& profile,
                       const std::vector<std::string>& defines = {});

/// Returns lab.inc, the helper macros.
std::string include_text();

}  // namespace tally::lab::arm
