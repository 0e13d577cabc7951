// --history: the file in which `stat` and `compare` store their results.
#pragma once

#include <optional>
#include <string>

#include "tally/core/base/result.hpp"
#include "tally/output/result/stat_result.hpp"
#include "tally/tools/command/command_page.hpp"
#include "tally/tools/history/database.hpp"

namespace tally::history {

struct HistoryOptions {
  std::string file;           ///< empty: nothing is stored
  std::string name;           ///< of the series; empty: the measured command line
  std::string accepted = {};  ///< as HistoryEntry::accepted
};

/// Adds `--history` alone.
void add_history_option(command::Page& page, std::string& file);
void add_history_options(command::Page& page, HistoryOptions& options);

/// The history that an invocation adds to, or none.
class HistoryFile {
 public:
  /// Opens it before anything is measured. Errors: those of Database::open(); bad_usage for --name without --history.
  static Result<HistoryFile> open(const HistoryOptions& options);

  /// Stores a result. Does nothing without a history, and for a program that failed or was interrupted, whose counts
  /// are no measure of it; says so. Returns tally's exit code.
  int add(const result::Stat& stat, Origin origin);

 private:
  HistoryOptions options_;
  std::optional<Database> database_;
};

}  // namespace tally::history
