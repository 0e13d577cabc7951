// The records of a file of translations (tally/engine/channel/stored_layout.hpp), as the command needs them.
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "tally/engine/channel/stored_layout.hpp"
#include "tally/linux/files/cache_file.hpp"

namespace tally::backend::engine {

/// New numbers of the records of a file.
class KeptNames {
 public:
  /// Of the same file: each record keeps its number.
  KeptNames() = default;
  explicit KeptNames(std::unordered_map<std::uint32_t, std::uint32_t> names) : names_(std::move(names)) {}

  /// Returns 0 if the record is missing.
  std::uint32_t of(std::uint32_t place) const {
    if (!names_) return place;
    const auto found = names_->find(place);
    return found == names_->end() ? 0 : found->second;
  }

 private:
  std::optional<std::unordered_map<std::uint32_t, std::uint32_t>> names_;
};

/// A record of a log, as it was read: a program that is still running may change it.
struct LoggedRecord {
  channel::RecordHead head;
  std::uint64_t mark;  ///< Bundle::mark, or content of a template
  std::uint32_t place;
};

/// Returns all records of the log in order, whether the index has them or not. Reads the file instead of the mapping:
/// the heads are far apart, and each would be a miss of the processor's caches. Uses the index if a writer was killed
/// before it set the length of its record.
std::vector<LoggedRecord> logged_records(const channel::Store& store, int file);

/// Repairs the address of the next record in a kept file: after the last record that may be in use, whatever the header
/// contains.
void repair_end(const channel::Store& store, int file, const channel::RecordKey& key);

/// Removes damaged records from the index, so that others can replace them.
void drop_damaged(const channel::Store& store, int file, const channel::RecordKey& key);

/// Allocates disk space for the levels of the table that this number of records needs. Returns false if there is none.
bool has_space_for_slots(const linux::CacheFile& file, std::uint64_t records);

/// Adds `more` to `known`. Returns whether that changes it.
bool adds_used(channel::UsedParts& known, const channel::UsedParts& more);

/// Copies the records of `from` in used parts, and those that used bundles name, to the empty store `to`, where they
/// stay used. Returns their new numbers; nothing if they take more than `most_bytes`, or more than the disk has.
std::optional<KeptNames> copy_used(const channel::Store& to, const linux::CacheFile& file, const channel::Store& from,
                                   int from_file, const channel::RecordKey& key, const channel::UsedParts& used,
                                   std::uint64_t most_bytes);

}  // namespace tally::backend::engine
