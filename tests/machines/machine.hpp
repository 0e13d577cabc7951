// Machines that we do not have, each one file: the files below / that matter, the CPUID leaves, and the results of
// attempts to count.
#pragma once

#include <string>
#include <vector>

#include "programs/doctor/host_facts.hpp"

namespace tally::test {

/// The names of all machines in this folder, sorted.
std::vector<std::string> all_machines();

/// The facts that tally would find on that machine. Its files are written to a temporary folder, and read there.
doctor::Facts facts_of(const std::string& machine);

/// The path of a file of this folder.
std::string machine_file(const std::string& name);

}  // namespace tally::test
