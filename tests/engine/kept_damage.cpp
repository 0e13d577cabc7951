#include "tests/engine/kept_damage.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <random>

#include "tests/engine/expect.hpp"
#include "tests/engine/kept_file.hpp"

namespace tally::engine_test {
namespace {

namespace fs = std::filesystem;
using Bytes = std::vector<char>;

/// The content of a file of translations; the rest are zeros.
Bytes content_of(const std::string& path) {
  channel::StoreHeader header{};
  std::ifstream stream(path, std::ios::binary);
  stream.read(reinterpret_cast<char*>(&header), sizeof header);
  Bytes all(header.end);
  stream.seekg(0);
  stream.read(all.data(), static_cast<std::streamsize>(all.size()));
  return all;
}

/// Creates a file with this content, without its pages of zeros.
void write_sparse(const std::string& path, const Bytes& content, std::uint64_t bytes) {
  fs::remove(path);
  const int fd = open(path.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600);
  ASSERT_GE(fd, 0);
  ASSERT_EQ(ftruncate(fd, static_cast<off_t>(bytes)), 0);
  static const Bytes zeros(4096);
  for (std::uint64_t at = 0; at < content.size() && at < bytes; at += 4096) {
    const std::uint64_t end = std::min({at + 4096, std::uint64_t{content.size()}, bytes});
    if (std::memcmp(&content[at], zeros.data(), end - at) == 0) continue;  // most of the file: its table of slots
    ASSERT_EQ(pwrite(fd, &content[at], end - at, static_cast<off_t>(at)), static_cast<ssize_t>(end - at));
  }
  close(fd);
}

class Damage {
 public:
  Damage(unsigned seed, Bytes right, Bytes other) : random_(seed), right_(std::move(right)), other_(std::move(other)) {
    for (std::uint64_t i = 0; i < channel::store_slots; ++i) {
      if (slot(right_, i).place != 0) slots_.push_back(i);
    }
  }

  /// Writes a damaged file there; returns a description of the damage.
  std::string write(const std::string& path) {
    Bytes made = right_;
    std::uint64_t bytes = channel::store_bytes;
    const std::string what = damage(made, bytes);
    write_sparse(path, made, bytes);
    return what;
  }

 private:
  static constexpr std::uint64_t log = channel::store_log_offset;

  static std::uint64_t slot_at(std::uint64_t i) { return channel::store_slots_offset + i * sizeof(channel::StoreSlot); }
  static channel::StoreSlot slot(const Bytes& file, std::uint64_t i) {
    channel::StoreSlot slot;
    std::memcpy(&slot, &file[slot_at(i)], sizeof slot);
    return slot;
  }
  std::uint64_t below(std::uint64_t n) { return random_() % n; }
  std::uint64_t in_log(const Bytes& file) { return log + below(file.size() - log); }
  void flip_bit(Bytes& file, std::uint64_t at) { file[at] ^= static_cast<char>(1 << below(8)); }
  std::uint64_t any_record() { return std::uint64_t{slot(right_, slots_[below(slots_.size())]).place} * 16; }

  std::string damage(Bytes& made, std::uint64_t& bytes) {
    const std::uint64_t at = in_log(made);
    switch (below(11)) {
      case 0: flip_bit(made, at); return "a bit at " + std::to_string(at);
      case 1: flip_bit(made, any_record() + below(64)); return "a bit of a head";
      case 2:
        for (int i = 0; i < 300; ++i) flip_bit(made, in_log(made));
        return "300 bits";
      case 3:
        for (int i = 0; i < 30; ++i) flip_bit(made, slot_at(slots_[below(slots_.size())]) + below(8));
        return "slots";
      case 4: flip_bit(made, below(72)); return "the head";
      case 5: {
        const std::uint64_t ends[] = {0, 1, 100, 4096, log, at, channel::store_bytes - 1};
        bytes = ends[below(std::size(ends))];
        return "cut to " + std::to_string(bytes);
      }
      case 6:
        std::fill_n(&made[at / 4096 * 4096], std::min<std::uint64_t>(4096, made.size() - at / 4096 * 4096), 0);
        return "an empty page at " + std::to_string(at);
      case 7:
        std::generate_n(&made[at], std::min<std::uint64_t>(below(5000), made.size() - at),
                        [&] { return static_cast<char>(random_()); });
        return "noise at " + std::to_string(at);
      case 8: {
        const std::uint64_t from = in_log(other_),
                            n = std::min({below(100000), other_.size() - from, made.size() - at});
        std::copy_n(&other_[from], n, &made[at]);
        return "another file's at " + std::to_string(at);
      }
      case 9: {
        const std::uint64_t to = any_record(), from = any_record();
        const std::uint64_t n = std::min({below(100000), made.size() - from, made.size() - to});
        std::copy_n(&right_[from], n, &made[to]);
        return "a record at another's place";
      }
      default: {
        // Translations of another program, under this program's names.
        std::copy_n(&other_[log], std::min(other_.size(), made.size()) - log, &made[log]);
        return "another file's records";
      }
    }
  }

  std::mt19937_64 random_;
  Bytes right_, other_;
  std::vector<std::uint64_t> slots_;
};

}  // namespace

void damage_kept_translations(int rounds, unsigned seed, const std::vector<std::string>& options) {
  const Scratch scratch;
  const auto command_with = [&](const std::string& folder, const std::string& program) {
    Command made;
    made.words = {program, "one"};
    made.options = options;
    made.environment.back() = "TALLY_CACHE_DIR=" + folder;
    return made;
  };
  // Names of equal length: the stack begins at the same address.
  const std::string none = scratch.write("none", "no folder"), some = scratch.file("some"),
                    else_ = scratch.file("more");
  const Command command = command_with(some, "/bin/echo");
  const Counted expected = run_counted(command_with(none, "/bin/echo"));
  run_counted(command_with(else_, "/bin/true"));
  fs::create_directory(some);
  fs::permissions(some, fs::perms::owner_all);
  fs::copy_file(else_ + "/key", some + "/key");  // the same user's
  fs::permissions(some + "/key", fs::perms::owner_read | fs::perms::owner_write);
  run_counted(command);
  run_counted(command);
  const bool modelled = !options.empty();
  const std::string path = kept_file(some, modelled).path;
  Damage damage(seed, content_of(path), content_of(kept_file(else_, modelled).path));
  for (int round = 0; round < rounds; ++round) {
    SCOPED_TRACE("round " + std::to_string(round) + ": " + damage.write(path));
    const Counted counted = run_counted(command);
    expect_same(counted.outcome, expected.outcome);
    expect_exact(counted);
    expect_counts(counted.counts, expected.counts);
    EXPECT_EQ(counted.modelled, expected.modelled);
    if (testing::Test::HasFailure()) return;
  }
}

}  // namespace tally::engine_test
