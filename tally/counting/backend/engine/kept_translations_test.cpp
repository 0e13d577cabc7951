// Tests which translations are kept from one run to the next.
#include "tally/counting/backend/engine/kept_translations_testing.hpp"

namespace tally::backend::engine {
namespace {

TEST_F(TranslationsTest, the_next_run_finds_what_one_run_adds) {
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
    places.push_back(0x12345 | channel::use_added);  // there is nothing at this address
    add_bundle(store, key, places);
    translations.keep();
  };
  keep({3, 2}, channel::store_log_offset / channel::record_unit);
  EXPECT_EQ(kept_bundle(key), (std::vector<std::uint32_t>{3, 2, 1, 0}));
  keep({4, 3, 1}, 0);  // the next run was another one
  EXPECT_EQ(kept_bundle(key), (std::vector<std::uint32_t>{4, 3, 1, 0}));
  EXPECT_EQ(kept_bundle(key + 1), std::vector<std::uint32_t>());
}

TEST_F(TranslationsTest, better_records_are_found_instead) {
  constexpr std::uint64_t key = 0x1122334455667788;
  const auto last_run = [&](bool same_file) {
    Translations translations = Translations::open(engine, {.only_added = !same_file});
    const auto mapping = mapped(translations.added_fd());
    const Store store{mapping.data()};
    const std::uint32_t kept_place = channel::store_log_offset / channel::record_unit;  // tag 1, content 1
    const std::uint32_t worse = add(store, 2, 20), better = add(store, 2, 21), best = add(store, 2, 22);
    const std::uint32_t other = add(store, 1, 11);
    add_bundle(store, 0, {kept_place, other, worse, better, better, best}, channel::replacements_mark);
    // Pairs to ignore: a cycle, and a missing record.
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
  // The file is not the one that the run used.
  fs::remove_all(folder_);
  run({3});
  last_run(false);
  const auto mapping = opened();
  EXPECT_EQ(found_by(Store{mapping.data()}, 1), std::make_pair(11, 1));
  EXPECT_EQ(found_by(Store{mapping.data()}, 3), std::make_pair(3, 1));
}

TEST_F(TranslationsTest, an_unchanged_bundle_names_better_records) {
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
                0, kept_place + 1, better,               // the first, but its use differs
                9, kept_place, better,                   // index out of range
                0, kept_place, 99 | channel::use_added,  // replacement is missing
                0},
               channel::improvements_mark);
    add_bundle(store, key + 1, {0, kept_place, better}, channel::improvements_mark);  // no such bundle
  });
  const auto mapping = opened();
  const channel::Bundle* const found = find_bundle(Store{mapping.data()}, key);
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->uses()[0], kept_place);
  EXPECT_EQ(found->uses()[1] & channel::use_better, channel::use_better);
  EXPECT_EQ(Store{mapping.data()}.record(found->uses()[1] & ~channel::use_better)->tag, 7u);
  EXPECT_EQ(channel::check_of_names(*found, key_of()), found->names_check);
}

TEST_F(TranslationsTest, the_last_of_several_bundles_with_one_key_is_kept) {
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
  EXPECT_EQ(store.header().records, 3u);  // the better of the two templates
  const channel::Bundle* const found = find_bundle(store, key);
  ASSERT_NE(found, nullptr);
  ASSERT_EQ(found->use_count, 2u);
  EXPECT_EQ(store.record(found->uses()[0])->tag, 1u);
  // The bundle's own code is still that of the worse one.
  EXPECT_EQ(store.record(found->uses()[1] & ~channel::use_better)->tag, 3u);
  EXPECT_NE(found->uses()[1] & channel::use_better, 0u);
}

// Archives and caches of CI write the zeros of sparse files.
TEST_F(TranslationsTest, the_file_is_as_large_as_its_records) {
  run({1});
  const auto size = fs::file_size(file());
  EXPECT_EQ(size, channel::store_log_offset + 32);
  run({2, 3});
  EXPECT_EQ(fs::file_size(file()), size + 2 * 32);
  EXPECT_EQ(kept(), 3u);
}

TEST_F(TranslationsTest, a_store_that_is_full_to_the_last_byte_is_used) {
  run({1}, engine, channel::store_bytes - channel::store_log_offset - 64);
  run({2}, engine, 64);
  EXPECT_EQ(kept(), 2u);
  EXPECT_LE(fs::file_size(file()), channel::store_bytes);
  run({});
  EXPECT_EQ(kept(), 2u);
}

TEST_F(TranslationsTest, records_after_an_unfinished_one_are_kept) {
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

TEST_F(TranslationsTest, another_engine_has_another_file_and_the_oldest_are_removed) {
  run({1});
  EXPECT_EQ(kept(engine + 1), 0u);
  for (std::uint64_t other = 1; other <= 3; ++other) run({1}, engine + other);
  EXPECT_EQ(files(), 2u);
  EXPECT_EQ(kept(engine + 3), 1u);
}

TEST_F(TranslationsTest, files_of_both_kinds_are_removed_with_their_build) {
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

TEST_F(TranslationsTest, all_builds_together_use_512_MB_of_disk) {
  constexpr std::uint32_t large = 120 << 20;
  for (const bool modelled : {false, true}) run({1, 2}, engine + 1, large, modelled);
  run({1}, engine, large);
  EXPECT_LE(bytes_on_disk(), 512u << 20);
  EXPECT_EQ(kept(), 1u);
  EXPECT_EQ(kept(engine + 1), 0u);  // the older one
  EXPECT_EQ(kept(engine + 1, true), 2u);
  // A file that grows counts too, and the files that a build uses stay.
  run({2}, engine, large);
  run({1, 2}, engine, large, true);
  EXPECT_LE(bytes_on_disk(), 512u << 20);
  EXPECT_EQ(files(), 2u);
  EXPECT_EQ(kept(), 2u);
  EXPECT_EQ(kept(engine, true), 2u);
}

TEST_F(TranslationsTest, the_user_may_lower_the_limit) {
  constexpr std::uint32_t large = 20 << 20;
  for (const char* limit : {"64", "31", "64 MB", "-1", ""}) {
    setenv("TALLY_CACHE_MB", limit, 1);
    fs::remove_all(folder_);
    for (const std::uint32_t tag : {1u, 2u, 3u}) run({tag}, engine, large);
    const bool is_valid = limit == std::string("64");
    EXPECT_EQ(kept(), is_valid ? 1u : 3u) << limit;
    run({1}, engine + 1, large);
    EXPECT_LE(bytes_on_disk(), (is_valid ? 64u : 512u) << 20);
    EXPECT_EQ(kept(), is_valid ? 1u : 3u) << limit;
  }
  unsetenv("TALLY_CACHE_MB");
}

TEST_F(TranslationsTest, another_build_that_is_in_use_stays) {
  run({1}, engine + 1);
  run({1}, engine + 2);
  fs::last_write_time(file_of(engine + 2), fs::file_time_type::clock::now() - std::chrono::hours(1));
  fs::last_write_time(file_of(engine + 1), fs::file_time_type::clock::now() - std::chrono::hours(2));
  EXPECT_EQ(kept(engine + 1), 1u);  // a run that had nothing to add
  run({1});
  EXPECT_EQ(kept(engine + 1), 1u);
  EXPECT_EQ(kept(engine + 2), 0u);
}

TEST_F(TranslationsTest, unnamed_files_of_a_killed_command_are_removed) {
  run({1});
  const pid_t ended = fork();
  if (ended == 0) _exit(0);
  ASSERT_EQ(waitpid(ended, nullptr, 0), ended);
  const fs::path left = file_of(engine + 1).string() + "." + std::to_string(ended);
  const fs::path in_use = file_of(engine + 1).string() + "." + std::to_string(getpid());
  for (const fs::path& path : {left, in_use}) std::ofstream(path) << "unfinished";
  run({2});
  EXPECT_FALSE(fs::exists(left));
  EXPECT_TRUE(fs::exists(in_use));
}

TEST_F(TranslationsTest, other_files_of_the_folder_stay) {
  fs::create_directory(folder_);
  chmod(folder_.c_str(), 0700);
  for (const char* name : {"translations-fr.json", "translations-0123456789abcdef0", "translations-0123456789abcdeg"})
    std::ofstream(folder_ / name) << "mine";
  for (std::uint64_t other = 1; other <= 4; ++other) run({1}, engine + other);
  EXPECT_EQ(files(), 3u + 2u);
}

TEST_F(TranslationsTest, a_repeatable_run_has_only_what_it_adds) {
  run({1});
  EXPECT_LT(Translations::open(engine, {.only_added = true}).kept_fd(), 0);
  EXPECT_GE(Translations::open(engine, {.only_added = true}).added_fd(), 0);
}

TEST_F(TranslationsTest, a_folder_that_cannot_be_written_is_read) {
  run({1});
  chmod(file().c_str(), 0400);
  EXPECT_EQ(kept(), 1u);
}

TEST_F(TranslationsTest, a_full_store_is_started_again) {
  constexpr std::uint32_t large = 200 << 20;
  run({1, 2}, engine, large);
  EXPECT_EQ(kept(), 2u);
  run({3}, engine, large);
  EXPECT_EQ(kept(), 1u);
}

// What another program uses survives two large programs; what nobody used again does not.
TEST_F(TranslationsTest, a_full_store_keeps_what_was_used) {
  constexpr std::uint32_t large = 250 << 20;
  constexpr std::uint32_t first = channel::store_log_offset / channel::record_unit;
  constexpr std::uint64_t key = 0x1122334455667788;
  run({1});
  {
    Translations translations = Translations::open(engine);
    const auto mapping = mapped(translations.added_fd());
    add_bundle(Store{mapping.data()}, key, {first});
    translations.keep();
  }
  {
    Translations translations = Translations::open(engine);
    const auto mapping = mapped(translations.added_fd());
    channel::note_used(Store{mapping.data()}.header().used, first, 32);
    translations.keep();  // adds nothing else
  }
  run({5}, engine, channel::used_part_bytes);  // the next ones begin in another part
  for (const std::uint32_t tag : {2u, 3u, 4u}) run({tag}, engine, large);
  const auto mapping = opened();
  const Store store{mapping.data()};
  EXPECT_EQ(found_by(store, 1), std::make_pair(1, 1));
  EXPECT_EQ(found_by(store, 2).second, 0);
  EXPECT_EQ(kept_bundle(key), std::vector<std::uint32_t>{1});
  EXPECT_EQ(found_by(store, 4), std::make_pair(4, 1));
}

TEST_F(TranslationsTest, a_limit_on_the_size_of_files_only_disables_the_store) {
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  const rlimit small{1 << 20, before.rlim_max};
  setrlimit(RLIMIT_FSIZE, &small);
  const Translations translations = Translations::open(engine);
  setrlimit(RLIMIT_FSIZE, &before);
  EXPECT_LT(translations.added_fd(), 0);
}

TEST_F(TranslationsTest, an_empty_name_of_the_directory_keeps_nothing) {
  setenv("TALLY_CACHE_DIR", "", 1);
  run({1});
  EXPECT_EQ(kept(), 0u);
  EXPECT_FALSE(fs::exists(folder_));
}

}  // namespace
}  // namespace tally::backend::engine
