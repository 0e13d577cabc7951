#include "tally/backend/sim/translations.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <vector>

namespace tally::backend::sim {
namespace {

using channel::RecordHead;
using channel::Store;

// Sparse: what is not used takes no space. 131,072 records of some 600 bytes fit: the C compiler's optimiser alone has
// about 50,000.
constexpr std::uint64_t store_bytes = 128ull << 20, store_slots = 1ull << 18;
constexpr const char* prefix = "translations-";

/// The store in a mapped file, if that is what it is.
std::optional<Store> as_store(const linux::Mapping& mapping, std::uint64_t engine) {
  const Store store{mapping.data()};
  const channel::StoreHeader& h = store.header();
  const bool whole = h.magic == channel::store_magic && h.engine == engine && h.slots == store_slots &&
                     h.bytes == store_bytes && h.end <= h.bytes && h.end >= Store::log_offset(h.slots);
  return whole ? std::optional(store) : std::nullopt;
}

bool is_sound(const Store& store, std::uint32_t place) {
  const std::uint64_t at = place * channel::record_unit, end = std::min(store.header().end, store.header().bytes);
  if (at < Store::log_offset(store.header().slots) || at + sizeof(RecordHead) > end) return false;
  const RecordHead& record = *store.record(place);
  return record.bytes % channel::record_unit == 0 && record.bytes >= sizeof(RecordHead) && at + record.bytes <= end &&
         channel::check_of(record) == record.check;
}

/// The records that can be found, in the order in which they were made.
std::vector<std::uint32_t> places(const Store& store) {
  std::vector<std::uint32_t> all;
  for (std::uint64_t i = 0; i < store.header().slots; ++i) {
    if (const std::uint32_t place = store.slots()[i].place; place != 0) all.push_back(place);
  }
  std::sort(all.begin(), all.end());
  return all;
}

bool all_sound(const Store& store) {
  const auto all = places(store);
  return std::all_of(all.begin(), all.end(), [&](std::uint32_t place) { return is_sound(store, place); });
}

/// Checks a file that was written before the machine was started anew: not all of it may have reached the disk.
bool survived(const std::string& path, std::uint64_t engine) {
  const auto file = linux::open_cache_file(path, true);
  if (!file || file->bytes != store_bytes) return false;
  const auto mapping = linux::map_shared(file->file.get(), 0, store_bytes);
  if (!mapping) return false;
  const auto store = as_store(*mapping, engine);
  if (!store) return false;
  const std::string boot = linux::boot_id().substr(0, sizeof store->header().boot - 1);
  if (boot == store->header().boot) return true;
  if (!all_sound(*store)) return false;
  std::memcpy(store->header().boot, boot.c_str(), boot.size() + 1);
  return true;
}

bool is_there(const Store& store, const RecordHead& record) {
  return store.find(record.tag, [&](const RecordHead& other) {
    return other.bytes == record.bytes && other.check == record.check;
  }) != nullptr;
}

/// Adds the records of `from` that `to`, in `file`, lacks. False when it is full.
bool add(const Store& to, const linux::CacheFile& file, const Store& from) {
  std::vector<std::uint32_t> fresh;
  std::uint64_t bytes = 0;
  for (const std::uint32_t place : places(from)) {
    if (!is_sound(from, place) || is_there(to, *from.record(place))) continue;
    fresh.push_back(place);
    bytes += from.record(place)->bytes;
  }
  // A page of a mapped file without a place on the disk could not be written.
  if (to.header().end + bytes > to.header().bytes) return false;
  if (!linux::has_space(file, to.header().end, bytes + 1)) return true;
  for (const std::uint32_t place : fresh) {
    const RecordHead& record = *from.record(place);
    std::uint8_t* const at = to.claim(record.bytes);
    if (at == nullptr) return false;
    std::memcpy(at, &record, record.bytes);
    to.publish(*reinterpret_cast<const RecordHead*>(at));
  }
  return true;
}

}  // namespace

Translations Translations::open(std::uint64_t engine) {
  Translations made;
  made.engine_ = engine;
  made.folder_ = linux::cache_folder();
  made.name_ = fmt::format("{}{:016x}", prefix, engine);
  const std::string path = made.folder_ + "/" + made.name_;
  if (!made.folder_.empty() && survived(path, engine)) made.kept_ = linux::open_cache_file(path, false);

  auto added = linux::make_memory_file("tally-translations", store_bytes);
  if (!added) return made;
  auto view = linux::map_shared(added->get(), 0, store_bytes);
  if (!view) return made;
  Store{view->data()}.begin(engine, store_slots, store_bytes);
  made.added_inode_ = linux::inode_of(added->get());
  made.added_ = std::move(*added);
  made.added_view_ = std::move(*view);
  return made;
}

void Translations::describe(channel::Settings& settings) const {
  settings.kept_bytes = kept_ ? kept_->bytes : 0;
  settings.kept_inode = kept_ ? kept_->inode : 0;
  settings.added_bytes = added_ ? store_bytes : 0;
  settings.added_inode = added_inode_;
}

void Translations::keep() {
  if (!added_ || folder_.empty()) return;
  const Store fresh{added_view_.data()};
  if (fresh.header().records == 0) return;
  const std::string path = folder_ + "/" + name_;
  if (auto old = linux::open_cache_file(path, true); old && survived(path, engine_)) {
    if (!linux::take_cache_file(*old)) return;  // another tally is at it
    const auto mapping = linux::map_shared(old->file.get(), 0, store_bytes);
    if (!mapping) return;
    if (const auto store = as_store(*mapping, engine_); store && add(*store, *old, fresh)) return;
  }
  // There is none that can be used, or it is full: begun anew with what was needed last.
  const auto file = linux::make_cache_file(folder_, store_bytes);
  if (!file || !linux::has_space(*file, 0, Store::log_offset(store_slots))) return;
  const auto mapping = linux::map_shared(file->file.get(), 0, store_bytes);
  if (!mapping) return;
  const Store store{mapping->data()};
  store.begin(engine_, store_slots, store_bytes);
  const std::string boot = linux::boot_id().substr(0, sizeof store.header().boot - 1);
  std::memcpy(store.header().boot, boot.c_str(), boot.size() + 1);
  add(store, *file, fresh);
  if (linux::name_cache_file(*file, path)) linux::remove_old_cache_files(folder_, prefix, name_);
}

}  // namespace tally::backend::sim
