// Passes the counts that programs made themselves to the command that runs them.
//
// The command creates a directory whose name contains its process ID and start time. A program with regions searches
// for the directory of an ancestor. Neither its environment nor its descriptors change, so a program without regions
// runs as it does without tally.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tally/core/base/result.hpp"
#include "tally/linux/descriptor.hpp"

namespace tally::linux {

/// The directory of this process, during the lifetime of this object. Can be moved, not copied.
class Gathering {
 public:
  /// Creates the directory. Also removes those of commands that were killed. Errors: cannot_measure if it cannot be
  /// created.
  static Result<Gathering> open();

  Gathering(Gathering&& other) noexcept;
  Gathering& operator=(Gathering&&) = delete;
  /// Removes the directory and its content.
  ~Gathering();

  /// Stores what programs should count, for asked_in(). Errors: cannot_write.
  Result<void> ask(std::string_view text) const;

  /// Returns what programs handed over since the last call, in the order of their starts; of those that ended without
  /// handing over, the content of their shared memory.
  std::vector<std::string> take();

 private:
  Gathering(std::filesystem::path folder, Descriptor held) : folder_(std::move(folder)), held_(std::move(held)) {}
  std::filesystem::path folder_;
  Descriptor held_;  ///< locks the directory, so that others see that it is in use
};

/// Returns the directory of the nearest ancestor that has one which only this user can access; nothing if there is
/// none. Cost: two or three system calls for each ancestor.
std::optional<std::filesystem::path> gathered_in();

/// Returns what the command asks programs to count; empty if nothing.
std::string asked_in(const std::filesystem::path& folder);

/// Memory that the command can still read when this process has ended: a file of the directory, of which parts are
/// mapped. Can be moved, not copied.
class SharedMemory {
 public:
  /// Creates an empty file. Nothing if that is impossible.
  static std::optional<SharedMemory> create(const std::filesystem::path& folder);

  /// Appends zeros to the file, and maps them. `bytes`: a multiple of the page size. Null if a limit does not allow it.
  std::uint8_t* append(std::size_t bytes);

  /// Replaces appended memory by private memory with the same content. The first `used` bytes have one.
  static void make_private(std::uint8_t* memory, std::size_t bytes, std::size_t used);

  /// Hands a text over in place of the memory, completely or not at all. Errors: cannot_write.
  Result<void> hand_over(std::string_view text) const;

 private:
  explicit SharedMemory(std::filesystem::path handoff) : handoff_(std::move(handoff)) {}
  std::filesystem::path file() const;
  std::filesystem::path handoff_;  ///< where a text is handed over
  std::size_t bytes_ = 0;
};

/// Hands over a text of a process without shared memory, completely or not at all. Errors: cannot_write.
Result<void> hand_over(const std::filesystem::path& folder, std::string_view text);

}  // namespace tally::linux
