// Machines that we do not have, each one file: the files below / that matter, what CPUID says, what was answered when
// one tried to count.
#pragma once

#include <string>
#include <vector>

#include "tally/tools/doctor/facts.hpp"

namespace tally::test {

/// The names of all machines in this folder, sorted.
std::vector<std::string> all_machines();

/// What would be known on that machine. Its files are laid out in a temporary folder, and looked at there.
doctor::Facts facts_of(const std::string& machine);

/// The path of a file of this folder.
std::string machine_file(const std::string& name);

}  // namespace tally::test
