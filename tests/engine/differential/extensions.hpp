/// The instruction sets that random code uses and this processor lacks: their instructions are illegal here.
#pragma once
#include <string>
#include <vector>

namespace tally::differential {

/// The name of a processor and its flags, from a text in the format of /proc/cpuinfo.
struct Processor {
  std::string name;
  std::vector<std::string> flags;
};
Processor parse_processor(const std::string& cpuinfo);

/// Names of the extensions that the processor lacks.
std::vector<std::string> missing_extensions(const Processor& processor);

/// One line for people: the instruction sets that could not be tested here.
std::string untested_here();

}  // namespace tally::differential
