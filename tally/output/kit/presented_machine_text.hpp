// What programs saw instead of the real machine, and the simulated machine, as words of a table's last line.
#pragma once

#include <string>
#include <vector>

#include "tally/core/base/text.hpp"
#include "tally/output/result/stat_result.hpp"

namespace tally::output {

/// "clock counted", "CPU model x86-64-v2", "no machine model" and others; empty if no option asked for any.
inline std::vector<std::string> presented_machine(const result::Stat& stat) {
  std::vector<std::string> words;
  if (!stat.clock.empty()) words.push_back("clock " + printable(stat.clock));
  if (!stat.program_environment.empty()) words.push_back("environment " + printable(stat.program_environment));
  if (!stat.cpu_model.empty()) {
    words.push_back("CPU model " + printable(stat.cpu_model));
    words.push_back(stat.machine_model.empty() ? "no machine model" : "machine model " + printable(stat.machine_model));
  }
  return words;
}

}  // namespace tally::output
