// Small files that are read again and again.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tally/linux/descriptor.hpp"

namespace tally::linux {

/// Reads files below one folder into one buffer: no allocation and no path from the root for each.
class FolderFiles {
 public:
  explicit FolderFiles(const std::string& folder);

  /// What a file holds, until the next call; empty where it cannot be read, and os_errno() says why. Cost: four system
  /// calls.
  std::string_view text(const char* name);
  int os_errno() const { return os_errno_; }

  /// The same of a file that gives all it holds to one read, where that is less than a page: files of one number, and
  /// /proc/PID/stat. Cost: three system calls.
  std::string_view record(const char* name);

  /// The number that such a file begins with.
  std::optional<std::int64_t> number(const char* name);

  /// The folder could be opened.
  explicit operator bool() const { return static_cast<bool>(folder_); }

 private:
  std::string_view read_from(const char* name, bool is_record);

  Descriptor folder_;
  std::vector<char> buffer_;
  int os_errno_ = 0;
};

/// Takes the words of a text one by one.
class Words {
 public:
  explicit Words(std::string_view text) : rest_(text) {}

  /// The next one; empty at the end. White space of all kinds separates.
  std::string_view next();

  /// The next one as a number; nothing where it is none.
  std::optional<std::uint64_t> number();

 private:
  std::string_view rest_;
};

/// The number that a text begins with, after white space; nothing where there is none.
std::optional<std::uint64_t> leading_number(std::string_view text);

/// The number behind a word at the beginning of a line: "pgfault 123" of /proc/vmstat.
std::optional<std::uint64_t> number_after(std::string_view text, std::string_view word);

}  // namespace tally::linux
