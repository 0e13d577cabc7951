// Files that tally keeps for itself from one run to the next. They only save time: whatever goes wrong, there are none.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tally/core/base/result.hpp"
#include "tally/linux/descriptor.hpp"

namespace tally::linux {

/// The folder of such files: $TALLY_CACHE_DIR, else `tally` in $XDG_CACHE_HOME or ~/.cache. Empty where there is none,
/// or where $TALLY_CACHE_DIR is set to nothing.
std::string cache_folder();

/// An open file of this user's that nobody else may write.
struct CacheFile {
  Descriptor file;
  std::uint64_t bytes = 0;
  std::uint64_t inode = 0;
};

/// Random bytes that only this user can read.
using CacheKey = std::array<std::uint64_t, 2>;

/// New random bytes; nothing where the kernel has none.
std::optional<CacheKey> make_cache_key();

/// An open folder of such files, which only this user and root can change (trusted_folder.hpp). Names are those of
/// files in it.
class CacheFolder {
 public:
  /// Errors: as of open_trusted_folder().
  static Result<CacheFolder> open(const std::string& path, bool make);

  /// Opens a file to read it, or to write too. Errors: not_found where there is none; cannot_measure where it is not to
  /// be trusted, the message says why.
  Result<CacheFile> open_file(const std::string& name, bool writes) const;

  /// Makes an empty file of this size; nobody finds it before it is named.
  std::optional<CacheFile> make_file(std::uint64_t bytes) const;

  /// Gives a file that make_file() made its name, in the place of another one of that name.
  bool name_file(const CacheFile& file, const std::string& name) const;

  /// The key of this user. Errors: as of open_file(), with those of a file that others may read.
  Result<CacheKey> read_key() const;

  /// Keeps this key unless there is one that can be read. False where the folder has another one afterwards, or none.
  bool keep_key(const CacheKey& key) const;

  /// Keeps what was wrong with a file until take_remark(), unless there is something already.
  void keep_remark(const std::string& remark) const;

  /// Returns the remark that was kept, and forgets it; empty where there is none.
  std::string take_remark() const;

 private:
  friend void bound_cache_files(const CacheFolder&, const std::vector<std::string>&, const std::string&, std::uint64_t);
  CacheFolder(Descriptor folder, std::string path) : folder_(std::move(folder)), path_(std::move(path)) {}
  Descriptor folder_;
  std::string path_;
};

/// Has disk space for a range of a file; false where the disk or a limit has none.
bool has_space(const CacheFile& file, std::uint64_t offset, std::uint64_t bytes);

/// Takes the file for this process until it is closed; false where another one has it.
bool take_cache_file(const CacheFile& file);

/// Notes that the file is used now: what is used is the last to go.
void note_cache_file_used(const CacheFile& file);

/// Of the files whose names are one of these prefixes and 16 hexadecimal digits, which say whose they are, removes
/// those that are neither `own` (16 digits) nor of the other owner whose files were used last; then, until all of them
/// take at most `most_bytes` of the disk, those that were used the longest ago, the own ones last. With them what a
/// killed process did not come to name.
void bound_cache_files(const CacheFolder& folder, const std::vector<std::string>& prefixes, const std::string& own,
                       std::uint64_t most_bytes);

}  // namespace tally::linux
