#include "tally/backend/sim/translations.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <unordered_map>
#include <vector>

namespace tally::backend::sim {
namespace {

using channel::RecordHead;
using channel::Store;

using channel::store_bytes;

constexpr const char *prefix = "translations-", *modelled_prefix = "modelled-";
/// Of all builds together. A file of each kind is at most half of it, so those of one build always have room.
constexpr std::uint64_t most_kept_bytes = 256u << 20;
static_assert(2 * store_bytes <= most_kept_bytes);

/// Whether that is what a file holds.
bool is_store(const channel::StoreHeader& h, std::uint64_t engine) {
  return h.magic == channel::store_magic && h.engine == engine && h.end <= store_bytes &&
         h.end >= channel::store_log_offset;
}

/// The records that can be found, in the order in which they were made.
std::vector<std::uint32_t> places(const Store& store) {
  std::vector<std::uint32_t> all;
  for (std::uint64_t i = 0; i < channel::store_slots; ++i) {
    if (const std::uint32_t place = store.slots()[i].place; place != 0) all.push_back(place);
  }
  std::sort(all.begin(), all.end());
  return all;
}

/// The records of the log, one after the other, whether they can be found or not. Of few this reads little, and in
/// memory that nobody has touched each page that is read is made first. By the table where a writer was killed before
/// he had said how long his record is.
std::vector<std::uint32_t> logged(const Store& store) {
  std::vector<std::uint32_t> all;
  const std::uint64_t end = std::min(store.header().end, store_bytes);
  for (std::uint64_t at = channel::store_log_offset; at < end;) {
    const auto place = static_cast<std::uint32_t>(at / channel::record_unit);
    const RecordHead* const record = store.record(place);
    if (!record) return places(store);
    all.push_back(place);
    at += record->bytes;
  }
  return all;
}

bool all_sound(const Store& store) {
  const auto all = places(store);
  return std::all_of(all.begin(), all.end(), [&](std::uint32_t place) { return store.sound_record(place) != nullptr; });
}

/// Checks a file that was written before the machine was started again: not all of it may have reached the disk.
bool survived(const std::string& path, std::uint64_t engine) {
  auto file = linux::open_cache_file(path, false);
  channel::StoreHeader header{};
  if (!file || file->bytes != store_bytes || !linux::read_at(file->file.get(), 0, &header, sizeof header)) return false;
  if (!is_store(header, engine)) return false;
  const std::string boot = linux::boot_id().substr(0, sizeof header.boot - 1);
  header.boot[sizeof header.boot - 1] = 0;
  if (boot == header.boot) return true;

  file = linux::open_cache_file(path, true);
  if (!file || file->bytes != store_bytes) return false;
  const auto mapping = linux::map_shared(file->file.get(), 0, store_bytes);
  if (!mapping) return false;
  const Store store{mapping->data()};
  if (!all_sound(store)) return false;
  std::memcpy(store.header().boot, boot.c_str(), boot.size() + 1);
  return true;
}

const RecordHead* find_equal(const Store& store, const RecordHead& record) {
  return store.find(
      record.tag, [&](const RecordHead& other) { return other.bytes == record.bytes && other.check == record.check; });
}

/// Moves what a run added into a file.
class Move {
 public:
  /// `same_file`: the run's programs had this one, and named its records.
  Move(const Store& to, const linux::CacheFile& file, const Store& from, bool same_file)
      : to_(to), file_(file), from_(from), same_file_(same_file) {}

  /// False when the file is full.
  bool everything() {
    sort_out();
    // A page of a mapped file without a place on the disk could not be written.
    if (to_.header().end + bytes_ > store_bytes) return false;
    if (bytes_ > 0 && !linux::has_space(file_, to_.header().end, bytes_)) return true;
    std::unordered_map<std::uint32_t, const RecordHead*> before;
    for (const auto& [old, better] : better_) {
      if (same_file_ && !(old & channel::use_added)) before[best(old) & ~channel::use_added] = to_.record(old);
    }
    for (const std::uint32_t place : fresh_) {
      const auto old = before.find(place);
      const RecordHead* const copied = add(*from_.record(place), old == before.end() ? nullptr : old->second);
      if (!copied) return false;
      moved_[place] = to_.place_of(*copied);
    }
    for (const channel::Bundle* const names : improvements_) improve_bundle(*names);
    return std::all_of(bundles_.begin(), bundles_.end(), [&](const auto& one) { return add_bundle(one.second); });
  }

 private:
  void sort_out() {
    auto all = logged(from_);
    std::erase_if(all, [this](std::uint32_t place) { return from_.sound_record(place) == nullptr; });
    for (const std::uint32_t place : all) {
      if (const auto* pairs = channel::as_bundle(*from_.record(place), channel::replacements_mark))
        note_replaced(*pairs);
    }
    for (const std::uint32_t place : all) {
      const RecordHead* const record = from_.record(place);
      if (better_.count(place | channel::use_added) > 0) continue;
      if (channel::as_bundle(*record, channel::replacements_mark)) continue;
      if (const auto* names = channel::as_bundle(*record, channel::improvements_mark)) {
        if (same_file_) improvements_.push_back(names);
        continue;
      }
      if (const auto* bundle = channel::as_bundle(*record)) {
        bundles_[bundle->key] = place;
        continue;
      }
      if (const RecordHead* const equal = find_equal(to_, *record)) {
        moved_[place] = to_.place_of(*equal);
        continue;
      }
      fresh_.push_back(place);
      bytes_ += record->bytes;
    }
    for (const auto& [key, place] : bundles_) bytes_ += from_.record(place)->bytes;
  }

  void note_replaced(const channel::Bundle& pairs) {
    for (std::uint32_t i = 0; i + 1 < pairs.use_count; i += 2) {
      const std::uint32_t old = pairs.uses()[i], better = pairs.uses()[i + 1];
      // Made later, so that no chain of them is a circle.
      if ((better & channel::use_added) && (!(old & channel::use_added) || old < better)) better_[old] = better;
    }
  }

  /// What the best of what was made of a record is; the record itself where there is nothing better.
  std::uint32_t best(std::uint32_t place) const {
    for (auto found = better_.find(place); found != better_.end(); found = better_.find(place)) place = found->second;
    return place;
  }

  /// `before`: the record of the file whose place it takes, if that is still there.
  const RecordHead* add(const RecordHead& record, const RecordHead* before) {
    std::uint8_t* const at = to_.claim(record.bytes);
    if (!at) return nullptr;
    std::memcpy(at, &record, record.bytes);
    const auto* const copied = reinterpret_cast<const RecordHead*>(at);
    if (!before || !to_.replace(*before, *copied)) to_.publish(*copied);
    return copied;
  }

  std::uint32_t moved(std::uint32_t place) const {
    const std::uint32_t now = best(place);
    if (!(now & channel::use_added)) return same_file_ ? now : 0;
    const auto found = moved_.find(now & ~channel::use_added);
    return found == moved_.end() ? 0 : found->second;
  }

  bool add_bundle(std::uint32_t place) {
    const channel::Bundle& bundle = *channel::as_bundle(*from_.record(place));
    const channel::Bundle* const before = to_.find_bundle(bundle.key);
    std::uint8_t* const at = to_.claim(bundle.head.bytes);
    if (!at) return false;
    std::memcpy(at, &bundle, bundle.head.bytes);
    auto& copied = *reinterpret_cast<channel::Bundle*>(at);
    for (std::uint32_t i = 0; i < copied.use_count; ++i) {
      const std::uint32_t old = copied.uses()[i], now = moved(old);
      copied.uses()[i] = now != 0 && best(old) != old ? now | channel::use_better : now;
    }
    copied.head.check = channel::check_of(copied.head);
    if (before) {
      to_.replace(before->head, copied.head);
    } else {
      to_.publish(copied.head);
    }
    return true;
  }

  /// The bundle stays as it is, but for what there is better code for.
  void improve_bundle(const channel::Bundle& names) const {
    const channel::Bundle* const found = to_.find_bundle(names.key);
    if (!found) return;
    auto& bundle = const_cast<channel::Bundle&>(*found);  // the file is ours to write
    for (std::uint32_t i = 0; i + 2 < names.use_count; i += 3) {
      const std::uint32_t number = names.uses()[i], place = moved(names.uses()[i + 2]);
      if (place == 0 || number >= bundle.use_count || bundle.uses()[number] != names.uses()[i + 1]) continue;
      bundle.uses()[number] = place | channel::use_better;
    }
    bundle.head.check = channel::check_of(bundle.head);
  }

  Store to_;
  const linux::CacheFile& file_;
  Store from_;
  bool same_file_;
  std::vector<std::uint32_t> fresh_;
  std::map<std::uint64_t, std::uint32_t> bundles_;  // the last one of each key
  std::vector<const channel::Bundle*> improvements_;
  std::unordered_map<std::uint32_t, std::uint32_t> better_;  // of those that were made again
  std::unordered_map<std::uint32_t, std::uint32_t> moved_;
  std::uint64_t bytes_ = 0;
};

}  // namespace

Translations Translations::open(std::uint64_t engine, WhichTranslations which) {
  Translations made;
  made.engine_ = engine;
  made.folder_ = linux::cache_folder();
  made.name_ = fmt::format("{}{:016x}", which.modelled ? modelled_prefix : prefix, engine);
  const std::string path = made.folder_ + "/" + made.name_;
  if (!which.only_added && !made.folder_.empty() && survived(path, engine))
    made.kept_ = linux::open_cache_file(path, false);
  if (made.kept_) linux::note_cache_file_used(*made.kept_);

  auto added = linux::make_memory_file("tally-translations", store_bytes);
  if (!added) return made;
  auto view = linux::map_shared(added->get(), 0, store_bytes);
  if (!view) return made;
  Store{view->data()}.begin(engine);
  made.added_inode_ = linux::inode_of(added->get());
  made.added_ = std::move(*added);
  made.added_view_ = std::move(*view);
  return made;
}

void Translations::keep() {
  if (!added_ || folder_.empty()) return;
  const Store fresh{added_view_.data()};
  if (fresh.header().records == 0) return;
  add_to_file(fresh);
  linux::bound_cache_files({folder_, {prefix, modelled_prefix}}, fmt::format("{:016x}", engine_), most_kept_bytes);
}

void Translations::add_to_file(const Store& fresh) {
  const std::string path = folder_ + "/" + name_;
  if (auto old = linux::open_cache_file(path, true); old && survived(path, engine_)) {
    if (!linux::take_cache_file(*old)) return;  // another tally is at it
    const auto mapping = linux::map_shared(old->file.get(), 0, store_bytes);
    if (!mapping) return;
    const bool same_file = kept_ && kept_->inode == old->inode;
    if (Move(Store{mapping->data()}, *old, fresh, same_file).everything()) return;
  }
  // There is none that can be used, or it is full: begun again with what was needed last.
  const auto file = linux::make_cache_file(folder_, store_bytes);
  if (!file || !linux::has_space(*file, 0, channel::store_log_offset)) return;
  const auto mapping = linux::map_shared(file->file.get(), 0, store_bytes);
  if (!mapping) return;
  const Store store{mapping->data()};
  store.begin(engine_);
  const std::string boot = linux::boot_id().substr(0, sizeof store.header().boot - 1);
  std::memcpy(store.header().boot, boot.c_str(), boot.size() + 1);
  Move(store, *file, fresh, false).everything();
  linux::name_cache_file(*file, path);
}

}  // namespace tally::backend::sim
