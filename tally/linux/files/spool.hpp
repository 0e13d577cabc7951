// Stores bytes in an unnamed temporary file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "tally/linux/descriptor.hpp"

namespace tally::linux {

/// Stores bytes and returns them in order. They are in a file in $TMPDIR (/tmp) that the kernel removes at the end.
/// Bytes that the file cannot take (full disk, no such directory) stay in memory.
class Spool {
 public:
  Spool();

  void add(const void* bytes, std::size_t count);
  /// Makes read() begin at the first byte. Nothing may be added afterwards.
  void rewind();
  /// Reads the next `count` bytes. Returns false if there are fewer, or if the file cannot be read.
  bool read(void* to, std::size_t count);

 private:
  void empty_into_file();

  Descriptor file_;
  bool full_ = false;          // the file takes no more
  std::string held_;           // bytes after those in the file
  std::uint64_t in_file_ = 0;  // bytes
  std::uint64_t at_ = 0;       // offset of the next byte to read
  std::string chunk_;          // part of the file that was read
  std::uint64_t chunk_at_ = 0;
};

}  // namespace tally::linux
