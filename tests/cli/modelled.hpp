// `tally stat` with a machine model, and its output for each event.
#pragma once

#include <map>
#include <nlohmann/json.hpp>

#include "tests/cli/program.hpp"

namespace tally::test {

/// Values by full name, and the notices, of a program under a model.
struct Modelled {
  int code = 0;
  std::map<std::string, std::int64_t> values;
  std::map<std::string, nlohmann::json> events;
  std::string notices;
};

Modelled run_modelled(const Words& options, const Words& command, const std::string& input = {});

/// Whether the build contains a program with a known answer.
std::string workload(const std::string& name);

}  // namespace tally::test
