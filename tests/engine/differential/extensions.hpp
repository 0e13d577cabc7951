/// Which instruction sets random code has and this processor does not: there every instruction is an illegal one.
#pragma once
#include <string>
#include <vector>

namespace tally::differential {

/// The name of a processor and its flags, of a text as /proc/cpuinfo has it.
struct Processor {
  std::string name;
  std::vector<std::string> flags;
};
Processor parse_processor(const std::string& cpuinfo);

/// Names of the extensions that the processor lacks.
std::vector<std::string> missing_extensions(const Processor& processor);

/// One line for people: what could not be tested here.
std::string untested_here();

}  // namespace tally::differential
