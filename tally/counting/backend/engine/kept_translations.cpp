#include "tally/counting/backend/engine/kept_translations.hpp"

#include "tally/counting/backend/engine/kept_records.hpp"

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
/// The limit of a file, and of those of all builds together.
std::uint64_t most_kept_bytes() { return linux::cache_limit(store_bytes); }

/// Whether a file starts with the header of this engine.
bool is_store(const channel::StoreHeader& h, std::uint64_t engine) {
  return h.magic == channel::store_magic && h.engine == engine && h.end <= store_bytes &&
         h.end >= channel::store_log_offset;
}

/// Returns an undamaged record with the same bytes.
const RecordHead* find_equal(const Store& store, const RecordHead& record, const RecordKey& key) {
  return store.find(record.tag, [&](const RecordHead& other) {
    return other.bytes == record.bytes && other.check == record.check && channel::is_sound(other, key);
  });
}

/// Moves the records that a run added into a file. Adjacent ones are written at once: writing to a mapped file costs a
/// page fault and the zeroing of each new page.
class RecordMover {
 public:
  /// `names`: the new numbers of kept records to which the run's programs refer; null: they do not refer to this file.
  RecordMover(const Store& to, const linux::CacheFile& file, const Store& from, int from_file, const RecordKey& key,
              const KeptNames* names)
      : to_(to), file_(file), from_(from), from_file_(from_file), key_(key), names_(names) {}

  /// Returns false if the file is full.
  bool move_all() {
    sort_out();
    // Without disk space, writing to a page of the mapped file would fail.
    if (to_.header().end + bytes_ > most_kept_bytes()) return false;
    if (bytes_ > 0 && !(has_space_for_slots(file_, to_.header().records + fresh_.size() + bundles_.size()) &&
                        linux::has_space(file_, to_.header().end, bytes_)))
      return true;
    to_.readable = std::max(to_.readable, to_.header().end + bytes_);
    if (!add_fresh()) return false;
    for (const channel::Bundle* const names : improvements_) improve_bundle(*names);
    return std::all_of(bundles_.begin(), bundles_.end(),
                       [&](const auto& one) { return add_bundle(one.first, one.second); });
  }

 private:
  struct Moved {
    std::uint32_t place, now;  ///< now: in the file; 0: missing
  };
  struct Added {
    std::uint32_t place, bytes;  ///< bytes: read once, because a program that is still running may change them
    std::size_t moved;           ///< its index in `moved_`
  };
  static constexpr std::uint64_t most_at_once = 256 << 10;  // so that the check reads them from the processor's cache

  void sort_out() {
    const std::vector<LoggedRecord> logged = logged_records(from_, from_file_);
    for (const LoggedRecord& record : logged)
      if (names_others(record)) sort_names(record.place);
    fresh_.reserve(logged.size());
    moved_.reserve(logged.size());
    for (const LoggedRecord& record : logged) {
      if (names_others(record) || (!better_.empty() && better_.count(record.place | channel::use_added) > 0)) continue;
      const RecordHead* const equal = find_equal(to_, record.head, key_);
      if (!equal) {
        fresh_.push_back({record.place, record.head.bytes, moved_.size()});
        bytes_ += record.head.bytes;
      }
      moved_.push_back({record.place, equal ? to_.place_of(*equal) : 0});
    }
    for (const auto& [key, bundle] : bundles_) bytes_ += bundle.bytes;
  }

  static bool names_others(const LoggedRecord& record) {
    return record.head.bytes >= sizeof(channel::Bundle) && record.mark >= channel::improvements_mark;
  }

  /// Ignores damaged records.
  void sort_names(std::uint32_t place) {
    const RecordHead* const record = from_.sound_record(place, key_);
    if (!record) return;
    const std::uint32_t bytes = record->bytes;
    const auto* const pairs = channel::as_bundle(*record, channel::replacements_mark);
    const auto* const triples = channel::as_bundle(*record, channel::improvements_mark);
    const auto* const bundle = channel::as_bundle(*record);
    if (pairs) note_replaced(*pairs);
    if (triples && names_) improvements_.push_back(triples);
    if (bundle) bundles_[bundle->key] = {place, bytes, 0};
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

  /// Returns the records of the file that added ones replace, by the numbers of those.
  std::unordered_map<std::uint32_t, const RecordHead*> replaced_records() const {
    std::unordered_map<std::uint32_t, const RecordHead*> all;
    for (const auto& [old, better] : better_) {
      if (old & channel::use_added) continue;
      if (const std::uint32_t place = kept_name(old)) all[best(old) & ~channel::use_added] = to_.record(place);
    }
    return all;
  }

  /// Copies all new records but bundles. Returns false if the file is full.
  bool add_fresh() {
    std::vector<std::uint64_t> copied;
    const auto replaced = replaced_records();
    for (std::size_t i = 0; i < fresh_.size();) {
      std::uint64_t bytes = 0;
      std::size_t end = i;
      for (; end < fresh_.size() && bytes < most_at_once; bytes += fresh_[end++].bytes)
        if (fresh_[end].place != fresh_[i].place + bytes / channel::record_unit) break;
      // Copied before the check: a program that is still running may overwrite them.
      copied.resize(bytes / sizeof copied[0]);
      std::memcpy(copied.data(), from_.base + fresh_[i].place * channel::record_unit, bytes);
      auto place = write(copied.data(), bytes);
      if (place == 0) return false;
      const auto* at = reinterpret_cast<const std::uint8_t*>(copied.data());
      for (; i < end;
           at += fresh_[i].bytes, place += static_cast<std::uint32_t>(fresh_[i++].bytes / channel::record_unit)) {
        const auto& head = *reinterpret_cast<const RecordHead*>(at);
        if (head.bytes != fresh_[i].bytes || !channel::is_sound(head, key_)) continue;
        const auto before = replaced.find(fresh_[i].place);
        publish(head.tag, place, before == replaced.end() ? nullptr : before->second);
        moved_[fresh_[i].moved].now = place;
      }
    }
    return true;
  }

  /// Writes added records after all others of the file. Returns the place of the first one, 0 if the file is full.
  std::uint32_t write(const void* from, std::uint64_t bytes) const {
    std::uint8_t* const at = to_.claim(bytes);
    if (!at) return 0;
    const auto offset = static_cast<std::uint64_t>(at - to_.base);
    if (!linux::write_at(file_.file.get(), offset, {static_cast<const char*>(from), bytes})) return 0;
    return static_cast<std::uint32_t>(offset / channel::record_unit);
  }

  /// `before`: the record of the file that this one replaces; may be null.
  void publish(std::uint32_t tag, std::uint32_t place, const RecordHead* before) const {
    if (!before || !to_.replace(*before, place)) to_.publish(tag, place);
  }

  const channel::Bundle* find_bundle(std::uint64_t key) const {
    return to_.find_bundle(key, [this](const RecordHead& record) { return channel::is_sound(record, key_); });
  }

  /// Returns the number in this file of a record that the run's programs found in the kept file; 0 if it is missing.
  std::uint32_t kept_name(std::uint32_t place) const { return names_ ? names_->of(place) : 0; }

  std::uint32_t moved(std::uint32_t place) const {
    const std::uint32_t now = best(place);
    if (!(now & channel::use_added)) return kept_name(now);
    const std::uint32_t old = now & ~channel::use_added;
    const auto found = std::lower_bound(moved_.begin(), moved_.end(), old,
                                        [](const Moved& one, std::uint32_t other) { return one.place < other; });
    return found == moved_.end() || found->place != old ? 0 : found->now;
  }

  bool add_bundle(std::uint64_t key, const Added& added) {
    const channel::Bundle* const before = find_bundle(key);
    const std::uint32_t place = write(from_.base + added.place * channel::record_unit, added.bytes);
    if (place == 0) return false;
    const RecordHead* const copied = to_.sound_record(place, key_);
    if (!copied || copied->bytes != added.bytes || !channel::as_bundle(*copied)) return true;
    auto& bundle = *reinterpret_cast<channel::Bundle*>(const_cast<RecordHead*>(copied));  // this file is writable
    for (std::uint32_t i = 0; i < bundle.use_count; ++i) {
      const std::uint32_t better = bundle.uses()[i] & channel::use_better, old = bundle.uses()[i] - better;
      const std::uint32_t now = moved(old);
      bundle.uses()[i] = now == 0 ? 0 : best(old) != old ? now | channel::use_better : now | better;
    }
    bundle.names_check = channel::check_of_names(bundle, key_);
    publish(copied->tag, place, before ? &before->head : nullptr);
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
      if (place == 0 || number >= bundle.use_count || bundle.uses()[number] != kept_name(names.uses()[i + 1])) continue;
      bundle.uses()[number] = place | channel::use_better;
    }
    bundle.names_check = channel::check_of_names(bundle, key_);
  }

  Store to_;
  const linux::CacheFile& file_;
  Store from_;
  int from_file_;
  const RecordKey& key_;
  const KeptNames* names_;
  std::vector<Added> fresh_;
  std::map<std::uint64_t, Added> bundles_;  // the last one of each key
  std::vector<const channel::Bundle*> improvements_;
  std::unordered_map<std::uint32_t, std::uint32_t> better_;  // record → the one that replaces it
  std::vector<Moved> moved_;                                 // by place
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
  return file.bytes <= store_bytes && linux::read_at(file.file.get(), 0, &header, sizeof header) &&
         is_store(header, engine_) && header.end <= file.bytes && header.check == channel::check_of(header, key_);
}

void Translations::keep() {
  if (!added_ || folder_.empty()) return;
  const Store fresh{added_view_.data()};
  const bool adds = fresh.header().records != 0 || fresh.header().refused != 0;
  if (!adds && !uses_more(fresh.header().used)) return;
  const auto folder = linux::CacheFolder::open(folder_, true);
  if (!folder || !folder->keep_key(master_)) return;
  add_to_file(*folder, fresh);
  linux::bound_cache_files(*folder, {prefix, modelled_prefix}, fmt::format("{:016x}", engine_), most_kept_bytes());
}

/// Whether the kept file does not know yet that some of its parts are used.
bool Translations::uses_more(const channel::UsedParts& used) const {
  channel::UsedParts known{};
  if (!kept_ || !linux::read_at(kept_->file.get(), offsetof(channel::StoreHeader, used), &known, sizeof known))
    return false;
  return adds_used(known, used);
}

void Translations::add_to_file(const linux::CacheFolder& folder, const Store& fresh) {
  auto old = folder.open_file(name_, true);
  linux::Mapping mapping;
  const bool is_same = old && kept_ && kept_->inode == old->inode;
  if (old && is_usable(*old)) {
    if (!linux::take_cache_file(*old)) return;  // another tally is writing to it
    auto mapped = linux::map_shared(old->file.get(), 0, store_bytes);
    if (!mapped) return;
    mapping = std::move(*mapped);
    const Store store{mapping.data(), old->bytes};
    if (const std::uint64_t damaged = fresh.header().refused; damaged > 0) {
      drop_damaged(store, old->file.get(), key_);
      folder.keep_remark(fmt::format("{} had damaged records ({})", name_, damaged));
    }
    repair_end(store, old->file.get(), key_);
    if (is_same) adds_used(store.header().used, fresh.header().used);
    const KeptNames names;
    if (RecordMover(store, *old, fresh, added_.get(), key_, is_same ? &names : nullptr).move_all()) return;
  }
  // There is no usable file, or it is full: starts a new one with what runs used of it and with this run's records.
  const auto file = folder.make_file(channel::store_log_offset);
  if (!file || !linux::has_space(*file, 0, channel::store_slots_offset)) return;
  const auto made = linux::map_shared(file->file.get(), 0, store_bytes);
  if (!made) return;
  Store store{made->data(), file->bytes};
  store.begin(engine_);
  store.header().check = channel::check_of(store.header(), key_);
  std::optional<KeptNames> names;
  if (mapping.data()) {
    const Store before{mapping.data(), old->bytes};
    const auto copy = [&](const channel::UsedParts& used) {
      return copy_used(store, *file, before, old->file.get(), key_, used, most_kept_bytes() / 2);
    };
    names = copy(before.header().used);
    if (!names && is_same) names = copy(fresh.header().used);
  }
  store.readable = store.header().end;
  RecordMover(store, *file, fresh, added_.get(), key_, is_same && names ? &*names : nullptr).move_all();
  folder.name_file(*file, name_);
}

}  // namespace tally::backend::engine
