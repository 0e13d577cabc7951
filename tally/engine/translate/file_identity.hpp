/// Identifies the file of a mapping: the result of fstat(2) and the build id. The file is opened as the program sees
/// it, when its code is first translated.
///
/// The caller must hold the lock of exec_regions.cpp for everything here.
#pragma once
#include "tally/engine/translate/process_maps.hpp"

namespace tally::engine::translate {

/// A mapped file, open during its lifetime.
class MappedFile {
 public:
  explicit MappedFile(const ListedMapping& m);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  /// Zero if none of the path, /proc/self/exe and /proc/self/map_files leads to the file.
  const channel::FileIdentity& identity() const { return identity_; }
  /// Negative if the file cannot be read.
  s64 fd() const { return fd_; }
  /// Returns the descriptor; the caller must close it.
  s64 release() {
    const s64 fd = fd_;
    fd_ = -1;
    return fd;
  }

 private:
  s64 fd_ = -1;
  channel::FileIdentity identity_{};
};

/// Finds the range around `address`, within [start, end), where memory and file are equal. `offset` is that of `start`
/// in the file. Sets `start`, `end` and `offset` to this range; returns false if they differ at `address`.
bool find_same_bytes(s64 fd, u64 address, u64& start, u64& end, u64& offset);

}  // namespace tally::engine::translate
