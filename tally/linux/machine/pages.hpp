// The size of pages, and the memory that the kernel leaves to this process.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace tally::linux {

/// Returns the size of a base page in bytes.
std::size_t page_bytes();

/// Returns how much memory this process can still use: what the kernel calls available, or less if a cgroup's limit
/// leaves less. Nothing if the kernel does not report it. `root`: the directory that contains proc/ and sys/.
std::optional<std::uint64_t> available_bytes(const std::string& root = "/");

/// What the kernel did in the cgroup of this process when memory was used up.
struct MemoryKills {
  std::uint64_t processes = 0;               ///< how many it has killed so far
  std::string group;                         ///< the cgroup, as in /proc/self/cgroup
  std::optional<std::uint64_t> limit_bytes;  ///< the smallest limit of the cgroup and of those above it
  std::string limit_file;                    ///< the file of that limit
};

/// Reads memory.events of cgroup v2, or memory.oom_control of cgroup v1. Nothing if the kernel does not report it.
/// Cost: two small files, and with the limit one for each cgroup above.
std::optional<MemoryKills> memory_kills(const std::string& root = "/", bool with_limit = true);

}  // namespace tally::linux
