// Files that tally keeps for itself from one run to the next. They only save time: whatever goes wrong, there are none.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

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

/// Removes all files of the folder whose names are `prefix` and 16 hexadecimal digits, but `keep` and the one that was
/// written last before it.
void remove_old_cache_files(const std::string& folder, const std::string& prefix, const std::string& keep);

/// What names this start of the kernel; empty where it does not say.
std::string boot_id();

}  // namespace tally::linux
