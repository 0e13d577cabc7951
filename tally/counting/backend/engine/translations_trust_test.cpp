// Tests that kept records are used only if they are this user's and unchanged.
#include "tally/counting/backend/engine/kept_translations_testing.hpp"

namespace tally::backend::engine {
namespace {

TEST_F(TranslationsTest, files_that_others_may_write_are_not_used) {
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

TEST_F(TranslationsTest, nothing_is_created_where_another_user_could_change_it) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can change the owner of a directory";
  ASSERT_EQ(chown(root_.c_str(), 12345, 0), 0);
  run({1});
  EXPECT_FALSE(fs::exists(folder_));
}

TEST_F(TranslationsTest, a_damaged_memory_file_is_ignored) {
  Translations translations = Translations::open(engine);
  const auto mapping = mapped(translations.added_fd());
  std::memset(mapping.data(), 0xff, channel::store_log_offset + 4096);
  translations.keep();
  EXPECT_EQ(kept(), 0u);
}

TEST_F(TranslationsTest, nothing_is_created_in_a_directory_that_others_may_write) {
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
  EXPECT_EQ(remark(), "");  // only once
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

TEST_F(TranslationsTest, a_record_of_another_file_or_key_is_refused) {
  constexpr std::uint64_t first = channel::store_log_offset / channel::record_unit;
  run({1});
  {
    const auto mapping = opened();
    EXPECT_NE(Store{mapping.data()}.sound_record(first, key_of()), nullptr);
    EXPECT_EQ(Store{mapping.data()}.sound_record(first, key_of(engine + 1)), nullptr);
    EXPECT_EQ(Store{mapping.data()}.sound_record(first, key_of(engine, true)), nullptr);
  }
  // A file of another build is refused, whatever its name and header contain.
  fs::rename(file(), file_of(engine + 1));
  EXPECT_EQ(kept(engine + 1), 0u);
  std::uint64_t build = engine + 1;
  change(offsetof(channel::StoreHeader, engine), std::string(reinterpret_cast<const char*>(&build), sizeof build));
  EXPECT_EQ(kept(engine + 1), 0u);
  EXPECT_NE(remark(), "");
}

TEST_F(TranslationsTest, without_its_key_a_file_is_started_again) {
  run({1});
  const fs::path key = folder_ / "key";
  const auto expect_restarted = [&] {
    EXPECT_EQ(kept(), 0u);
    EXPECT_NE(remark(), "");
    run({5});
    EXPECT_EQ(kept(), 1u);
    EXPECT_EQ(fs::status(key).permissions(), fs::perms::owner_read | fs::perms::owner_write);
    remark();  // of the run
  };
  fs::remove(key);
  expect_restarted();
  chmod(key.c_str(), 0644);  // others may have read it
  expect_restarted();
  fs::resize_file(key, 39);
  expect_restarted();
  {
    std::fstream file(key, std::ios::in | std::ios::out | std::ios::binary);
    const int byte = file.seekg(24).get();
    file.seekp(24).put(static_cast<char>(byte ^ 1));
  }
  expect_restarted();
  fs::rename(key, root_ / "elsewhere");
  fs::create_symlink(root_ / "elsewhere", key);
  expect_restarted();
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

TEST_F(TranslationsTest, half_written_names_are_ignored) {
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
    EXPECT_NE(find_bundle(Store{mapping.data()}, key), nullptr);  // its code is unchanged
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

TEST_F(TranslationsTest, parent_directories_must_not_belong_to_others) {
  run({1});
  chmod(root_.c_str(), 0777);
  EXPECT_EQ(kept(), 0u);
  chmod(root_.c_str(), 01777);  // like /tmp
  EXPECT_EQ(kept(), 1u);
  chmod(root_.c_str(), 0755);
  if (geteuid() != 0) return;
  ASSERT_EQ(chown(root_.c_str(), 12345, 0), 0);
  EXPECT_EQ(kept(), 0u);
}

TEST_F(TranslationsTest, a_parent_link_is_followed_unless_it_belongs_to_others) {
  run({1});
  const fs::path link = root_ / "link";
  fs::create_symlink(".", link);
  setenv("TALLY_CACHE_DIR", (link / "cache").c_str(), 1);
  EXPECT_EQ(kept(), 1u);
  fs::remove(link);
  fs::create_symlink(root_, link);
  EXPECT_EQ(kept(), 1u);
  if (geteuid() == 0) {
    ASSERT_EQ(lchown(link.c_str(), 12345, 0), 0);
    EXPECT_EQ(kept(), 0u);
  }
  fs::remove(link);
  fs::create_symlink("link", link);  // to itself
  EXPECT_EQ(kept(), 0u);
}

TEST_F(TranslationsTest, no_damage_of_a_file_creates_a_valid_record) {
  // Damages a file with parts of itself and of another file. Records that are still found must be intact.
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

TEST_F(TranslationsTest, a_file_that_is_not_a_store_is_replaced) {
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

}  // namespace
}  // namespace tally::backend::engine
