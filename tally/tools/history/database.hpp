// The history file: an SQLite database of results.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "tally/core/base/result.hpp"
#include "tally/output/result/history_result.hpp"

struct sqlite3;

namespace tally::history {

/// The first bytes of a history file, as of every SQLite database.
inline constexpr std::string_view file_magic{"SQLite format 3\0", 16};

/// Whether a result was measured now, or read from a file, which may have been added before.
enum class Origin { measured, file };

/// An open history. Several processes may use one file at the same time: a writer waits up to a minute for others. A
/// result is stored completely or not at all, even if the process is killed or the disk is full (SQLite's rollback
/// journal, synchronous=FULL). The file needs file locks: use a local file system.
class Database {
 public:
  /// Opens a history for writing, and creates it if it is missing. Errors: cannot_write; bad_usage for a file that is
  /// not a history of tally, or one of a later version.
  static Result<Database> open(const std::string& path);

  /// Opens an existing history for reading. Errors: bad_usage.
  static Result<Database> open_to_read(const std::string& path);

  /// Stores a result. `document`: its JSON text. Ignores a result from a file if the history already contains
  /// its document. Errors: cannot_write.
  Result<void> add(const result::HistoryEntry& entry, const std::string& document, Origin origin);

  /// All results. Errors: bad_usage if the file is damaged.
  Result<result::History> read();

 private:
  struct Close {
    void operator()(sqlite3* handle) const;
  };
  using Handle = std::unique_ptr<sqlite3, Close>;
  static Result<Database> open_with(const std::string& path, int flags);
  Database(Handle handle, std::string path) : handle_(std::move(handle)), path_(std::move(path)) {}
  Result<void> prepare_file();
  Result<void> run(const char* sql);
  Error failure(Code code, const std::string& what) const;

  Handle handle_;
  std::string path_;
};

}  // namespace tally::history
