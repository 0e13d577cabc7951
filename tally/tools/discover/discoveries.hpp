// The files of `tally discover`.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tally/core/base/result.hpp"
#include "tally/linux/files/output_file.hpp"
#include "tally/output/result/discovery_result.hpp"
#include "tally/tools/discover/analysis/measurement_cells.hpp"

namespace tally::discover {

/// Reads the record of a sweep. Errors: bad_usage, with the file's name.
Result<Record> read_record_file(const std::string& path);

/// Whether a text looks like a file that `tally discover -o` wrote.
bool is_discovery(std::string_view text);

/// Analyses the counts in such a text. Errors: bad_usage, with the file's name.
Result<result::Discovery> discovery_of(std::string_view text, const std::string& file);

/// The declared properties of the library's payloads.
std::vector<Facts> library_facts();

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
