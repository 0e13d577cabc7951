// Bytes that wait for their time in a file without a name.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "tally/linux/descriptor.hpp"

namespace tally::linux {

/// Takes bytes, then gives them back in their order. They lie in a file in $TMPDIR (/tmp) that ends with it; what the
/// file does not take, because the disk is full or there is no such folder, stays in memory.
class Spool {
 public:
  Spool();

  void add(const void* bytes, std::size_t count);
  /// From here on read() begins again at the first byte. Nothing may be added after it.
  void rewind();
  /// The next `count` bytes; false where there are not so many, or the file cannot be read.
  bool read(void* to, std::size_t count);

 private:
  void empty_into_file();

  Descriptor file_;
  bool full_ = false;          // it takes no more
  std::string held_;           // what comes after the file's
  std::uint64_t in_file_ = 0;  // bytes
  std::uint64_t at_ = 0;       // of the next byte that is read
  std::string chunk_;          // of the file, as it is read
  std::uint64_t chunk_at_ = 0;
};

}  // namespace tally::linux
