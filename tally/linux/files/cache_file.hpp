// Files that tally keeps for itself from one run to the next. They only save time: whatever goes wrong, there are none.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

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

/// Opens one to read it, or to write too. Nothing where there is none that may be trusted.
std::optional<CacheFile> open_cache_file(const std::string& path, bool writes);

/// Makes an empty file of this size in the folder, which is made if need be; nobody finds it before it is named.
/// Nothing where the folder is not this user's.
std::optional<CacheFile> make_cache_file(const std::string& folder, std::uint64_t bytes);

/// Gives a file that make_cache_file made its name, in the place of another one of that name.
bool name_cache_file(const CacheFile& file, const std::string& path);

/// Has disk space for a range of a file; false where the disk or a limit has none.
bool has_space(const CacheFile& file, std::uint64_t offset, std::uint64_t bytes);

/// Takes the file for this process until it is closed; false where another one has it.
bool take_cache_file(const CacheFile& file);

/// Notes that the file is used now: what is used is the last to go.
void note_cache_file_used(const CacheFile& file);

/// Files of one folder that belong together: the name of each is one of these prefixes and 16 hexadecimal digits, which
/// say whose it is.
struct CacheFiles {
  std::string folder;
  std::vector<std::string> prefixes;
};

/// Removes those that are neither `own` (16 digits) nor of the other owner whose files were used last; then, until all
/// of them take at most `most_bytes` of the disk, those that were used the longest ago, the own ones last. With them
/// what a killed process did not come to name.
void bound_cache_files(const CacheFiles& files, const std::string& own, std::uint64_t most_bytes);

/// What names this start of the kernel; empty where it does not say.
std::string boot_id();

}  // namespace tally::linux
