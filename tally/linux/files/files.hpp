// Reads and writes small files of /proc and /sys.
#pragma once

#include <cstddef>
#include <filesystem>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

namespace tally::linux {

/// Returns the content of a regular file, at most `limit` bytes. Without a limit, surrounding white space is removed.
/// Empty if it cannot be read.
std::string content(const std::filesystem::path& path, std::size_t limit = std::numeric_limits<std::size_t>::max());

/// Writes a value to an existing file of the kernel. Returns false on failure: see errno.
bool write_kernel_file(const std::filesystem::path& path, std::string_view text);

/// Returns the names in a directory, sorted. Empty if it cannot be read.
std::vector<std::string> folder_entries(const std::filesystem::path& folder);

/// Returns the value of the first line "key : value" of a text such as /proc/cpuinfo.
std::string value_of(const std::string& text, std::string_view key);

}  // namespace tally::linux
