// Common parts of the tests of kept translations: a cache directory of their own, and runs that add records.
#pragma once

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

#include "tally/counting/backend/engine/kept_translations.hpp"

namespace tally::backend::engine {
namespace fs = std::filesystem;
using channel::RecordHead;
using channel::Store;

inline constexpr std::uint64_t engine = 0x1234;

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

  /// Adds a record of 32 bytes with this tag; returns the reference to it in a use.
  static std::uint32_t add(const Store& store, std::uint32_t tag, std::uint32_t content) {
    std::uint8_t* const at = store.claim(32);
    auto& head = *reinterpret_cast<RecordHead*>(at);
    head = {32, tag, 0};
    std::memset(at + sizeof head, static_cast<int>(content), 16);
    channel::seal(head, store.header().key);
    store.publish(head);
    return store.place_of(head) | channel::use_added;
  }
  /// Adds to a mapped store a bundle with this key, or with another `mark` a different record that names some.
  static void add_bundle(const Store& store, std::uint64_t key, const std::vector<std::uint32_t>& places,
                         std::uint64_t mark = channel::bundle_mark) {
    const auto bytes = static_cast<std::uint32_t>(sizeof(channel::Bundle) + (places.size() + 3) / 4 * 16);
    std::uint8_t* const at = store.claim(bytes);
    ASSERT_NE(at, nullptr);
    auto& bundle = *reinterpret_cast<channel::Bundle*>(at);
    bundle.head = {bytes, Store::bundle_tag(key), 0};
    bundle.mark = mark;
    bundle.key = key;
    bundle.use_count = static_cast<std::uint32_t>(places.size());
    std::copy(places.begin(), places.end(), bundle.uses());
    channel::seal(bundle.head, store.header().key);
    store.publish(bundle.head);
  }
  /// Returns the tags of the records that a kept bundle names; 0 for a missing one.
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

  /// Performs a run that adds records with these tags, 32 bytes each.
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

  /// Returns the key of the kept records.
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

  /// Returns how many records a run finds on disk.
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
    auto mapping = linux::map_shared(fd, 0, channel::store_bytes);
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

/// Returns the first byte of the first record with a tag, and the number of records with it.
inline std::pair<int, int> found_by(const Store& store, std::uint32_t tag) {
  int records = 0;
  const RecordHead* first = nullptr;
  store.find(tag, [&](const RecordHead& record) {
    if (first == nullptr) first = &record;
    ++records;
    return false;
  });
  return {first == nullptr ? -1 : *reinterpret_cast<const std::uint8_t*>(first + 1), records};
}

}  // namespace tally::backend::engine
