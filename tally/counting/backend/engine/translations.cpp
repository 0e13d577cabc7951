#include "tally/counting/backend/engine/translations.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <unordered_map>
#include <vector>

namespace tally::backend::engine {
namespace {

using channel::RecordHead;
using channel::RecordKey;
using channel::Store;

using channel::store_bytes;

constexpr const char *prefix = "translations-", *modelled_prefix = "modelled-";
/// The limit for all builds together.
constexpr std::uint64_t most_kept_bytes = store_bytes;

/// Whether a file starts with the header of this engine.
bool is_store(const channel::StoreHeader& h, std::uint64_t engine) {
  return h.magic == channel::store_magic && h.engine == engine && h.end <= store_bytes &&
         h.end >= channel::store_log_offset;
}

/// Calls `each` with all slots of a store that is mapped from this file, except for levels that were never written,
/// whatever the header contains.
template <class Each>
void each_slot(const Store& store, int file, Each&& each) {
  for (const channel::StoreLevel& level : channel::store_levels) {
    const std::uint64_t at = channel::store_slots_offset + level.first * sizeof(channel::StoreSlot);
    if (!linux::has_data(file, at, level.slots * sizeof(channel::StoreSlot))) continue;
    for (std::uint64_t i = 0; i < level.slots; ++i) each(store.slots()[level.first + i]);
  }
}

/// Returns the records of the index, in the order of their creation.
std::vector<std::uint32_t> indexed(const Store& store, int file) {
  std::vector<std::uint32_t> all;
  each_slot(store, file, [&](const channel::StoreSlot& slot) {
    if (slot.tag != 0) all.push_back(slot.place);
  });
  std::sort(all.begin(), all.end());
  return all;
}

/// Returns all records of the log in order, whether the index has them or not. Reads little if there are few: in
/// unwritten memory, each page that is read is allocated first. Uses the index if a writer was killed before it set the
/// length of its record.
std::vector<std::uint32_t> logged_records(const Store& store, int file) {
  std::vector<std::uint32_t> all;
  const std::uint64_t end = std::min(store.header().end, store_bytes);
  for (std::uint64_t at = channel::store_log_offset; at < end;) {
    const auto place = static_cast<std::uint32_t>(at / channel::record_unit);
    const RecordHead* const record = store.record(place);
    if (!record) return indexed(store, file);
    all.push_back(place);
    at += record->bytes;
  }
  return all;
}

/// Repairs the address of the next record in a kept file: after the last record that may be in use, whatever the header
/// contains.
void repair_end(const Store& store, int file, const RecordKey& key) {
  const auto all = indexed(store, file);
  for (auto place = all.rbegin(); place != all.rend(); ++place) {
    const RecordHead* const last = store.sound_record(*place, key);
    if (!last) continue;
    const std::uint64_t end = *place * channel::record_unit + last->bytes;
    store.header().end = std::max(store.header().end, end);
    return;
  }
}

/// Removes damaged records from the index, so that others can replace them.
void drop_damaged(const Store& store, int file, const RecordKey& key) {
  each_slot(store, file, [&](channel::StoreSlot& slot) {
    if (slot.tag == 0) return;
    const RecordHead* const record = store.sound_record(slot.place, key);
    if (!record || record->tag != slot.tag) Store::forget(slot);
  });
}

/// Returns an undamaged record with the same bytes.
const RecordHead* find_equal(const Store& store, const RecordHead& record, const RecordKey& key) {
  return store.find(record.tag, [&](const RecordHead& other) {
    return other.bytes == record.bytes && other.check == record.check && channel::is_sound(other, key);
  });
}

/// Moves the records that a run added into a file.
class RecordMover {
 public:
  /// `same_file`: the run's programs used this file and refer to its records.
  RecordMover(const Store& to, const linux::CacheFile& file, const Store& from, int from_file, const RecordKey& key,
              bool same_file)
      : to_(to), file_(file), from_(from), from_file_(from_file), key_(key), same_file_(same_file) {}

  /// Returns false if the file is full.
  bool move_all() {
    sort_out();
    // Without disk space, writing to a page of the mapped file would fail.
    if (to_.header().end + bytes_ > store_bytes) return false;
    if (bytes_ > 0 && !(has_space_for_slots() && linux::has_space(file_, to_.header().end, bytes_))) return true;
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
  /// Allocates disk space for all levels of the table that the additions may reach.
  bool has_space_for_slots() const {
    const std::uint64_t records = to_.header().records + fresh_.size() + bundles_.size();
    return std::all_of(std::begin(channel::store_levels), std::end(channel::store_levels), [&](const auto& level) {
      const std::uint64_t at = channel::store_slots_offset + level.first * sizeof(channel::StoreSlot);
      return records < level.first_record || linux::has_space(file_, at, level.slots * sizeof(channel::StoreSlot));
    });
  }

  void sort_out() {
    auto all = logged_records(from_, from_file_);
    std::erase_if(all, [this](std::uint32_t place) { return from_.sound_record(place, key_) == nullptr; });
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
      if (const RecordHead* const equal = find_equal(to_, *record, key_)) {
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
      // The better record must be newer, so that there are no cycles.
      if ((better & channel::use_added) && (!(old & channel::use_added) || old < better)) better_[old] = better;
    }
  }

  /// Returns the best replacement of a record; the record itself if there is none.
  std::uint32_t best(std::uint32_t place) const {
    for (auto found = better_.find(place); found != better_.end(); found = better_.find(place)) place = found->second;
    return place;
  }

  /// Adds a copy of a record. `before`: the record that it replaces, if that is still in the file; may be null.
  const RecordHead* add(const RecordHead& record, const RecordHead* before) {
    const RecordHead* const copied = copy(record);
    // A program that is still running may have overwritten it in the meantime.
    if (!copied || !channel::is_sound(*copied, key_)) return copied;
    if (!before || !to_.replace(*before, *copied)) to_.publish(*copied);
    return copied;
  }

  RecordHead* copy(const RecordHead& record) const {
    const std::uint32_t bytes = record.bytes;
    std::uint8_t* const at = to_.claim(bytes);
    if (!at) return nullptr;
    std::memcpy(at, &record, bytes);
    auto* const copied = reinterpret_cast<RecordHead*>(at);
    copied->bytes = bytes;
    return copied;
  }

  const channel::Bundle* find_bundle(std::uint64_t key) const {
    return to_.find_bundle(key, [this](const RecordHead& record) { return channel::is_sound(record, key_); });
  }

  std::uint32_t moved(std::uint32_t place) const {
    const std::uint32_t now = best(place);
    if (!(now & channel::use_added)) return same_file_ ? now : 0;
    const auto found = moved_.find(now & ~channel::use_added);
    return found == moved_.end() ? 0 : found->second;
  }

  bool add_bundle(std::uint32_t place) {
    const RecordHead& record = *from_.record(place);
    const channel::Bundle* const before = find_bundle(channel::as_bundle(record)->key);
    RecordHead* const copied = copy(record);
    if (!copied) return false;
    if (!channel::is_sound(*copied, key_)) return true;
    auto& bundle = *reinterpret_cast<channel::Bundle*>(copied);
    for (std::uint32_t i = 0; i < bundle.use_count; ++i) {
      const std::uint32_t old = bundle.uses()[i], now = moved(old);
      bundle.uses()[i] = now != 0 && best(old) != old ? now | channel::use_better : now;
    }
    bundle.names_check = channel::check_of_names(bundle, key_);
    if (!before || !to_.replace(before->head, *copied)) to_.publish(*copied);
    return true;
  }

  /// Changes a bundle only where better code is available.
  void improve_bundle(const channel::Bundle& names) const {
    const channel::Bundle* const found = find_bundle(names.key);
    if (!found) return;
    auto& bundle = const_cast<channel::Bundle&>(*found);  // this file is writable
    // The previous writer was killed while it changed them: they are unknown.
    if (bundle.names_check != channel::check_of_names(bundle, key_))
      std::fill_n(bundle.uses(), bundle.use_count, std::uint32_t{0});
    for (std::uint32_t i = 0; i + 2 < names.use_count; i += 3) {
      const std::uint32_t number = names.uses()[i], place = moved(names.uses()[i + 2]);
      if (place == 0 || number >= bundle.use_count || bundle.uses()[number] != names.uses()[i + 1]) continue;
      bundle.uses()[number] = place | channel::use_better;
    }
    bundle.names_check = channel::check_of_names(bundle, key_);
  }

  Store to_;
  const linux::CacheFile& file_;
  Store from_;
  int from_file_;
  const RecordKey& key_;
  bool same_file_;
  std::vector<std::uint32_t> fresh_;
  std::map<std::uint64_t, std::uint32_t> bundles_;  // the last one of each key
  std::vector<const channel::Bundle*> improvements_;
  std::unordered_map<std::uint32_t, std::uint32_t> better_;  // record → the one that replaces it
  std::unordered_map<std::uint32_t, std::uint32_t> moved_;
  std::uint64_t bytes_ = 0;
};

}  // namespace

Translations Translations::open(std::uint64_t engine, TranslationOptions which) {
  Translations translations;
  const auto random = linux::make_cache_key();
  if (!random) return translations;
  translations.engine_ = engine;
  translations.folder_ = linux::cache_folder();
  translations.name_ = fmt::format("{}{:016x}", which.modelled ? modelled_prefix : prefix, engine);
  translations.master_ = *random;
  const auto folder = linux::CacheFolder::open(translations.folder_, false);
  if (folder) translations.master_ = folder->read_key().value_or(*random);
  translations.key_ = RecordKey({{translations.master_[0], translations.master_[1]}}, engine, which.modelled);
  if (folder && !which.only_added) translations.open_kept(*folder);

  auto added = linux::make_memory_file("tally-translations", store_bytes);
  if (!added) return translations;
  auto view = linux::map_shared(added->get(), 0, store_bytes);
  if (!view) return translations;
  const Store store{view->data()};
  store.begin(engine);
  store.header().key = translations.key_;
  translations.added_inode_ = linux::inode_of(added->get());
  translations.added_ = std::move(*added);
  translations.added_view_ = std::move(*view);
  return translations;
}

void Translations::open_kept(const linux::CacheFolder& folder) {
  auto file = folder.open_file(name_, false);
  if (!file) {
    if (file.error().code != Code::not_found) folder.keep_remark(file.error().message);
  } else if (is_usable(*file)) {
    linux::note_cache_file_used(*file);
    kept_ = std::move(*file);
  } else {
    folder.keep_remark(name_ + " is damaged, or was made with another key");
  }
}

/// Whether it is a store of this engine and this user.
bool Translations::is_usable(const linux::CacheFile& file) const {
  channel::StoreHeader header{};
  return file.bytes == store_bytes && linux::read_at(file.file.get(), 0, &header, sizeof header) &&
         is_store(header, engine_) && header.check == channel::check_of(header, key_);
}

void Translations::keep() {
  if (!added_ || folder_.empty()) return;
  const Store fresh{added_view_.data()};
  if (fresh.header().records == 0 && fresh.header().refused == 0) return;
  const auto folder = linux::CacheFolder::open(folder_, true);
  if (!folder || !folder->keep_key(master_)) return;
  add_to_file(*folder, fresh);
  linux::bound_cache_files(*folder, {prefix, modelled_prefix}, fmt::format("{:016x}", engine_), most_kept_bytes);
}

void Translations::add_to_file(const linux::CacheFolder& folder, const Store& fresh) {
  if (auto old = folder.open_file(name_, true); old && is_usable(*old)) {
    if (!linux::take_cache_file(*old)) return;  // another tally is writing to it
    const auto mapping = linux::map_shared(old->file.get(), 0, store_bytes);
    if (!mapping) return;
    const Store store{mapping->data()};
    if (const std::uint64_t damaged = fresh.header().refused; damaged > 0) {
      drop_damaged(store, old->file.get(), key_);
      folder.keep_remark(fmt::format("{} had damaged records ({})", name_, damaged));
    }
    repair_end(store, old->file.get(), key_);
    const bool same_file = kept_ && kept_->inode == old->inode;
    if (RecordMover(store, *old, fresh, added_.get(), key_, same_file).move_all()) return;
  }
  // There is no usable file, or it is full: starts a new one with the records that this run needed.
  const auto file = folder.make_file(store_bytes);
  if (!file || !linux::has_space(*file, 0, channel::store_slots_offset)) return;
  const auto mapping = linux::map_shared(file->file.get(), 0, store_bytes);
  if (!mapping) return;
  const Store store{mapping->data()};
  store.begin(engine_);
  store.header().check = channel::check_of(store.header(), key_);
  RecordMover(store, *file, fresh, added_.get(), key_, false).move_all();
  folder.name_file(*file, name_);
}

}  // namespace tally::backend::engine
