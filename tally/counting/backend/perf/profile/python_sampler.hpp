// Samples the Python functions of running processes, from outside.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "tally/counting/backend/perf/window_reader.hpp"
#include "tally/output/result/code_values.hpp"

namespace tally::backend::perf {

class PythonProcess;

/// About a hundred times a second, reads which function the thread that holds the global interpreter lock executes, and
/// adds the CPU time that its process has used since the last time to that function. Only CPython 3.11 to 3.13
/// (python_versions.hpp). The processes are not stopped. Needs the permission to read their memory (ptrace(2),
/// PTRACE_MODE_ATTACH_REALCREDS).
class PythonSampler {
 public:
  /// Begins with those of the processes that are such interpreters.
  explicit PythonSampler(const std::vector<std::int32_t>& processes);
  ~PythonSampler();

  /// Ends, and adds the functions to a profile of one event: CPU time, in nanoseconds.
  void finish(result::CodeCounts& code, std::vector<std::string>& notices);

 private:
  std::vector<std::unique_ptr<PythonProcess>> processes_;
  std::unique_ptr<WindowReader> reader_;
};

}  // namespace tally::backend::perf
