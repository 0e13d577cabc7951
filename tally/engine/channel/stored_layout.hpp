/// Finished translations, for the programs of one run and for later runs.
///
/// Two files have this layout: one is kept on disk, and nobody writes it while programs run; the other is in memory,
/// and the programs of a run add to it. At the end the command moves what was added into the file on disk. A file is a
/// table of slots and a log of records. A record is found by a tag computed from program code. Only the engine knows
/// what follows the head of a record, and whether the record fits: it compares all code that the record was made from
/// with the program's code. So tally relies only on the permission to write the files.
///
/// Freestanding, like channel.hpp. Nothing is locked: a process may be killed at any instruction.
#pragma once
#include <stddef.h>
#include <stdint.h>

#include "tally/engine/channel/record_key.hpp"

namespace tally::channel {

inline constexpr uint64_t store_magic = 0x3272'6f74'736c'6174;
inline constexpr uint64_t record_unit = 16;  ///< records begin at multiples of it
/// Sparse: unused parts take no space. The C compiler's optimiser has about 50,000 records of about 600 bytes, the Rust
/// compiler 250,000.
inline constexpr uint64_t store_bytes = 512u << 20;
inline constexpr uint64_t largest_bundle = store_bytes / 8 * 3;

/// The table of slots has levels, each twice as large as the one before. A level is used once half of the slots of
/// those before it are occupied, so that few records take few pages.
struct StoreLevel {
  uint64_t first, slots;                               ///< slots: a power of two
  uint64_t first_record() const { return first / 2; }  ///< the number of records in the levels before it
};
inline constexpr uint64_t store_level_count = 9, first_level_slots = 4096;
constexpr StoreLevel store_level(uint64_t i) { return {first_level_slots * ((1u << i) - 1), first_level_slots << i}; }
inline constexpr uint64_t store_slots = store_level(store_level_count).first;  ///< of all levels
/// One bit for the upper bits of each tag in the table: most searches end here, without a page of the table.
inline constexpr uint64_t store_filter_bits = 1u << 20;

/// Whether a record was used is known for parts of a store of this size. The records of one run are adjacent.
inline constexpr uint64_t used_part_bytes = 64 << 10;
struct UsedParts {
  uint8_t bits[store_bytes / used_part_bytes / 8];
};

inline constexpr uint32_t sound_limit = 64;

/// Head of a store.
struct StoreHeader {
  uint64_t magic;
  uint64_t engine;  ///< ImageHeader::build of the engine that made the records; no other can use them
  uint64_t end;     ///< offset after the last record
  uint64_t records;
  uint64_t check;    ///< check_of() the fields that never change; on disk only
  uint64_t refused;  ///< records of the kept file with a wrong checksum; in memory only
  RecordKey key;     ///< of both files; in memory only, which other users' programs do not have
  UsedParts used;    ///< parts of the kept file: in memory, those that this run used; on disk, those used by any run
  uint32_t sound[sound_limit];  ///< places of bundles of the kept file with the right checksum; in memory only
};
static_assert(sizeof(StoreHeader) <= 4096);
inline constexpr uint64_t store_filter_offset = 4096;
inline constexpr uint64_t store_slots_offset = store_filter_offset + store_filter_bits / 8;
inline constexpr uint64_t store_log_offset = store_slots_offset + store_slots * 8;

/// The offset of a record; read and written as one word.
struct alignas(8) StoreSlot {
  uint32_t tag;
  uint32_t place;  ///< offset in units of record_unit; 0: free
};

/// The head of a record.
struct RecordHead {
  uint32_t bytes;  ///< of the whole record, a multiple of record_unit
  uint32_t tag;
  uint64_t check;  ///< of the rest: check_of()
};

/// The size of a record with padding: the next record begins at a multiple of record_unit.
constexpr uint64_t record_bytes(uint64_t bytes) { return (bytes + record_unit - 1) & ~(record_unit - 1); }
/// The size of a part of a record with padding: the next part begins at a multiple of 8.
constexpr uint64_t part_bytes(uint64_t bytes) { return (bytes + 7) & ~uint64_t{7}; }

/// A record that names others by their offsets: in the kept file, or in the other one if `use_added` is set. Only the
/// engine knows what follows the names. The names of a bundle change while it is kept, so they have a checksum of their
/// own.
struct Bundle {
  RecordHead head;
  uint64_t mark;  ///< bundle_mark: no other record has this value here
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
/// In a kept bundle: the record was made from better code than the one that the bundle contains.
inline constexpr uint32_t use_better = 1u << 30;
/// Everything that a program used of one file's code, linked and ready to be copied. Its key finds the one kept last.
inline constexpr uint64_t bundle_mark = ~uint64_t{0};
/// Only names, in pairs: the second record is better than the first.
inline constexpr uint64_t replacements_mark = ~uint64_t{1};
/// Only names, in triples (index, old, new): in the bundle with this key, `new` is better than entry `index` if that is
/// `old`.
inline constexpr uint64_t improvements_mark = ~uint64_t{2};

/// Returns the record as a bundle, or as a record of the same form; null if it is another kind.
inline const Bundle* as_bundle(const RecordHead& record, uint64_t mark = bundle_mark) {
  const auto* const bundle = reinterpret_cast<const Bundle*>(&record);
  if (record.bytes < sizeof(Bundle) || bundle->mark != mark) return nullptr;
  return bundle->use_count <= (record.bytes - sizeof(Bundle)) / sizeof(uint32_t) ? bundle : nullptr;
}

/// Hashes 64-bit words and their order; about 1 ns per word. `bytes` is a multiple of 8.
inline uint64_t check_of(const void* data, uint64_t bytes) {
  const auto* words = static_cast<const uint64_t*>(data);
  uint64_t sum = bytes;
  for (uint64_t i = 0; i < bytes / 8; i++) {
    sum = (sum ^ words[i]) * 0x9e37'79b9'7f4a'7c15;
    sum ^= sum >> 29;
  }
  return sum;
}

/// Returns the checksum of a record with this key. A bundle's does not include its names.
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

/// Sets the checksums of a complete record.
inline void seal(RecordHead& record, const RecordKey& key) {
  record.check = check_of(record, key);
  if (as_bundle(record) != nullptr) {
    auto& bundle = reinterpret_cast<Bundle&>(record);
    bundle.names_check = check_of_names(bundle, key);
  }
}

/// Notes in `used` that the record at `place` was used; is_used() returns whether it was.
inline void note_used(UsedParts& used, uint32_t place, uint32_t bytes) {
  const uint64_t first = place * record_unit / used_part_bytes;
  const uint64_t last = (place * record_unit + bytes - 1) / used_part_bytes;
  for (uint64_t i = first; i <= last && i / 8 < sizeof used.bits; i++) {
    const auto bit = static_cast<uint8_t>(1u << i % 8);
    // Usually it is set: other processes read it, too.
    if ((__atomic_load_n(&used.bits[i / 8], __ATOMIC_RELAXED) & bit) == 0)
      __atomic_or_fetch(&used.bits[i / 8], bit, __ATOMIC_RELAXED);
  }
}
inline bool is_used(const UsedParts& used, uint32_t place) {
  const uint64_t i = place * record_unit / used_part_bytes;
  return i / 8 < sizeof used.bits && (used.bits[i / 8] >> i % 8 & 1) != 0;
}

inline uint64_t check_of(const StoreHeader& header, const RecordKey& key) {
  return key.check_of(&header, offsetof(StoreHeader, end), Sealed::header);
}

/// A mapped store. Its functions access only its own bytes, whatever these contain: programs that add to it may fail.
struct Store {
  uint8_t* base = nullptr;
  uint64_t readable = store_bytes;  ///< records after these bytes are not found: they are newer than the mapping

  StoreHeader& header() const { return *reinterpret_cast<StoreHeader*>(base); }
  StoreSlot* slots() const { return reinterpret_cast<StoreSlot*>(base + store_slots_offset); }
  /// Returns a record of the log; null if `place` is not valid.
  const RecordHead* record(uint32_t place) const {
    const uint64_t at = place * record_unit;
    if (at < store_log_offset || at + sizeof(RecordHead) > readable) return nullptr;
    const auto* const head = reinterpret_cast<const RecordHead*>(base + at);
    const uint32_t bytes = __atomic_load_n(&head->bytes, __ATOMIC_RELAXED);
    const bool inside = bytes % record_unit == 0 && bytes >= sizeof(RecordHead) && at + bytes <= readable;
    return inside ? head : nullptr;
  }
  /// Returns the record if its checksum is right, else null.
  const RecordHead* sound_record(uint32_t place, const RecordKey& key) const {
    const RecordHead* const head = record(place);
    return head != nullptr && is_sound(*head, key) ? head : nullptr;
  }

  uint32_t place_of(const RecordHead& record) const {
    return static_cast<uint32_t>((reinterpret_cast<const uint8_t*>(&record) - base) / record_unit);
  }

  /// Begins an empty store in a file of zeros.
  void begin(uint64_t engine) const { header() = {store_magic, engine, store_log_offset, 0, 0, 0, {}, {}, {}}; }

  /// Returns the first record with this tag for which `fits` returns true, or null.
  template <class Fits>
  const RecordHead* find(uint32_t tag, Fits&& fits) const {
    const RecordHead* found = nullptr;
    search(tag, [&](const StoreSlot&, StoreSlot slot) {
      if (slot.tag != tag) return false;
      const RecordHead* const one = record(slot.place);
      if (one != nullptr && one->tag == tag && fits(*one)) found = one;
      return found != nullptr;
    });
    return found;
  }

  /// Reserves room for a record, which the caller writes and then publishes; null if the store is full. A writer that
  /// is killed in between loses this room.
  uint8_t* claim(uint64_t bytes) const {
    if (header().records * 2 >= store_slots) return nullptr;
    uint64_t at = __atomic_load_n(&header().end, __ATOMIC_RELAXED);
    do {
      if (at < store_log_offset || at % record_unit != 0 || at > store_bytes || bytes > store_bytes - at)
        return nullptr;
    } while (!__atomic_compare_exchange_n(&header().end, &at, at + bytes, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
    return base + at;
  }

  /// Makes a complete record visible to others. False if its part of the table is full.
  bool publish(const RecordHead& record) const { return publish(record.tag, place_of(record)); }
  bool publish(uint32_t tag, uint32_t position) const {
    const StoreSlot slot{tag, position};
    const StoreLevel level = store_level(level_of(__atomic_load_n(&header().records, __ATOMIC_RELAXED)));
    const uint64_t mask = level.slots - 1;
    for (uint64_t i = tag & mask, tries = 0; tries < longest_search; i = (i + 1) & mask, tries++) {
      uint64_t expected = 0, desired;
      __builtin_memcpy(&desired, &slot, sizeof desired);
      if (__atomic_compare_exchange_n(reinterpret_cast<uint64_t*>(&slots()[level.first + i]), &expected, desired, false,
                                      __ATOMIC_RELEASE, __ATOMIC_RELAXED)) {
        __atomic_add_fetch(&header().records, 1, __ATOMIC_RELAXED);
        if (const uint32_t bit = filter_bit(tag); (filter_word(tag) & bit) == 0)
          __atomic_or_fetch(&filter_word(tag), bit, __ATOMIC_RELAXED);
        return true;
      }
    }
    return false;
  }

  /// Returns the first bundle with this key for which `fits` returns true, or null.
  template <class Fits>
  const Bundle* find_bundle(uint64_t key, Fits&& fits) const {
    const RecordHead* const found = find(bundle_tag(key), [&](const RecordHead& record) {
      const Bundle* const bundle = as_bundle(record);
      return bundle != nullptr && bundle->key == key && fits(record);
    });
    return found == nullptr ? nullptr : as_bundle(*found);
  }
  static uint32_t bundle_tag(uint64_t key) { return static_cast<uint32_t>(key >> 32) | 1; }

  /// From now on others find the record at `by` instead of `record`, which has the same tag. False if they do not find
  /// `record`.
  bool replace(const RecordHead& record, uint32_t by) const {
    const uint32_t place = place_of(record);
    return search(record.tag, [&](StoreSlot& at, StoreSlot slot) {
      if (slot.place != place) return false;
      const StoreSlot made{slot.tag, by};
      uint64_t word;
      __builtin_memcpy(&word, &made, sizeof word);
      __atomic_store_n(reinterpret_cast<uint64_t*>(&at), word, __ATOMIC_RELEASE);
      return true;
    });
  }

  /// Nobody finds the slot's record after this.
  static void forget(StoreSlot& slot) { slot = forgotten; }

 private:
  static constexpr StoreSlot forgotten{0, 1};  // no record has this tag or this offset
  static constexpr uint64_t longest_search = 64;

  /// Returns the level of the next record.
  static uint64_t level_of(uint64_t records) {
    uint64_t level = 0;
    while (level + 1 < store_level_count && records >= store_level(level + 1).first_record()) level++;
    return level;
  }

  uint32_t& filter_word(uint32_t tag) const {
    return reinterpret_cast<uint32_t*>(base + store_filter_offset)[(tag >> 12) % store_filter_bits / 32];
  }
  static uint32_t filter_bit(uint32_t tag) { return 1u << (tag >> 12) % 32; }

  /// Calls `each` with every occupied slot that a record with this tag may have, the latest first, until it returns
  /// true; returns whether it did.
  template <class Each>
  bool search(uint32_t tag, Each&& each) const {
    if ((__atomic_load_n(&filter_word(tag), __ATOMIC_RELAXED) & filter_bit(tag)) == 0) return false;
    for (uint64_t n = level_of(__atomic_load_n(&header().records, __ATOMIC_RELAXED)) + 1; n > 0; n--) {
      const StoreLevel level = store_level(n - 1);
      const uint64_t mask = level.slots - 1;
      for (uint64_t i = tag & mask, tries = 0; tries < longest_search; i = (i + 1) & mask, tries++) {
        StoreSlot& at = slots()[level.first + i];
        const StoreSlot slot = load(at);
        if (slot.place == 0) break;
        if (each(at, slot)) return true;
      }
    }
    return false;
  }

  static StoreSlot load(const StoreSlot& slot) {
    const uint64_t word = __atomic_load_n(reinterpret_cast<const uint64_t*>(&slot), __ATOMIC_ACQUIRE);
    StoreSlot loaded;
    __builtin_memcpy(&loaded, &word, sizeof loaded);
    return loaded;
  }
};

}  // namespace tally::channel
