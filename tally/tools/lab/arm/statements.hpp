// tally lab -e for an Arm core: short statements that become a program.
#pragma once

#include <string>

#include "tally/hardware/pmu/emulated/arm_profile.hpp"
#include "tally/tools/lab/statements.hpp"

namespace tally::lab::arm {

/// Makes a program of statements, separated by `;` or line ends:
///   msr REGISTER, VALUE    msr REGISTER:FIELD=N,FIELD   as `tally register` takes them
///   mrs REGISTER           into X0
///   run N INSTRUCTION      the instruction N times; without it, NOP
///   user                   goes to EL0
/// and any other instruction, as GNU's assembler takes it. Interrupts are let in; a handler clears PMUv3's overflow
/// flags, or turns Apple's interrupts off. Errors: bad_usage, with the statement.
Result<Script> compile(const std::string& text, const pmu::emulated::ArmProfile& profile);

}  // namespace tally::lab::arm
