/// Which file a mapping is of: what fstat(2) says of it, and its build id. The file is opened as the program sees it,
/// when its code is first translated.
///
/// Everything here wants the lock of exec_regions.cpp.
#pragma once
#include "tally/engine/translate/process_maps.hpp"

namespace tally::engine::translate {

/// A descriptor of a mapped file, closed with it.
class MappedFile {
 public:
  explicit MappedFile(const ListedMapping& m);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  /// Zero where neither the path, nor /proc/self/exe, nor /proc/self/map_files leads to it.
  const channel::FileIdentity& identity() const { return identity_; }
  /// Negative: it cannot be read.
  s64 fd() const { return fd_; }
  /// Somebody else closes it.
  s64 release() {
    const s64 fd = fd_;
    fd_ = -1;
    return fd;
  }

 private:
  s64 fd_ = -1;
  channel::FileIdentity identity_{};
};

/// How many bytes around `address`, in [start, end), the file has too, `offset` being that of `start`. Sets `start`,
/// `end` and `offset` to those of these bytes; false where the ones at `address` differ.
bool find_same_bytes(s64 fd, u64 address, u64& start, u64& end, u64& offset);

}  // namespace tally::engine::translate
