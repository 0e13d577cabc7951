#include "tally/engine/channel/stored_layout.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <set>
#include <thread>
#include <vector>

namespace tally::channel {
namespace {

class StoreTest : public testing::Test {
 protected:
  StoreTest() {
    store_.base = static_cast<uint8_t*>(calloc(1, store_bytes));  // reserved, not written
    store_.begin(7);
  }
  ~StoreTest() override { free(store_.base); }

  /// Adds a record of 32 bytes whose second half is `value`, twice. Null if there is no room.
  const RecordHead* add(uint32_t tag, uint64_t value) {
    uint8_t* const at = store_.claim(32);
    if (at == nullptr) return nullptr;
    RecordHead& head = *reinterpret_cast<RecordHead*>(at);
    head.bytes = 32;
    head.tag = tag;
    std::memcpy(at + 16, &value, 8);
    std::memcpy(at + 24, &value, 8);
    seal(head, key_);
    return store_.publish(head) ? &head : nullptr;
  }
  static uint64_t value_of(const RecordHead& record) {
    uint64_t value = 0;
    std::memcpy(&value, &record + 1, 8);
    return value;
  }
  bool has(uint32_t tag, uint64_t value) {
    return store_.find(tag, [&](const RecordHead& record) { return value_of(record) == value; }) != nullptr;
  }

  const Bundle* find(uint64_t key) {
    return store_.find_bundle(key, [this](const RecordHead& record) { return is_sound(record, key_); });
  }

  Store store_;
  RecordKey key_{{{1, 2}}, 3, false};
};

TEST_F(StoreTest, finds_a_matching_record_among_those_with_one_tag) {
  for (uint64_t value = 1; value <= 5; value++) ASSERT_NE(add(42, value), nullptr);
  constexpr uint32_t other = 42 + (1u << 24);  // its search begins at the same slot
  ASSERT_NE(add(other, 6), nullptr);
  for (uint64_t value = 1; value <= 5; value++) EXPECT_TRUE(has(42, value));
  EXPECT_FALSE(has(42, 6));
  EXPECT_TRUE(has(other, 6));
  EXPECT_FALSE(has(43, 1));
  EXPECT_EQ(store_.header().records, 6u);
}

TEST_F(StoreTest, is_full_before_a_search_becomes_long) {
  uint64_t added = 0;
  while (add(static_cast<uint32_t>(added * 2 + 1), added) != nullptr) added++;
  EXPECT_EQ(added, store_slots / 2);
  // In every level.
  for (uint64_t value = 0; value < added; value += 1009) EXPECT_TRUE(has(static_cast<uint32_t>(value * 2 + 1), value));
}

TEST_F(StoreTest, few_records_have_a_small_table) {
  for (uint64_t value = 0; value < store_level(1).first_record(); value++)
    ASSERT_NE(add(static_cast<uint32_t>(value * 0x9e3779b1), value), nullptr);
  for (uint64_t i = store_level(1).first; i < store_slots; i++) ASSERT_EQ(store_.slots()[i].place, 0u);
  ASSERT_NE(add(1, 1), nullptr);
  EXPECT_NE(store_.slots()[store_level(1).first + 1].place, 0u);
  EXPECT_TRUE(has(1, 1));
}

TEST_F(StoreTest, a_search_for_a_tag_without_records_reads_no_slot) {
  ASSERT_NE(add(42, 1), nullptr);
  constexpr uint32_t tag = 42 + (1u << 24);
  RecordHead& unpublished = *reinterpret_cast<RecordHead*>(store_.claim(32));
  unpublished.bytes = 32;
  unpublished.tag = tag;
  store_.slots()[tag % first_level_slots + 1] = {tag, store_.place_of(unpublished)};
  int read = 0;
  store_.find(tag, [&](const RecordHead&) { return ++read > 0; });
  EXPECT_EQ(read, 0);
  EXPECT_TRUE(has(42, 1));
}

TEST_F(StoreTest, has_no_room_after_its_end) {
  EXPECT_EQ(store_.claim(store_bytes), nullptr);
  const uint64_t left = store_bytes - store_.header().end;
  EXPECT_NE(store_.claim(left), nullptr);
  EXPECT_EQ(store_.claim(16), nullptr);
}

TEST_F(StoreTest, an_unpublished_record_is_not_found) {
  RecordHead& head = *reinterpret_cast<RecordHead*>(store_.claim(32));
  head.bytes = 32;
  head.tag = 5;
  EXPECT_FALSE(has(5, 0));
}

TEST_F(StoreTest, a_checksum_detects_every_bit) {
  const RecordHead* record = add(1, 0x0123456789abcdef);
  auto* const content = reinterpret_cast<uint8_t*>(const_cast<RecordHead*>(record)) + sizeof(RecordHead);
  for (int bit = 0; bit < 128; bit++) {
    content[bit / 8] ^= static_cast<uint8_t>(1 << bit % 8);
    EXPECT_FALSE(is_sound(*record, key_)) << bit;
    content[bit / 8] ^= static_cast<uint8_t>(1 << bit % 8);
  }
  EXPECT_TRUE(is_sound(*record, key_));
}

TEST_F(StoreTest, siphash_matches_published_vectors) {
  const MasterKey key{{0x0706050403020100, 0x0f0e0d0c0b0a0908}};
  const uint64_t words[2] = {0x0706050403020100, 0x0f0e0d0c0b0a0908};
  EXPECT_EQ(siphash(key, words, 0), 0x726fdb47dd0e0e31u);
  EXPECT_EQ(siphash(key, words, 1), 0x93f5f5799a932462u);
  EXPECT_EQ(siphash(key, words, 2), 0x3f2acc7f57c29bdbu);
}

TEST_F(StoreTest, a_checksum_depends_on_key_kind_length_and_each_bit) {
  constexpr uint64_t words = 2 * 32 + 5;
  uint64_t data[words + 1] = {};
  std::set<uint64_t> all;
  size_t made = 0;
  const auto add = [&](uint64_t check) {
    all.insert(check);
    made++;
  };
  for (uint64_t n = 0; n <= words; n++) add(key_.check_of(data, n * 8, Sealed::record));
  for (uint64_t bit = 0; bit < words * 64; bit++) {
    data[bit / 64] = uint64_t{1} << bit % 64;
    add(key_.check_of(data, words * 8, Sealed::record));
    data[bit / 64] = 0;
  }
  add(key_.check_of(data, words * 8, Sealed::names));
  for (const RecordKey& other : {RecordKey({{1, 3}}, 3, false), RecordKey({{0, 2}}, 3, false),
                                 RecordKey({{1, 2}}, 4, false), RecordKey({{1, 2}}, 3, true)})
    add(other.check_of(data, words * 8, Sealed::record));
  EXPECT_EQ(all.size(), made);
}

TEST_F(StoreTest, damage_does_not_lead_out_of_bounds) {
  RecordHead* const record = const_cast<RecordHead*>(add(1, 7));
  StoreSlot& slot = store_.slots()[1];
  const StoreSlot intact = slot;
  for (const uint32_t place :
       {1u, static_cast<uint32_t>(store_log_offset / 16 - 1), 0xffffffffu, static_cast<uint32_t>(store_bytes / 16)}) {
    slot.place = place;
    EXPECT_FALSE(has(1, 7));
    EXPECT_EQ(store_.sound_record(place, key_), nullptr);
  }
  slot = intact;
  for (const uint32_t bytes : {0u, 8u, 33u, 0xfffffff0u}) {
    record->bytes = bytes;
    EXPECT_FALSE(has(1, 7));
    EXPECT_EQ(store_.sound_record(intact.place, key_), nullptr);
  }
  for (const uint64_t end : {uint64_t{0}, store_log_offset + 1, store_bytes, ~uint64_t{0} - 7}) {
    store_.header().end = end;
    EXPECT_EQ(store_.claim(32), nullptr) << end;
  }
}

TEST_F(StoreTest, a_key_finds_the_bundle_that_was_kept_last) {
  const auto add_bundle = [&](uint64_t key, uint32_t place, const Bundle* before) {
    uint8_t* const at = store_.claim(sizeof(Bundle) + 16);
    auto& made = *reinterpret_cast<Bundle*>(at);
    made.head = {sizeof(Bundle) + 16, Store::bundle_tag(key), 0};
    made.mark = bundle_mark;
    made.key = key;
    made.use_count = 2;
    made.uses()[0] = place;
    made.uses()[1] = place + 1;
    seal(made.head, key_);
    if (before != nullptr) {
      store_.replace(before->head, store_.place_of(made.head));
    } else {
      store_.publish(made.head);
    }
  };
  const uint64_t one = 0x7700000001, two = 0x7700000002;  // with the same tag
  add(Store::bundle_tag(one), 5);                         // not a bundle
  EXPECT_EQ(find(one), nullptr);
  add_bundle(one, 100, nullptr);
  add_bundle(two, 200, nullptr);
  ASSERT_NE(find(one), nullptr);
  EXPECT_EQ(find(one)->uses()[1], 101u);
  EXPECT_EQ(find(two)->use_count, 2u);
  add_bundle(one, 300, find(one));
  EXPECT_EQ(find(one)->uses()[0], 300u);
  EXPECT_EQ(find(two)->uses()[0], 200u);
}

TEST_F(StoreTest, a_bundle_with_more_names_than_room_is_rejected) {
  auto& made = *reinterpret_cast<Bundle*>(store_.claim(sizeof(Bundle) + 16));
  made.head = {sizeof(Bundle) + 16, 1, 0};
  made.mark = bundle_mark;
  made.use_count = 4;
  EXPECT_NE(as_bundle(made.head), nullptr);
  made.use_count = 5;
  EXPECT_EQ(as_bundle(made.head), nullptr);
}

TEST_F(StoreTest, threads_add_at_once) {
  constexpr uint64_t each = 30;
  std::vector<std::thread> threads;
  for (uint64_t k = 0; k < 4; k++) {
    threads.emplace_back([this, k] {
      for (uint64_t i = 0; i < each; i++) add(static_cast<uint32_t>(i % 3 + 1), k * each + i);
    });
  }
  for (std::thread& thread : threads) thread.join();
  uint64_t found = 0;
  for (uint64_t value = 0; value < 4 * each; value++) found += has(static_cast<uint32_t>(value % each % 3 + 1), value);
  // A search ends after 64 slots: more records with one tag are not kept.
  EXPECT_EQ(found, store_.header().records);
  EXPECT_GE(found, 64u);
}

}  // namespace
}  // namespace tally::channel
