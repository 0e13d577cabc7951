/// Finished translations, for the programs of one run and from one run to the next.
///
/// Two files have this layout: one that was kept on disk and that nobody writes while programs run, and one in memory
/// to which the programs of a run add; at the end the command moves what was added into the file. A file is a table of
/// slots and a log of records. A record is found by a tag made from program code; what it holds after its head, and
/// whether it fits, only the engine knows: it compares all of the code that the record was made from with the
/// program's. So nothing is taken on trust but who may write the files.
///
/// Freestanding, like channel.hpp. Nothing is locked: a process may be killed at any instruction.
#pragma once
#include <stddef.h>
#include <stdint.h>

#include "tally/engine/channel/record_key.hpp"

namespace tally::channel {

inline constexpr uint64_t store_magic = 0x6572'6f74'736c'6174;
inline constexpr uint64_t record_unit = 16;  ///< records begin at multiples of it
/// Sparse: what is not used takes no space. 131,072 records of some 600 bytes fit: the C compiler's optimiser alone has
/// about 50,000.
inline constexpr uint64_t store_bytes = 128u << 20, store_slots = 1u << 18;

/// Head of a store.
struct StoreHeader {
  uint64_t magic;
  uint64_t engine;  ///< ImageHeader::build of the engine that made the records: no other can use them
  uint64_t end;     ///< offset after the last record
  uint64_t records;
  uint64_t check;    ///< of what is the same as long as the file exists: check_of(); on disk only
  uint64_t refused;  ///< records of the kept file whose checksum was wrong; in memory only
  RecordKey key;     ///< of both files; in memory only, which no program of another user has
};
static_assert(sizeof(StoreHeader) <= 4096);
inline constexpr uint64_t store_slots_offset = 4096;
inline constexpr uint64_t store_log_offset = store_slots_offset + store_slots * 8;

/// Where a record is; read and written as one word.
struct alignas(8) StoreSlot {
  uint32_t tag;
  uint32_t place;  ///< offset in record_unit, 0 = free
};

/// How a record begins.
struct RecordHead {
  uint32_t bytes;  ///< of all of it, a multiple of record_unit
  uint32_t tag;
  uint64_t check;  ///< of the rest: check_of()
};

/// What a part of a record takes: the next one begins at a multiple of 8.
constexpr uint64_t part_bytes(uint64_t bytes) { return (bytes + 7) & ~uint64_t{7}; }

/// A record that names others, by their places: in the kept file, unless `use_added` is set. What follows the names
/// only the engine knows. The names of a bundle change while it is kept, and have a checksum of their own.
struct Bundle {
  RecordHead head;
  uint64_t mark;  ///< bundle_mark: no other record has that here
  uint64_t key;
  uint32_t use_count, reserved;
  uint64_t names_check;

  uint32_t* uses() { return reinterpret_cast<uint32_t*>(this + 1); }
  const uint32_t* uses() const { return reinterpret_cast<const uint32_t*>(this + 1); }
  uint8_t* after_names() { return reinterpret_cast<uint8_t*>(this + 1) + part_bytes(use_count * sizeof(uint32_t)); }
  const uint8_t* after_names() const { return const_cast<Bundle*>(this)->after_names(); }
};
static_assert(sizeof(Bundle) % record_unit == 0);
inline constexpr uint32_t use_added = 1u << 31;
/// In a bundle that is kept: the record was made from better code than the bundle has for it.
inline constexpr uint32_t use_better = 1u << 30;
/// All that a program used of the code of one file, led to one another and ready to be copied; the last one that was
/// kept is found by its key.
inline constexpr uint64_t bundle_mark = ~uint64_t{0};
/// Nothing but names: of each two the second is better than the first.
inline constexpr uint64_t replacements_mark = ~uint64_t{1};
/// Nothing but names: in the bundle with this key, of each three the one with the first as its number, if it is the
/// second, is better as the third.
inline constexpr uint64_t improvements_mark = ~uint64_t{2};

/// The record as a bundle, or as one of the same form; null where it is another one.
inline const Bundle* as_bundle(const RecordHead& record, uint64_t mark = bundle_mark) {
  const auto* const bundle = reinterpret_cast<const Bundle*>(&record);
  if (record.bytes < sizeof(Bundle) || bundle->mark != mark) return nullptr;
  return bundle->use_count <= (record.bytes - sizeof(Bundle)) / sizeof(uint32_t) ? bundle : nullptr;
}

/// 64-bit words folded into one, order and all; about 1 ns a word. `bytes` is a multiple of 8.
inline uint64_t check_of(const void* data, uint64_t bytes) {
  const auto* words = static_cast<const uint64_t*>(data);
  uint64_t sum = bytes;
  for (uint64_t i = 0; i < bytes / 8; i++) {
    sum = (sum ^ words[i]) * 0x9e37'79b9'7f4a'7c15;
    sum ^= sum >> 29;
  }
  return sum;
}

/// The checksum that a record has with this key. A bundle's is without its names.
inline uint64_t check_of(const RecordHead& record, const RecordKey& key) {
  RecordKey::Sum sum(key);
  sum.add(&record, offsetof(RecordHead, check));
  if (const Bundle* const bundle = as_bundle(record); bundle != nullptr) {
    sum.add(&bundle->mark, offsetof(Bundle, names_check) - offsetof(Bundle, mark));
    const uint8_t* const rest = bundle->after_names();
    sum.add(rest, record.bytes - static_cast<uint64_t>(rest - reinterpret_cast<const uint8_t*>(&record)));
  } else {
    sum.add(&record + 1, record.bytes - sizeof record);
  }
  return sum.result(Sealed::record);
}
inline bool is_sound(const RecordHead& record, const RecordKey& key) { return check_of(record, key) == record.check; }

inline uint64_t check_of_names(const Bundle& bundle, const RecordKey& key) {
  RecordKey::Sum sum(key);
  sum.add(&bundle.head.check, sizeof bundle.head.check);
  sum.add(bundle.uses(), part_bytes(bundle.use_count * sizeof(uint32_t)));
  return sum.result(Sealed::names);
}

/// The record is complete.
inline void seal(RecordHead& record, const RecordKey& key) {
  record.check = check_of(record, key);
  if (as_bundle(record) != nullptr) {
    auto& bundle = reinterpret_cast<Bundle&>(record);
    bundle.names_check = check_of_names(bundle, key);
  }
}

inline uint64_t check_of(const StoreHeader& header, const RecordKey& key) {
  return key.check_of(&header, offsetof(StoreHeader, end), Sealed::header);
}

/// A mapped store. Whatever it holds, nothing outside of its bytes is read or written: who adds to it may go wrong.
struct Store {
  uint8_t* base = nullptr;

  StoreHeader& header() const { return *reinterpret_cast<StoreHeader*>(base); }
  StoreSlot* slots() const { return reinterpret_cast<StoreSlot*>(base + store_slots_offset); }
  /// A record of the log; null where none can be.
  const RecordHead* record(uint32_t place) const {
    const uint64_t at = place * record_unit;
    if (at < store_log_offset || at + sizeof(RecordHead) > store_bytes) return nullptr;
    const auto* const head = reinterpret_cast<const RecordHead*>(base + at);
    const uint32_t bytes = __atomic_load_n(&head->bytes, __ATOMIC_RELAXED);
    const bool inside = bytes % record_unit == 0 && bytes >= sizeof(RecordHead) && at + bytes <= store_bytes;
    return inside ? head : nullptr;
  }
  /// The same, if it is as it was written.
  const RecordHead* sound_record(uint32_t place, const RecordKey& key) const {
    const RecordHead* const head = record(place);
    return head != nullptr && is_sound(*head, key) ? head : nullptr;
  }

  uint32_t place_of(const RecordHead& record) const {
    return static_cast<uint32_t>((reinterpret_cast<const uint8_t*>(&record) - base) / record_unit);
  }

  /// An empty one in a file that holds zeros.
  void begin(uint64_t engine) const { header() = {store_magic, engine, store_log_offset, 0, 0, 0, {}}; }

  /// The first record with this tag that `fits` says yes to, or null.
  template <class Fits>
  const RecordHead* find(uint32_t tag, Fits&& fits) const {
    for (uint64_t i = tag & mask, tries = 0; tries < longest_search; i = (i + 1) & mask, tries++) {
      const StoreSlot slot = load(slots()[i]);
      if (slot.place == 0) return nullptr;
      if (slot.tag != tag) continue;
      const RecordHead* const found = record(slot.place);
      if (found != nullptr && found->tag == tag && fits(*found)) return found;
    }
    return nullptr;
  }

  /// Room for a record, to be written and then published; null when the store is full. A writer that is killed in
  /// between loses this room.
  uint8_t* claim(uint64_t bytes) const {
    if (header().records * 2 >= store_slots) return nullptr;
    uint64_t at = __atomic_load_n(&header().end, __ATOMIC_RELAXED);
    do {
      if (at < store_log_offset || at % record_unit != 0 || at > store_bytes || bytes > store_bytes - at)
        return nullptr;
    } while (!__atomic_compare_exchange_n(&header().end, &at, at + bytes, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
    return base + at;
  }

  /// Lets others find a record that is complete. False where its part of the table is full.
  bool publish(const RecordHead& record) const {
    const StoreSlot made{record.tag, place_of(record)};
    for (uint64_t i = record.tag & mask, tries = 0; tries < longest_search; i = (i + 1) & mask, tries++) {
      uint64_t expected = 0, desired;
      __builtin_memcpy(&desired, &made, sizeof desired);
      if (__atomic_compare_exchange_n(reinterpret_cast<uint64_t*>(&slots()[i]), &expected, desired, false,
                                      __ATOMIC_RELEASE, __ATOMIC_RELAXED)) {
        __atomic_add_fetch(&header().records, 1, __ATOMIC_RELAXED);
        return true;
      }
    }
    return false;
  }

  /// The first bundle with this key that `fits` says yes to, or null.
  template <class Fits>
  const Bundle* find_bundle(uint64_t key, Fits&& fits) const {
    const RecordHead* const found = find(bundle_tag(key), [&](const RecordHead& record) {
      const Bundle* const bundle = as_bundle(record);
      return bundle != nullptr && bundle->key == key && fits(record);
    });
    return found == nullptr ? nullptr : as_bundle(*found);
  }
  static uint32_t bundle_tag(uint64_t key) { return static_cast<uint32_t>(key >> 32) | 1; }

  /// Others find `by` from now on where they found `record`, which has the same tag. False where they did not.
  bool replace(const RecordHead& record, const RecordHead& by) const {
    const uint32_t place = place_of(record);
    for (uint64_t i = record.tag & mask, tries = 0; tries < longest_search; i = (i + 1) & mask, tries++) {
      if (load(slots()[i]).place != place) continue;
      const StoreSlot made{by.tag, place_of(by)};
      uint64_t word;
      __builtin_memcpy(&word, &made, sizeof word);
      __atomic_store_n(reinterpret_cast<uint64_t*>(&slots()[i]), word, __ATOMIC_RELEASE);
      return true;
    }
    return false;
  }

  /// Nobody finds it any more.
  static void forget(StoreSlot& slot) { slot = forgotten; }

 private:
  static constexpr StoreSlot forgotten{0, 1};  // no record has this tag, and none is there
  static constexpr uint64_t longest_search = 64, mask = store_slots - 1;
  static StoreSlot load(const StoreSlot& slot) {
    const uint64_t word = __atomic_load_n(reinterpret_cast<const uint64_t*>(&slot), __ATOMIC_ACQUIRE);
    StoreSlot loaded;
    __builtin_memcpy(&loaded, &word, sizeof loaded);
    return loaded;
  }
};

}  // namespace tally::channel
