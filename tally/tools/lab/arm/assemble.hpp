// Assembly for the Arm core, by GNU's assembler.
#pragma once

#include <string>
#include <vector>

#include "tally/hardware/pmu/emulated/arm_profile.hpp"
#include "tally/tools/lab/image.hpp"

namespace tally::lab::arm {

/// Assembles and links a text as if it were the file `name`, whose folder is looked into for what it includes; names of
/// the core's registers that the assembler does not know become encodings. `defines`: NAME=VALUE.
/// Errors: not_found where there is no assembler; bad_usage with what it says of which line.
Result<Image> assemble(const std::string& name, const std::string& text, const pmu::emulated::ArmProfile& profile,
                       const std::vector<std::string>& defines = {});

/// lab.inc: the helpers.
std::string include_text();

}  // namespace tally::lab::arm
