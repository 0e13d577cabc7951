// Files that tally keeps from one run to the next. They only save time: after any error, tally works without them.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tally/core/base/result.hpp"
#include "tally/linux/descriptor.hpp"

namespace tally::linux {

/// Returns `tally` in the directory that a variable of the XDG specification names, else in `below_home` of the home
/// directory. Empty if there is none, and for variables that are no absolute paths.
std::string user_folder(const char* variable, const std::string& below_home);
/// Returns the cache directory: $TALLY_CACHE_DIR, else `tally` in $XDG_CACHE_HOME or ~/.cache. Empty if there is none,
/// or if $TALLY_CACHE_DIR is empty.
std::string cache_folder();

/// Returns the limit of a cache in bytes: $TALLY_CACHE_MB if that is a number of megabytes from 32 on and less than
/// `most`, else `most`.
std::uint64_t cache_limit(std::uint64_t most);

/// An open file of this user that nobody else can write.
struct CacheFile {
  Descriptor file;
  std::uint64_t bytes = 0;
  std::uint64_t inode = 0;
};

/// Random bytes that only this user can read.
using CacheKey = std::array<std::uint64_t, 2>;

/// Returns new random bytes, or nothing if the kernel has none.
std::optional<CacheKey> make_cache_key();

/// An open cache directory, which only this user and root can change (trusted_folder.hpp). Names are those of files in
/// it.
class CacheFolder {
 public:
  /// Opens the directory. Errors: those of open_trusted_folder().
  static Result<CacheFolder> open(const std::string& path, bool make);

  /// Opens a file to read it, or also to write it. Errors: not_found if it is missing; cannot_measure if it cannot be
  /// trusted, with the reason.
  Result<CacheFile> open_file(const std::string& name, bool writes) const;

  /// Makes a file of this size, of zeros. It has no name, so nobody can find it before name_file().
  std::optional<CacheFile> make_file(std::uint64_t bytes) const;

  /// Names a file of make_file(), and replaces another file of that name. Returns false on failure.
  bool name_file(const CacheFile& file, const std::string& name) const;

  /// Reads the key of this user. Errors: those of open_file(), also if others may read the file.
  Result<CacheKey> read_key() const;

  /// Stores this key unless a readable one exists. Returns false if the directory then has another key or none.
  bool keep_key(const CacheKey& key) const;

  /// Stores what was wrong with a file until take_remark(), unless a remark exists already.
  void keep_remark(const std::string& remark) const;

  /// Returns the stored remark and removes it; empty if there is none.
  std::string take_remark() const;

 private:
  friend void bound_cache_files(const CacheFolder&, const std::vector<std::string>&, const std::string&, std::uint64_t);
  friend void bound_cache_files(const CacheFolder&, const std::string&, std::uint64_t);
  CacheFolder(Descriptor folder, std::string path) : folder_(std::move(folder)), path_(std::move(path)) {}
  Descriptor folder_;
  std::string path_;
};

/// Allocates disk space for a range of a file. Returns false if the disk is full or a limit forbids it.
bool has_space(const CacheFile& file, std::uint64_t offset, std::uint64_t bytes);

/// Whether any of these bytes of an open file were written; also true if the file system does not know.
bool has_data(int file, std::uint64_t offset, std::uint64_t bytes);

/// Locks the file for this process until it is closed, and sets its size. Returns false if another process has locked
/// it.
bool take_cache_file(CacheFile& file);

/// Notes that the file is in use: files used recently are removed last.
void note_cache_file_used(const CacheFile& file);

/// Removes cache files whose names are one of these prefixes and 16 hexadecimal digits, which identify the owner. First
/// those that belong neither to `own` (16 digits) nor to the other owner whose files were used last. Then the least
/// recently used ones, `own` files last, until all take at most `most_bytes` of disk. Also removes files that killed
/// processes had not renamed yet.
void bound_cache_files(const CacheFolder& folder, const std::vector<std::string>& prefixes, const std::string& own,
                       std::uint64_t most_bytes);

/// Removes the least recently used cache files whose names are this prefix and 16 hexadecimal digits, until all take at
/// most `most_bytes` of disk. Also removes files that killed processes had not renamed yet.
void bound_cache_files(const CacheFolder& folder, const std::string& prefix, std::uint64_t most_bytes);

}  // namespace tally::linux
