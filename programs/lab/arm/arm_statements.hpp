// Compiles statements of tally lab -e for an Arm core to a program.
#pragma once

#include <string>

#include "programs/lab/pmu/arm_profile.hpp"
#include "programs/lab/x86_statements.hpp"

namespace tally::lab::arm {

/// Compiles statements, separated by `;` or line ends, to a program:
///   msr REGISTER, VALUE    msr REGISTER:FIELD=N,FIELD   as `tally register` takes them
///   mrs REGISTER           into X0
///   run N INSTRUCTION      the instruction N times; without it, NOP
///   user                   goes to EL0
/// and any other instruction, as the GNU assembler accepts it. Interrupts are unmasked; a handler clears PMUv3's
/// overflow flags, or disables Apple's interrupts. Errors: bad_usage, with the statement.
Result<Script> compile(const std::string& text, const pmu::emulated::ArmProfile& profile);

}  // namespace tally::lab::arm
