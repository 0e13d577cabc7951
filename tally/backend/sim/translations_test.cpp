#include "tally/backend/sim/translations.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <vector>

namespace tally::backend::sim {
namespace {

namespace fs = std::filesystem;
using channel::RecordHead;
using channel::Store;

constexpr std::uint64_t engine = 0x1234;

class TranslationsTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "tally-translations-XXXXXX").string();
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    root_ = pattern;
    folder_ = root_ / "cache";
    setenv("TALLY_CACHE_DIR", folder_.c_str(), 1);
  }
  void TearDown() override {
    unsetenv("TALLY_CACHE_DIR");
    fs::remove_all(root_);
  }

  /// Adds a record with this tag, 32 bytes; returns how a use names it.
  static std::uint32_t add(const Store& store, std::uint32_t tag, std::uint32_t content) {
    std::uint8_t* const at = store.claim(32);
    auto& head = *reinterpret_cast<RecordHead*>(at);
    head = {32, tag, 0};
    std::memset(at + sizeof head, static_cast<int>(content), 16);
    channel::seal(head, store.header().key);
    store.publish(head);
    return store.place_of(head) | channel::use_added;
  }
  /// Adds a bundle with this key to a mapped store, or another record that names some.
  static void add_bundle(const Store& store, std::uint64_t key, const std::vector<std::uint32_t>& places,
                         std::uint64_t mark = channel::bundle_mark) {
    const auto bytes = static_cast<std::uint32_t>(sizeof(channel::Bundle) + (places.size() + 3) / 4 * 16);
    std::uint8_t* const at = store.claim(bytes);
    ASSERT_NE(at, nullptr);
    auto& made = *reinterpret_cast<channel::Bundle*>(at);
    made.head = {bytes, Store::bundle_tag(key), 0};
    made.mark = mark;
    made.key = key;
    made.use_count = static_cast<std::uint32_t>(places.size());
    std::copy(places.begin(), places.end(), made.uses());
    channel::seal(made.head, store.header().key);
    store.publish(made.head);
  }
  /// The tags of the records that a kept bundle names, 0 where it names none.
  std::vector<std::uint32_t> kept_bundle(std::uint64_t key) {
    const auto mapping = opened();
    const Store store{mapping.data()};
    const channel::Bundle* const found = find_bundle(store, key);
    std::vector<std::uint32_t> tags;
    for (std::uint32_t i = 0; found != nullptr && i < found->use_count; ++i) {
      const RecordHead* const record = store.sound_record(found->uses()[i] & ~channel::use_better, key_of());
      tags.push_back(record == nullptr ? 0 : record->tag);
    }
    return tags;
  }

  /// A run that adds records with these tags, 32 bytes each.
  void run(std::initializer_list<std::uint32_t> tags, std::uint64_t of = engine, std::uint32_t bytes = 32,
           bool modelled = false) {
    Translations translations = Translations::open(of, {.modelled = modelled});
    const auto mapping = mapped(translations.added_fd());
    for (const std::uint32_t tag : tags) {
      std::uint8_t* const at = Store{mapping.data()}.claim(bytes);
      ASSERT_NE(at, nullptr);
      RecordHead& head = *reinterpret_cast<RecordHead*>(at);
      head.bytes = bytes;
      head.tag = tag;
      std::memset(at + sizeof head, static_cast<int>(tag), 16);
      channel::seal(head, Store{mapping.data()}.header().key);
      Store{mapping.data()}.publish(head);
    }
    translations.keep();
  }

  /// The key of the records that were kept.
  static channel::RecordKey key_of(std::uint64_t of = engine, bool modelled = false) {
    const auto folder = linux::CacheFolder::open(linux::cache_folder(), false);
    const auto master = folder->read_key();
    EXPECT_TRUE(master);
    return {{{(*master)[0], (*master)[1]}}, of, modelled};
  }
  static const channel::Bundle* find_bundle(const Store& store, std::uint64_t key) {
    return store.find_bundle(key, [](const RecordHead& record) { return channel::is_sound(record, key_of()); });
  }
  linux::Mapping opened() {
    const auto folder = linux::CacheFolder::open(folder_.string(), false);
    return mapped(folder->open_file(file().filename().string(), true)->file.get());
  }

  /// How many of the records that a run finds on disk.
  std::uint64_t kept(std::uint64_t of = engine, bool modelled = false) {
    const Translations translations = Translations::open(of, {.modelled = modelled});
    if (translations.kept_fd() < 0) return 0;
    channel::StoreHeader header{};
    EXPECT_EQ(pread(translations.kept_fd(), &header, sizeof header, 0), static_cast<ssize_t>(sizeof header));
    return header.records;
  }

  fs::path file_of(std::uint64_t of) { return folder_ / fmt::format("translations-{:016x}", of); }
  fs::path file() {
    for (const auto& entry : fs::directory_iterator(folder_)) {
      if (entry.path().filename() != "key" && entry.path().filename() != "remark") return entry.path();
    }
    return {};
  }
  std::size_t files() {
    return static_cast<std::size_t>(std::count_if(fs::directory_iterator(folder_), fs::directory_iterator(),
                                                  [](const auto& entry) { return entry.path().filename() != "key"; }));
  }
  std::string remark() { return linux::CacheFolder::open(folder_.string(), false)->take_remark(); }

  std::uint64_t bytes_on_disk() {
    std::uint64_t bytes = 0;
    for (const auto& entry : fs::directory_iterator(folder_)) {
      struct stat s {};
      stat(entry.path().c_str(), &s);
      bytes += std::min<std::uint64_t>(static_cast<std::uint64_t>(s.st_blocks) * 512, channel::store_bytes);
    }
    return bytes;
  }

  static linux::Mapping mapped(int fd) {
    auto mapping = linux::map_shared(fd, 0, 128 << 20);
    EXPECT_TRUE(mapping);
    return std::move(*mapping);
  }
  void change(std::uint64_t offset, const std::string& to) {
    std::fstream stream(file(), std::ios::in | std::ios::out | std::ios::binary);
    stream.seekp(static_cast<std::streamoff>(offset));
    stream << to;
  }

  fs::path root_, folder_;
};

TEST_F(TranslationsTest, what_one_run_adds_the_next_one_has) {
  EXPECT_EQ(kept(), 0u);
  run({1, 2, 3});
  EXPECT_EQ(kept(), 3u);
  run({3, 4});  // 3 is there already
  EXPECT_EQ(kept(), 4u);
  EXPECT_EQ(files(), 1u);
  EXPECT_LT(static_cast<std::uint64_t>([&] {
              struct stat s {};
              stat(file().c_str(), &s);
              return s.st_blocks;
            }()) *
                512,
            4u << 20);
}

TEST_F(TranslationsTest, a_bundle_names_the_records_where_they_were_moved_to) {
  constexpr std::uint64_t key = 0x1122334455667788;
  run({1, 2});
  const auto keep = [&](const std::vector<std::uint32_t>& tags, std::uint32_t kept_place) {
    Translations translations = Translations::open(engine);
    const auto mapping = mapped(translations.added_fd());
    const Store store{mapping.data()};
    std::vector<std::uint32_t> places;
    for (const std::uint32_t tag : tags) places.push_back(add(store, tag, tag));
    if (kept_place != 0) places.push_back(kept_place);
    places.push_back(0x12345 | channel::use_added);  // nothing is there
    add_bundle(store, key, places);
    translations.keep();
  };
  keep({3, 2}, channel::store_log_offset / channel::record_unit);
  EXPECT_EQ(kept_bundle(key), (std::vector<std::uint32_t>{3, 2, 1, 0}));
  keep({4, 3, 1}, 0);  // the next run was another one
  EXPECT_EQ(kept_bundle(key), (std::vector<std::uint32_t>{4, 3, 1, 0}));
  EXPECT_EQ(kept_bundle(key + 1), std::vector<std::uint32_t>());
}

/// The first byte of what is found by a tag, and how many records have it.
std::pair<int, int> found_by(const Store& store, std::uint32_t tag) {
  int records = 0;
  const RecordHead* first = nullptr;
  store.find(tag, [&](const RecordHead& record) {
    if (first == nullptr) first = &record;
    ++records;
    return false;
  });
  return {first == nullptr ? -1 : *reinterpret_cast<const std::uint8_t*>(first + 1), records};
}

TEST_F(TranslationsTest, what_is_better_is_found_instead) {
  constexpr std::uint64_t key = 0x1122334455667788;
  const auto last_run = [&](bool same_file) {
    Translations translations = Translations::open(engine, {.only_added = !same_file});
    const auto mapping = mapped(translations.added_fd());
    const Store store{mapping.data()};
    const std::uint32_t kept_place = channel::store_log_offset / channel::record_unit;  // tag 1, content 1
    const std::uint32_t worse = add(store, 2, 20), better = add(store, 2, 21), best = add(store, 2, 22);
    const std::uint32_t other = add(store, 1, 11);
    add_bundle(store, 0, {kept_place, other, worse, better, better, best}, channel::replacements_mark);
    // One that says nothing: a circle, and a record that is not there.
    add_bundle(store, 0, {best, worse, kept_place, 0x12345}, channel::replacements_mark);
    add_bundle(store, key, {kept_place, worse, better, best});
    translations.keep();
  };
  run({1});
  last_run(true);
  {
    const auto mapping = opened();
    EXPECT_EQ(found_by(Store{mapping.data()}, 1), std::make_pair(11, 1));
    EXPECT_EQ(found_by(Store{mapping.data()}, 2), std::make_pair(22, 1));
  }
  EXPECT_EQ(kept_bundle(key), (std::vector<std::uint32_t>{1, 2, 2, 2}));
  // The file that was kept is not the one that the run had.
  fs::remove_all(folder_);
  run({3});
  last_run(false);
  const auto mapping = opened();
  EXPECT_EQ(found_by(Store{mapping.data()}, 1), std::make_pair(11, 1));
  EXPECT_EQ(found_by(Store{mapping.data()}, 3), std::make_pair(3, 1));
}

TEST_F(TranslationsTest, a_bundle_that_stays_names_what_is_better) {
  constexpr std::uint64_t key = 0x1122334455667788;
  constexpr std::uint32_t kept_place = channel::store_log_offset / channel::record_unit;
  run({1, 2});
  const auto last_run = [&](const std::function<void(const Store&)>& add_to) {
    Translations translations = Translations::open(engine);
    const auto mapping = mapped(translations.added_fd());
    add_to(Store{mapping.data()});
    translations.keep();
  };
  last_run([&](const Store& store) { add_bundle(store, key, {kept_place, kept_place + 2}); });
  EXPECT_EQ(kept_bundle(key), (std::vector<std::uint32_t>{1, 2}));
  last_run([&](const Store& store) {
    const std::uint32_t better = add(store, 7, 7);
    add_bundle(store, key,
               {1, kept_place + 2, better,               // the second
                0, kept_place + 1, better,               // the first, but it was another one
                9, kept_place, better,                   // more than there are
                0, kept_place, 99 | channel::use_added,  // by one that is not there
                0},
               channel::improvements_mark);
    add_bundle(store, key + 1, {0, kept_place, better}, channel::improvements_mark);  // of none
  });
  const auto mapping = opened();
  const channel::Bundle* const found = find_bundle(Store{mapping.data()}, key);
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->uses()[0], kept_place);
  EXPECT_EQ(found->uses()[1] & channel::use_better, channel::use_better);
  EXPECT_EQ(Store{mapping.data()}.record(found->uses()[1] & ~channel::use_better)->tag, 7u);
  EXPECT_EQ(channel::check_of_names(*found, key_of()), found->names_check);
}

TEST_F(TranslationsTest, of_several_bundles_of_one_key_the_last_is_kept) {
  constexpr std::uint64_t key = 0x1122334455667788;
  Translations translations = Translations::open(engine);
  {
    const auto mapping = mapped(translations.added_fd());
    const Store store{mapping.data()};
    const std::uint32_t one = add(store, 1, 1), two = add(store, 2, 2), better = add(store, 3, 3);
    add_bundle(store, key, {one});
    add_bundle(store, key, {one, two});
    add_bundle(store, 0, {two, better}, channel::replacements_mark);
  }
  translations.keep();
  const auto mapping = opened();
  const Store store{mapping.data()};
  EXPECT_EQ(store.header().records, 3u);  // of the templates the better one of two
  const channel::Bundle* const found = find_bundle(store, key);
  ASSERT_NE(found, nullptr);
  ASSERT_EQ(found->use_count, 2u);
  EXPECT_EQ(store.record(found->uses()[0])->tag, 1u);
  // Its code is that of the worse one.
  EXPECT_EQ(store.record(found->uses()[1] & ~channel::use_better)->tag, 3u);
  EXPECT_NE(found->uses()[1] & channel::use_better, 0u);
}

TEST_F(TranslationsTest, a_store_that_is_full_to_the_last_byte_is_used) {
  run({1}, engine, channel::store_bytes - channel::store_log_offset - 64);
  run({2}, engine, 64);
  EXPECT_EQ(kept(), 2u);
  EXPECT_EQ(fs::file_size(file()), channel::store_bytes);
  run({});
  EXPECT_EQ(kept(), 2u);
}

TEST_F(TranslationsTest, what_was_added_behind_an_unfinished_record_is_kept) {
  Translations translations = Translations::open(engine);
  const auto mapping = mapped(translations.added_fd());
  ASSERT_NE(Store{mapping.data()}.claim(64), nullptr);  // its writer was killed
  add_bundle(Store{mapping.data()}, 7, {1, 2});
  translations.keep();
  EXPECT_EQ(kept(), 1u);
}

TEST_F(TranslationsTest, a_run_that_adds_nothing_writes_nothing) {
  run({});
  EXPECT_FALSE(fs::exists(folder_));
}

TEST_F(TranslationsTest, another_engine_has_another_file_and_the_oldest_go) {
  run({1});
  EXPECT_EQ(kept(engine + 1), 0u);
  for (std::uint64_t other = 1; other <= 3; ++other) run({1}, engine + other);
  EXPECT_EQ(files(), 2u);
  EXPECT_EQ(kept(engine + 3), 1u);
}

TEST_F(TranslationsTest, files_of_both_kinds_go_with_their_build) {
  for (std::uint64_t other = 1; other <= 3; ++other) {
    run({1}, engine + other);
    run({1}, engine + other, 32, true);
  }
  run({1});
  EXPECT_EQ(files(), 3u);
  EXPECT_EQ(kept(), 1u);
  EXPECT_EQ(kept(engine + 3), 1u);
  EXPECT_EQ(kept(engine + 3, true), 1u);
}

TEST_F(TranslationsTest, all_builds_together_take_256_MB_of_the_disk) {
  constexpr std::uint32_t large = 60 << 20;
  for (const bool modelled : {false, true}) run({1, 2}, engine + 1, large, modelled);
  run({1}, engine, large);
  EXPECT_LE(bytes_on_disk(), 256u << 20);
  EXPECT_EQ(kept(), 1u);
  EXPECT_EQ(kept(engine + 1), 0u);  // the older one
  EXPECT_EQ(kept(engine + 1, true), 2u);
  // A file that grows counts too, and what a build needs itself stays.
  run({2}, engine, large);
  run({1, 2}, engine, large, true);
  EXPECT_LE(bytes_on_disk(), 256u << 20);
  EXPECT_EQ(files(), 2u);
  EXPECT_EQ(kept(), 2u);
  EXPECT_EQ(kept(engine, true), 2u);
}

TEST_F(TranslationsTest, of_other_builds_the_one_that_is_used_stays) {
  run({1}, engine + 1);
  run({1}, engine + 2);
  fs::last_write_time(file_of(engine + 2), fs::file_time_type::clock::now() - std::chrono::hours(1));
  fs::last_write_time(file_of(engine + 1), fs::file_time_type::clock::now() - std::chrono::hours(2));
  EXPECT_EQ(kept(engine + 1), 1u);  // a run that had nothing to add
  run({1});
  EXPECT_EQ(kept(engine + 1), 1u);
  EXPECT_EQ(kept(engine + 2), 0u);
}

TEST_F(TranslationsTest, what_a_killed_command_had_not_named_yet_goes) {
  run({1});
  const pid_t gone = fork();
  if (gone == 0) _exit(0);
  ASSERT_EQ(waitpid(gone, nullptr, 0), gone);
  const fs::path left = file_of(engine + 1).string() + "." + std::to_string(gone);
  const fs::path in_use = file_of(engine + 1).string() + "." + std::to_string(getpid());
  for (const fs::path& path : {left, in_use}) std::ofstream(path) << "unfinished";
  run({2});
  EXPECT_FALSE(fs::exists(left));
  EXPECT_TRUE(fs::exists(in_use));
}

TEST_F(TranslationsTest, what_others_may_write_is_not_used) {
  run({1});
  chmod(file().c_str(), 0666);
  EXPECT_EQ(kept(), 0u);
  chmod(file().c_str(), 0600);
  EXPECT_EQ(kept(), 1u);
  if (geteuid() == 0) {
    ASSERT_EQ(chown(file().c_str(), 12345, 0), 0);
    EXPECT_EQ(kept(), 0u);
  }
}

TEST_F(TranslationsTest, other_files_of_the_folder_stay) {
  fs::create_directory(folder_);
  chmod(folder_.c_str(), 0700);
  for (const char* name : {"translations-fr.json", "translations-0123456789abcdef0", "translations-0123456789abcdeg"})
    std::ofstream(folder_ / name) << "mine";
  for (std::uint64_t other = 1; other <= 4; ++other) run({1}, engine + other);
  EXPECT_EQ(files(), 3u + 2u);
}

TEST_F(TranslationsTest, a_run_that_is_to_repeat_has_only_what_it_adds) {
  run({1});
  EXPECT_LT(Translations::open(engine, {.only_added = true}).kept_fd(), 0);
  EXPECT_GE(Translations::open(engine, {.only_added = true}).added_fd(), 0);
}

TEST_F(TranslationsTest, a_folder_that_cannot_be_written_is_read) {
  run({1});
  chmod(file().c_str(), 0400);
  EXPECT_EQ(kept(), 1u);
}

TEST_F(TranslationsTest, nothing_is_made_where_another_user_could_change_it) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can give a folder away";
  ASSERT_EQ(chown(root_.c_str(), 12345, 0), 0);
  run({1});
  EXPECT_FALSE(fs::exists(folder_));
}

TEST_F(TranslationsTest, a_damaged_memory_file_is_no_more_than_a_loss) {
  Translations translations = Translations::open(engine);
  const auto mapping = mapped(translations.added_fd());
  std::memset(mapping.data(), 0xff, channel::store_log_offset + 4096);
  translations.keep();
  EXPECT_EQ(kept(), 0u);
}

TEST_F(TranslationsTest, nothing_is_made_in_a_folder_that_others_may_write) {
  fs::create_directory(folder_);
  chmod(folder_.c_str(), 0777);
  run({1});
  EXPECT_EQ(files(), 0u);
}

TEST_F(TranslationsTest, damaged_records_that_an_engine_refused_are_replaced) {
  run({1, 2, 3});
  const std::uint64_t content = channel::store_log_offset + sizeof(RecordHead);
  change(content + 32, "x");  // of the second
  const auto last_run = [&](std::uint64_t refused) {
    Translations translations = Translations::open(engine);
    const auto mapping = mapped(translations.added_fd());
    const Store store{mapping.data()};
    for (const std::uint32_t tag : {1u, 2u, 3u}) add(store, tag, tag);
    store.header().refused = refused;
    translations.keep();
  };
  last_run(1);
  EXPECT_EQ(remark(), file().filename().string() + " had damaged records (1)");
  EXPECT_EQ(remark(), "");  // once
  const auto mapping = opened();
  const Store store{mapping.data()};
  for (const std::uint32_t tag : {1u, 2u, 3u}) {
    EXPECT_EQ(found_by(store, tag), std::make_pair(static_cast<int>(tag), 1)) << tag;
    store.find(tag, [&](const RecordHead& record) {
      EXPECT_TRUE(channel::is_sound(record, key_of())) << tag;
      return false;
    });
  }
  EXPECT_EQ(store.header().end, channel::store_log_offset + std::uint64_t{4} * 32);
}

TEST_F(TranslationsTest, a_record_of_another_file_or_key_is_none) {
  constexpr std::uint64_t first = channel::store_log_offset / channel::record_unit;
  run({1});
  {
    const auto mapping = opened();
    EXPECT_NE(Store{mapping.data()}.sound_record(first, key_of()), nullptr);
    EXPECT_EQ(Store{mapping.data()}.sound_record(first, key_of(engine + 1)), nullptr);
    EXPECT_EQ(Store{mapping.data()}.sound_record(first, key_of(engine, true)), nullptr);
  }
  // The file of another build is not this one's, whatever its name and its head say.
  fs::rename(file(), file_of(engine + 1));
  EXPECT_EQ(kept(engine + 1), 0u);
  std::uint64_t build = engine + 1;
  change(offsetof(channel::StoreHeader, engine), std::string(reinterpret_cast<const char*>(&build), sizeof build));
  EXPECT_EQ(kept(engine + 1), 0u);
  EXPECT_NE(remark(), "");
}

TEST_F(TranslationsTest, without_its_key_a_file_is_begun_anew) {
  run({1});
  const fs::path key = folder_ / "key";
  const auto expect_begun_anew = [&] {
    EXPECT_EQ(kept(), 0u);
    EXPECT_NE(remark(), "");
    run({5});
    EXPECT_EQ(kept(), 1u);
    EXPECT_EQ(fs::status(key).permissions(), fs::perms::owner_read | fs::perms::owner_write);
    remark();  // of the run
  };
  fs::remove(key);
  expect_begun_anew();
  chmod(key.c_str(), 0644);  // others have read it
  expect_begun_anew();
  fs::resize_file(key, 39);
  expect_begun_anew();
  std::fstream(key, std::ios::in | std::ios::out | std::ios::binary).seekp(24) << "x";
  expect_begun_anew();
  fs::rename(key, root_ / "elsewhere");
  fs::create_symlink(root_ / "elsewhere", key);
  expect_begun_anew();
}

TEST_F(TranslationsTest, nothing_is_written_before_the_end_of_what_may_be_in_use) {
  run({1, 2});
  const std::uint64_t end = channel::store_log_offset;
  change(offsetof(channel::StoreHeader, end), std::string(reinterpret_cast<const char*>(&end), sizeof end));
  run({3});
  const auto mapping = opened();
  const Store store{mapping.data()};
  for (const std::uint32_t tag : {1u, 2u, 3u})
    EXPECT_EQ(found_by(store, tag), std::make_pair(static_cast<int>(tag), 1)) << tag;
}

TEST_F(TranslationsTest, names_that_were_half_written_are_nobodys) {
  constexpr std::uint64_t key = 0x1122334455667788;
  constexpr std::uint32_t kept_place = channel::store_log_offset / channel::record_unit;
  run({1, 2});
  const auto last_run = [&](const std::function<void(const Store&)>& add_to) {
    Translations translations = Translations::open(engine);
    const auto mapping = mapped(translations.added_fd());
    add_to(Store{mapping.data()});
    translations.keep();
  };
  last_run([&](const Store& store) { add_bundle(store, key, {kept_place, kept_place + 2}); });
  {
    const auto mapping = opened();
    const_cast<channel::Bundle*>(find_bundle(Store{mapping.data()}, key))->uses()[0] = 77;
    EXPECT_NE(find_bundle(Store{mapping.data()}, key), nullptr);  // its code is what it was
  }
  last_run([&](const Store& store) {
    add_bundle(store, key, {1, kept_place + 2, add(store, 7, 7), 0}, channel::improvements_mark);
  });
  EXPECT_EQ(kept_bundle(key), (std::vector<std::uint32_t>{0, 0}));
  const auto mapping = opened();
  const channel::Bundle& bundle = *find_bundle(Store{mapping.data()}, key);
  EXPECT_EQ(channel::check_of_names(bundle, key_of()), bundle.names_check);
}

TEST_F(TranslationsTest, links_are_not_followed) {
  run({1});
  const fs::path name = file(), elsewhere = root_ / "elsewhere";
  fs::rename(name, elsewhere);
  fs::create_symlink(elsewhere, name);
  EXPECT_EQ(kept(), 0u);
  EXPECT_EQ(remark(), name.string() + " is a link");
  fs::remove(name);
  fs::rename(elsewhere, name);
  fs::rename(folder_, elsewhere);
  fs::create_symlink(elsewhere, folder_);
  EXPECT_EQ(kept(), 0u);
  fs::remove(folder_);
  fs::rename(elsewhere, folder_);
  EXPECT_EQ(kept(), 1u);
}

TEST_F(TranslationsTest, folders_above_are_nobody_elses) {
  run({1});
  chmod(root_.c_str(), 0777);
  EXPECT_EQ(kept(), 0u);
  chmod(root_.c_str(), 01777);  // as /tmp
  EXPECT_EQ(kept(), 1u);
  chmod(root_.c_str(), 0755);
  if (geteuid() != 0) return;
  ASSERT_EQ(chown(root_.c_str(), 12345, 0), 0);
  EXPECT_EQ(kept(), 0u);
}

TEST_F(TranslationsTest, no_damage_of_a_file_makes_a_record_of_it) {
  // Records of two files; what is found afterwards is one of the first, and whole.
  std::uint64_t seed = 1;
  const auto random = [&](std::uint64_t below) {
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (seed >> 33) % below;
  };
  constexpr std::uint32_t records = 40, bytes = 256;
  const auto fill = [&](std::uint64_t of, std::uint32_t salt) {
    Translations translations = Translations::open(of);
    const auto mapping = mapped(translations.added_fd());
    const Store store{mapping.data()};
    for (std::uint32_t i = 0; i < records; ++i) {
      auto& head = *reinterpret_cast<RecordHead*>(store.claim(bytes));
      head = {bytes, i / 2 + 1, 0};
      for (std::uint32_t k = sizeof head; k < bytes; ++k)
        reinterpret_cast<std::uint8_t*>(&head)[k] = static_cast<std::uint8_t>(i * 7 + k + salt);
      channel::seal(head, store.header().key);
      store.publish(head);
    }
    translations.keep();
  };
  fill(engine + 1, 1);
  fill(engine, 0);
  const auto read = [&](std::uint64_t of) {
    std::ifstream stream(file_of(of), std::ios::binary);
    std::vector<char> all(channel::store_log_offset + std::uint64_t{records} * bytes);
    stream.read(all.data(), static_cast<std::streamsize>(all.size()));
    return all;
  };
  const std::vector<char> right = read(engine), other = read(engine + 1);
  const channel::RecordKey key = key_of();
  std::vector<std::uint8_t> memory(channel::store_bytes);
  const Store store{memory.data()};
  std::memcpy(memory.data(), right.data(), right.size());
  const std::uint64_t log = channel::store_log_offset, end = right.size();
  for (int round = 0; round < 1000; ++round) {
    for (std::uint64_t n = random(3) + 1; n > 0; --n) {
      const std::uint64_t at = log + random(end - log), length = std::min(end - at, random(2 * bytes) + 1);
      switch (random(4)) {
        case 0: memory[at] ^= static_cast<std::uint8_t>(1 << random(8)); break;
        case 1: std::memset(&memory[at], 0, end - at); break;
        case 2: std::memcpy(&memory[at], &other[at], length); break;
        default:
          std::memcpy(&memory[at / 16 * 16], &right[log + random(records) * bytes],
                      std::min(end - at / 16 * 16, std::uint64_t{bytes}));
      }
    }
    for (std::uint32_t i = 0; i < records; ++i) {
      store.find(i / 2 + 1, [&](const RecordHead& record) {
        if (!channel::is_sound(record, key)) return false;
        bool is_one = false;
        for (std::uint32_t k = 0; k < records; ++k)
          is_one = is_one || std::memcmp(&record, &right[log + k * bytes], bytes) == 0;
        EXPECT_TRUE(is_one) << round;
        return false;
      });
    }
    std::memcpy(&memory[log], &right[log], end - log);
  }
}

TEST_F(TranslationsTest, what_is_no_store_is_replaced) {
  run({1});
  fs::resize_file(file(), 100);
  EXPECT_EQ(kept(), 0u);
  run({1, 2});
  EXPECT_EQ(kept(), 2u);
  change(0, "no store");
  EXPECT_EQ(kept(), 0u);
  run({1});
  EXPECT_EQ(kept(), 1u);
}

TEST_F(TranslationsTest, a_full_store_is_begun_anew) {
  constexpr std::uint32_t large = 50 << 20;
  run({1, 2}, engine, large);
  EXPECT_EQ(kept(), 2u);
  run({3}, engine, large);
  EXPECT_EQ(kept(), 1u);
}

TEST_F(TranslationsTest, a_limit_on_the_size_of_files_is_no_more_than_a_loss) {
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  const rlimit small{1 << 20, before.rlim_max};
  setrlimit(RLIMIT_FSIZE, &small);
  const Translations translations = Translations::open(engine);
  setrlimit(RLIMIT_FSIZE, &before);
  EXPECT_LT(translations.added_fd(), 0);
}

TEST_F(TranslationsTest, an_empty_name_of_the_folder_keeps_nothing) {
  setenv("TALLY_CACHE_DIR", "", 1);
  run({1});
  EXPECT_EQ(kept(), 0u);
  EXPECT_FALSE(fs::exists(folder_));
}

}  // namespace
}  // namespace tally::backend::sim
