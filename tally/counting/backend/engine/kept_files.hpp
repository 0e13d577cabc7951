// Keeps the files that programs mapped code from until their symbols are read. The programs have ended by then, and a
// path may name another file, or none.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <tuple>

#include "tally/linux/files/file_state.hpp"
#include "tally/output/result/code_values.hpp"

namespace tally::backend::engine {

/// A descriptor keeps a removed file, but not the content of one that is rewritten, and it prevents unmounting. So
/// small files are copied, and also those on file systems that a program may want to unmount.
class KeptFiles {
 public:
  /// The file systems of the root and the current directory are in use anyway.
  KeptFiles();

  /// Keeps a file while there is room.
  void keep(linux::Descriptor file);
  /// Returns the file with its content at that time; null if it is not kept or was changed since.
  std::shared_ptr<const int> find(const result::FileIdentity& identity) const;

 private:
  struct Kept {
    linux::Descriptor file;
    int number = -1;  // of the descriptor
    bool is_copy = false;
  };
  using Key = std::tuple<std::uint64_t, std::uint64_t, std::uint64_t, std::int64_t, std::uint32_t>;
  static Key key(const linux::FileState& state) {
    return {state.device, state.inode, state.bytes, state.modified_s, state.modified_ns};
  }

  std::set<std::uint64_t> mounts_in_use_;
  std::map<Key, std::shared_ptr<const Kept>> files_;
  std::uint64_t copied_ = 0, limit_;
};

}  // namespace tally::backend::engine
