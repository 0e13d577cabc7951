// Keeps translations of the engine from one run to the next (format: tally/engine/channel/stored_layout.hpp).
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "tally/engine/channel/channel.hpp"
#include "tally/engine/channel/stored_layout.hpp"
#include "tally/linux/files/cache_file.hpp"
#include "tally/linux/files/memory_file.hpp"

namespace tally::backend::engine {

struct TranslationOptions {
  bool only_added = false;  ///< without the file, which programs that read their memory map would see
  bool modelled = false;    ///< with models: uses the file for that code, which is several times as large
};

/// The translations for a run, and those that it adds. Without a directory for them, or if something is wrong with
/// them, the run starts without any, and none are kept.
class Translations {
 public:
  /// Opens the translations for the engine with this ImageHeader::build. Reads the header of a file in the cache
  /// directory and the user's key. The engine checks each record before it uses it.
  static Translations open(std::uint64_t engine, TranslationOptions which = {});

  /// The descriptors for programs; −1 if there is none.
  int kept_fd() const { return kept_ ? kept_->file.get() : -1; }
  int added_fd() const { return added_.get(); }
  /// The inode numbers of the two files; 0: none.
  std::uint64_t kept_inode() const { return kept_ ? kept_->inode : 0; }
  std::uint64_t added_inode() const { return added_inode_; }

  /// Moves the translations that this run added into the file, and removes files of other builds. All files together
  /// use at most 512 MB of disk, or less with $TALLY_CACHE_MB.
  void keep();

 private:
  void open_kept(const linux::CacheFolder& folder);
  bool is_usable(const linux::CacheFile& file) const;
  bool uses_more(const channel::UsedParts& used) const;
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
