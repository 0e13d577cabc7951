#include "tally/counting/backend/engine/kept_records.hpp"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <set>

namespace tally::backend::engine {

using channel::RecordHead;
using channel::RecordKey;
using channel::Store;
using channel::store_bytes;

namespace {

/// Calls `each` with all slots of a store that is mapped from this file, except for levels that were never written,
/// whatever the header contains.
template <class Each>
void each_slot(const Store& store, int file, Each&& each) {
  for (std::uint64_t n = 0; n < channel::store_level_count; ++n) {
    const channel::StoreLevel level = channel::store_level(n);
    const std::uint64_t at = channel::store_slots_offset + level.first * sizeof(channel::StoreSlot);
    if (!linux::has_data(file, at, level.slots * sizeof(channel::StoreSlot))) continue;
    for (std::uint64_t i = 0; i < level.slots; ++i) each(store.slots()[level.first + i]);
  }
}

/// Returns the records of the index, in the order of their creation.
std::vector<std::uint32_t> indexed(const Store& store, int file) {
  std::vector<std::uint32_t> all;
  all.reserve(std::min(store.header().records, channel::store_slots));
  each_slot(store, file, [&](const channel::StoreSlot& slot) {
    if (slot.tag != 0) all.push_back(slot.place);
  });
  std::sort(all.begin(), all.end());
  return all;
}

/// Returns the sound records of an index that are in used parts, and those that such bundles name.
std::set<std::uint32_t> used_records(const Store& store, int file, const RecordKey& key,
                                     const channel::UsedParts& used) {
  std::set<std::uint32_t> all;
  for (const std::uint32_t place : indexed(store, file)) {
    const RecordHead* const record = channel::is_used(used, place) ? store.sound_record(place, key) : nullptr;
    if (!record) continue;
    all.insert(place);
    const channel::Bundle* const bundle = channel::as_bundle(*record);
    for (std::uint32_t i = 0; bundle && i < bundle->use_count; ++i) {
      const std::uint32_t name = bundle->uses()[i] & ~channel::use_better;
      if (const RecordHead* const named = store.sound_record(name, key); named && !channel::as_bundle(*named))
        all.insert(name);
    }
  }
  return all;
}

/// Replaces the names in a copied bundle.
void rename_uses(channel::Bundle& bundle, const KeptNames& names, const RecordKey& key) {
  const bool is_intact = bundle.names_check == channel::check_of_names(bundle, key);
  for (std::uint32_t i = 0; i < bundle.use_count; ++i) {
    const std::uint32_t old = bundle.uses()[i];
    const std::uint32_t now = is_intact ? names.of(old & ~channel::use_better) : 0;
    bundle.uses()[i] = now == 0 ? 0 : now | (old & channel::use_better);
  }
  bundle.names_check = channel::check_of_names(bundle, key);
}

}  // namespace

std::vector<LoggedRecord> logged_records(const Store& store, int file) {
  constexpr std::size_t head_bytes = offsetof(LoggedRecord, place);
  std::vector<LoggedRecord> all;
  const std::uint64_t end = std::min(store.header().end, store_bytes);
  std::vector<std::uint8_t> read(std::min<std::uint64_t>(end - channel::store_log_offset, 64 << 10));
  std::uint64_t from = end;  // of `read`
  for (std::uint64_t at = channel::store_log_offset; at < end; at += all.back().head.bytes) {
    if (at < from || at + head_bytes > from + read.size()) {
      from = at;
      read.resize(std::min<std::uint64_t>(end - at, read.size()));
      if (!linux::read_at(file, at, read.data(), read.size())) read.assign(read.size(), 0);
    }
    all.push_back({{}, 0, static_cast<std::uint32_t>(at / channel::record_unit)});
    std::memcpy(&all.back(), &read[at - from], std::min(head_bytes, from + read.size() - at));
    const std::uint32_t bytes = all.back().head.bytes;
    if (bytes % channel::record_unit == 0 && bytes >= sizeof(RecordHead) && at + bytes <= end) continue;
    all.clear();
    for (const std::uint32_t place : indexed(store, file))
      if (const RecordHead* const record = store.record(place)) {
        all.push_back({{}, 0, place});
        std::memcpy(&all.back(), record, std::min<std::size_t>(head_bytes, record->bytes));
      }
    break;
  }
  return all;
}

void repair_end(const Store& store, int file, const RecordKey& key) {
  const auto repair = [&](std::uint32_t place) {
    const RecordHead* const last = store.sound_record(place, key);
    if (last) store.header().end = std::max(store.header().end, place * channel::record_unit + last->bytes);
    return last != nullptr;
  };
  // Usually the last one is sound: sorting all of them would take longer than the rest of a short run.
  std::uint32_t last = 0;
  each_slot(store, file, [&](const channel::StoreSlot& slot) {
    if (slot.tag != 0) last = std::max(last, slot.place);
  });
  if (last == 0 || repair(last)) return;
  const auto all = indexed(store, file);
  std::find_if(all.rbegin(), all.rend(), repair);
}

void drop_damaged(const Store& store, int file, const RecordKey& key) {
  each_slot(store, file, [&](channel::StoreSlot& slot) {
    if (slot.tag == 0) return;
    const RecordHead* const record = store.sound_record(slot.place, key);
    if (!record || record->tag != slot.tag) Store::forget(slot);
  });
}

bool has_space_for_slots(const linux::CacheFile& file, std::uint64_t records) {
  std::uint64_t levels = 1;
  while (levels < channel::store_level_count && records >= channel::store_level(levels).first_record()) ++levels;
  const std::uint64_t slots = channel::store_level(levels).first * sizeof(channel::StoreSlot);
  return linux::has_space(file, 0, channel::store_slots_offset + slots);
}

bool adds_used(channel::UsedParts& known, const channel::UsedParts& more) {
  bool changes = false;
  for (std::size_t i = 0; i < sizeof known.bits; ++i) {
    changes |= (more.bits[i] & ~known.bits[i]) != 0;
    known.bits[i] |= more.bits[i];
  }
  return changes;
}

std::optional<KeptNames> copy_used(const Store& to, const linux::CacheFile& file, const Store& from, int from_file,
                                   const RecordKey& key, const channel::UsedParts& used, std::uint64_t most_bytes) {
  const auto places = used_records(from, from_file, key, used);
  std::uint64_t bytes = 0;
  for (const std::uint32_t place : places) bytes += from.record(place)->bytes;
  if (bytes > most_bytes || places.size() > channel::store_slots / 4 || !has_space_for_slots(file, places.size()) ||
      !linux::has_space(file, channel::store_log_offset, bytes + channel::used_part_bytes))
    return std::nullopt;
  std::unordered_map<std::uint32_t, std::uint32_t> numbers;
  std::vector<channel::Bundle*> bundles;
  for (const std::uint32_t place : places) {
    const RecordHead& record = *from.record(place);
    std::uint8_t* const at = to.claim(record.bytes);
    if (!at) return std::nullopt;
    std::memcpy(at, &record, record.bytes);
    auto& copied = *reinterpret_cast<RecordHead*>(at);
    if (channel::as_bundle(copied)) bundles.push_back(reinterpret_cast<channel::Bundle*>(at));
    to.publish(copied);
    channel::note_used(to.header().used, to.place_of(copied), copied.bytes);
    numbers[place] = to.place_of(copied);
  }
  // What follows is not used yet.
  to.header().end =
      (to.header().end + channel::used_part_bytes - 1) / channel::used_part_bytes * channel::used_part_bytes;
  KeptNames names(std::move(numbers));
  for (channel::Bundle* const bundle : bundles) rename_uses(*bundle, names, key);
  return names;
}

}  // namespace tally::backend::engine
