// Small files of /proc and /sys.
#pragma once

#include <cstddef>
#include <filesystem>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

namespace tally::linux {

/// What a regular file holds, at most `limit` bytes of it; without the white space around it where it is read whole.
/// Empty where it cannot be read.
std::string content(const std::filesystem::path& path, std::size_t limit = std::numeric_limits<std::size_t>::max());

/// Writes a value to a file of the kernel's that exists. False where it is refused: see errno.
bool write_kernel_file(const std::filesystem::path& path, std::string_view text);

/// The names in a folder, sorted. Empty where it cannot be read.
std::vector<std::string> folder_entries(const std::filesystem::path& folder);

/// The value in the first line "key : value" of a text like /proc/cpuinfo.
std::string value_of(const std::string& text, std::string_view key);

}  // namespace tally::linux
