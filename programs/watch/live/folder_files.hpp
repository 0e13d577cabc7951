// Reads small files repeatedly.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tally/linux/descriptor.hpp"

namespace tally::watch {

/// Reads files below one directory into one buffer, without allocation and without resolving the whole path each time.
class FolderFiles {
 public:
  explicit FolderFiles(const std::string& folder);

  /// Returns the content of a file, valid until the next call; empty if it cannot be read: see os_errno(). Cost: four
  /// system calls.
  std::string_view text(const char* name);
  int os_errno() const { return os_errno_; }

  /// The same for a file that returns all its content to one read, if that is less than a page: files with one number,
  /// and /proc/PID/stat. Cost: three system calls.
  std::string_view record(const char* name);

  /// Returns the number at the beginning of such a file.
  std::optional<std::int64_t> number(const char* name);

  /// Whether the directory could be opened.
  explicit operator bool() const { return static_cast<bool>(folder_); }

 private:
  std::string_view read_from(const char* name, bool is_record);

  linux::Descriptor folder_;
  std::vector<char> buffer_;
  int os_errno_ = 0;
};

/// Splits a text into words.
class Words {
 public:
  explicit Words(std::string_view text) : rest_(text) {}

  /// Returns the next word; empty at the end. Any white space separates words.
  std::string_view next();

  /// Returns the next word as a number; nothing if it is not one.
  std::optional<std::uint64_t> number();

 private:
  std::string_view rest_;
};

/// Returns the number at the beginning of a text, after white space; nothing if there is none.
std::optional<std::uint64_t> leading_number(std::string_view text);

/// Returns the number after a word at the beginning of a line: "pgfault 123" of /proc/vmstat.
std::optional<std::uint64_t> number_after(std::string_view text, std::string_view word);

}  // namespace tally::watch
