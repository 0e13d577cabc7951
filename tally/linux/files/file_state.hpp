// Identifies a file and its content, so that tally notices when it is replaced or changed.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>

#include "tally/linux/descriptor.hpp"

namespace tally::linux {

/// A regular file, with its content identified by size and modification time (stat(2)).
struct FileState {
  std::uint64_t device = 0, inode = 0, bytes = 0;
  std::int64_t modified_s = 0;
  std::uint32_t modified_ns = 0;
  auto operator<=>(const FileState&) const = default;
};

/// Nothing if it is not a regular file.
std::optional<FileState> file_state(int fd);
/// The same for a path; nothing if it leads nowhere.
std::optional<FileState> file_state(const std::string& path);

/// Returns the generation of an inode: a new number each time that the inode is reused for another file. Nothing if the
/// file system has none.
std::optional<std::uint64_t> generation_of(const std::string& path);

/// Returns the mount that a file was opened through (STATX_MNT_ID); nothing if the kernel does not report it.
std::optional<std::uint64_t> mount_of(int fd);
std::optional<std::uint64_t> mount_of(const std::string& path);

/// Whether reading a file can wait for another computer or for a program (FUSE), which may be a measured one.
bool may_wait_for_others(int fd);

/// Copies the first `bytes` of a file into a memory file. No descriptor if it cannot be read or is shorter.
Descriptor copy_to_memory(int fd, std::uint64_t bytes);

/// Opens a directory, for opening files below it. No descriptor on failure.
Descriptor open_directory(const std::string& path);

/// Returns how many descriptors this process can have open.
std::uint64_t descriptor_limit();

/// Returns a path at which helper programs of this process can open what the descriptor refers to, while it is open.
std::string path_of_descriptor(int fd);

}  // namespace tally::linux
