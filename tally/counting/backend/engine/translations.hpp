// Finished translations of the engine, from one run to the next (engine/channel/store.hpp says what they are).
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "tally/engine/channel/channel.hpp"
#include "tally/engine/channel/store.hpp"
#include "tally/linux/files/cache_file.hpp"
#include "tally/linux/files/memory_file.hpp"

namespace tally::backend::engine {

struct WhichTranslations {
  bool only_added = false;  ///< no file, which programs that look at their memory map would see
  bool modelled = false;    ///< a machine is simulated: the file of that code, which is several times as long
};

/// What a run is given and what it adds. Without a folder for such files, or when something is wrong with them, there
/// is just nothing to begin with, and nothing is kept.
class Translations {
 public:
  /// For the engine with this ImageHeader::build. Reads the head of a file of the cache folder and the user's key; the
  /// engine checks each record before it uses it.
  static Translations open(std::uint64_t engine, WhichTranslations which = {});

  /// The descriptors that programs get; −1 where there is none.
  int kept_fd() const { return kept_ ? kept_->file.get() : -1; }
  int added_fd() const { return added_.get(); }
  /// The numbers of the two files, 0 = none.
  std::uint64_t kept_inode() const { return kept_ ? kept_->inode : 0; }
  std::uint64_t added_inode() const { return added_inode_; }

  /// Moves what this run added into the file, and removes files of other builds: all files together take at most
  /// 256 MB of the disk.
  void keep();

 private:
  void open_kept(const linux::CacheFolder& folder);
  bool is_usable(const linux::CacheFile& file) const;
  void add_to_file(const linux::CacheFolder& folder, const channel::Store& fresh);

  std::uint64_t engine_ = 0;
  std::string folder_, name_;
  linux::CacheKey master_{};
  channel::RecordKey key_;
  std::optional<linux::CacheFile> kept_;
  linux::Descriptor added_;
  std::uint64_t added_inode_ = 0;
  linux::Mapping added_view_;
};

}  // namespace tally::backend::engine
