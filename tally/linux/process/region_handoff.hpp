// What programs counted themselves, handed to the command that runs them.
//
// The command makes a folder whose name tells its process: its number, and when it started. A program that has
// something to hand over looks for the folder of an ancestor when it ends. Neither its environment nor its descriptors
// tell it, so a program that has nothing to hand over runs as it runs without.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tally/core/base/result.hpp"
#include "tally/linux/descriptor.hpp"

namespace tally::linux {

/// The folder of this process, from its making to its end. Moves, never copies.
class Gathering {
 public:
  /// Removes the folders of commands that were killed, too. Errors: cannot_measure where the folder cannot be made.
  static Result<Gathering> open();

  Gathering(Gathering&& other) noexcept;
  Gathering& operator=(Gathering&&) = delete;
  /// Removes the folder and what is in it.
  ~Gathering();

  /// What programs find that ask what they are to count: see asked_in(). Errors: cannot_write.
  Result<void> ask(std::string_view text) const;

  /// What was handed over since the last time, in the order in which the programs started.
  std::vector<std::string> take();

 private:
  Gathering(std::filesystem::path folder, Descriptor held) : folder_(std::move(folder)), held_(std::move(held)) {}
  std::filesystem::path folder_;
  Descriptor held_;  ///< by it others see that the folder is in use
};

/// The folder of the nearest ancestor that has one, where it is this user's and nobody else's; nothing where there is
/// none. Cost: two system calls or three for each ancestor.
std::optional<std::filesystem::path> gathered_in();

/// What the command asks programs for; empty where it does not.
std::string asked_in(const std::filesystem::path& folder);

/// Hands a text over, whole or not at all. Errors: cannot_write.
Result<void> hand_over(const std::filesystem::path& folder, std::string_view text);

}  // namespace tally::linux
