// Reads what threads counted in functions of Python programs (tally/engine/channel/python.hpp).
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <tuple>

#include "tally/counting/backend/engine/effort.hpp"
#include "tally/counting/backend/engine/run.hpp"
#include "tally/output/result/code_values.hpp"

namespace tally::backend::engine {

/// Adds up the tables of threads: functions with the same name, file and line are one function.
class PythonReader {
 public:
  /// `events`: those that are counted. The references must outlive it.
  PythonReader(const Channel& shared, std::size_t events, Effort& effort, result::CodeCounts& result)
      : shared_(shared), events_(events), effort_(effort), result_(result) {}

  /// Adds the table in an area.
  void add(std::uint32_t area);

 private:
  result::PythonFunction& function(const std::string& name, const std::string& file, std::uint32_t line);

  const Channel& shared_;
  std::size_t events_;
  Effort& effort_;
  result::CodeCounts& result_;
  std::map<std::tuple<std::string, std::string, std::uint32_t>, std::size_t> numbers_;
};

}  // namespace tally::backend::engine
