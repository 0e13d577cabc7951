// The file of counts that `tally discover -o` writes.
#pragma once

#include <optional>
#include <string>
#include <utility>

#include "programs/discovery/analysis/measurement_cells.hpp"
#include "tally/core/base/result.hpp"
#include "tally/linux/files/output_file.hpp"

namespace tally::discover {

/// The file that a sweep writes its counts to. Each line is written to disk at once.
class RunFile {
 public:
  /// Returns no file for an empty path. `resumed`: continues after the last complete line. Errors: cannot_write.
  static Result<std::optional<RunFile>> open(const std::string& path, const Record& record, bool resumed);

  /// Adds a line. Errors: cannot_write.
  Result<void> add(const Run& run);
  Result<void> add(const std::string& line);

 private:
  RunFile(std::string path, linux::Output output) : path_(std::move(path)), output_(std::move(output)) {}
  std::string path_;
  linux::Output output_;
};

}  // namespace tally::discover
