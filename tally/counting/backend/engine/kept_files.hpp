// Files that programs of the tree have mapped code from, kept until their names are read: by then the programs are
// gone, and a path may lead to another file, or to none.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <tuple>

#include "tally/linux/files/file_state.hpp"
#include "tally/output/result/code.hpp"

namespace tally::backend::engine {

/// A descriptor holds a file that was removed, but not one that was written again, and it keeps a file system from
/// being unmounted. So small files are copied, and so are those of file systems that a program may want to unmount.
class KeptFiles {
 public:
  /// The file systems of the root and the current directory are in use anyway.
  KeptFiles();

  /// Keeps a file, as long as there is room.
  void keep(linux::Descriptor file);
  /// The file with the content that it had then; null where it is not kept or was changed since.
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
