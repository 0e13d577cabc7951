// What a program used is kept as one piece. That it is what runs the next time shows where it is changed on the disk.
#include "tally/engine/persist/bundle.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <filesystem>
#include <functional>

#include "tests/engine/expect.hpp"
#include "tests/engine/kept_file.hpp"

namespace tally::engine_test {
namespace {

namespace fs = std::filesystem;
using channel::Bundle;

class BundleTest : public testing::Test {
 protected:
  BundleTest() {
    command_.words = {"/bin/echo", "one"};
    command_.environment.back() = "TALLY_CACHE_DIR=" + scratch_.file("cache");
  }

  /// Calls f(bundle, its head) for all that are kept, of which it may change anything but its checksum.
  int each_kept(const std::function<void(Bundle&, engine::persist::BundleHead&)>& f) {
    int n = 0;
    const KeptFile file = kept_file(scratch_.file("cache"));
    const int fd = open(file.path.c_str(), O_RDWR);
    auto* const base =
        static_cast<std::uint8_t*>(mmap(nullptr, channel::store_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0));
    close(fd);
    const channel::Store store{base};
    for (std::uint64_t i = 0; i < channel::store_slots; ++i) {
      const channel::RecordHead* const record = store.record(store.slots()[i].place);
      if (record == nullptr || channel::as_bundle(*record) == nullptr) continue;
      auto& bundle = *reinterpret_cast<Bundle*>(base + store.slots()[i].place * channel::record_unit);
      f(bundle, *reinterpret_cast<engine::persist::BundleHead*>(bundle.after_names()));
      channel::seal(bundle.head, file.key);
      ++n;
    }
    munmap(base, channel::store_bytes);
    return n;
  }

  /// Each instruction that runs by it.
  static void count_twice(engine::persist::BundleHead& head) {
    auto* const vectors = reinterpret_cast<channel::SegmentVector*>(
        reinterpret_cast<std::uint8_t*>(&head + 1) +
        channel::part_bytes(head.traces * sizeof(engine::persist::BundleTrace)));
    for (std::uint32_t i = 0; i < head.numbers; ++i) vectors[i].counts[channel::instructions] *= 2;
  }

  void expect_right(const Counts& expected) {
    const Counted counted = run_counted(command_);
    EXPECT_EQ(counted.outcome.out, "one\n");
    expect_exact(counted);
    expect_counts(counted.counts, expected);
  }

  Scratch scratch_;
  Command command_;
};

TEST_F(BundleTest, is_what_runs) {
  const Counted first = run_counted(command_);
  expect_right(first.counts);
  std::uint32_t traces = 0;
  ASSERT_GE(each_kept([&](Bundle& bundle, engine::persist::BundleHead& head) {
              traces += head.traces;
              count_twice(head);
              EXPECT_EQ(bundle.use_count, head.traces);
            }),
            2);
  EXPECT_GT(traces, 300u);
  // Nearly all of them ran.
  const Counted twice = run_counted(command_);
  EXPECT_GT(twice.counts.instructions, first.counts.instructions * 19 / 10);
}

TEST_F(BundleTest, that_says_anything_is_not_used) {
  const Counts expected = run_counted(command_).counts;
  constexpr std::size_t words = sizeof(engine::persist::BundleHead) / 4;
  for (std::size_t word = 0; word < words; ++word) {
    if (word == offsetof(engine::persist::BundleHead, different_pages) / 4) continue;  // room that is made: any will do
    SCOPED_TRACE(word);
    fs::remove_all(scratch_.file("cache"));
    run_counted(command_);
    ASSERT_GE(each_kept([&](Bundle&, engine::persist::BundleHead& head) {
                reinterpret_cast<std::uint32_t*>(&head)[word] = ~0u;
              }),
              2);
    expect_right(expected);
  }
}

TEST_F(BundleTest, of_other_code_is_not_used) {
  const Counts expected = run_counted(command_).counts;
  ASSERT_GE(each_kept([&](Bundle&, engine::persist::BundleHead& head) {
              // The last byte of the code that it was made from; the arrays behind are a multiple of 8.
              engine::persist::BundleParts parts{};
              const auto* at = reinterpret_cast<const std::uint8_t*>(&head + 1);
              std::uint8_t* originals = nullptr;
              engine::persist::each_part(head, parts, [&](auto*& part, std::uint32_t n) {
                if (static_cast<const void*>(&part) == &parts.originals) originals = const_cast<std::uint8_t*>(at);
                at += channel::part_bytes(std::uint64_t{n} * sizeof *part);
              });
              ASSERT_NE(originals, nullptr);
              originals[head.original_bytes - 1] ^= 1;
              count_twice(head);
            }),
            2);
  expect_right(expected);
}

// A loop that is hot for the first time when the bundle was made already: that stays, and names what is better now.
TEST_F(BundleTest, names_what_is_better) {
  const auto loop = [](const char* n) {
    return std::vector<std::string>{"perl", "-e", std::string("for ($i = 0; $i < ") + n + "; $i++) {}"};
  };
  Command fresh = command_;
  fresh.words = loop("9900");
  fresh.environment.back() = "TALLY_CACHE_DIR=" + scratch_.write("nodir", "");
  const Counts expected = run_counted(fresh).counts;
  const auto better = [&] {
    int n = 0;
    each_kept([&](Bundle& bundle, engine::persist::BundleHead&) {
      for (std::uint32_t i = 0; i < bundle.use_count; ++i) n += (bundle.uses()[i] & channel::use_better) != 0;
    });
    return n;
  };
  command_.words = loop("1900");
  run_counted(command_);
  EXPECT_EQ(better(), 0);
  command_.words = loop("9900");
  for (int round = 0; round < 3; ++round) {
    const Counted counted = run_counted(command_);
    expect_exact(counted);
    expect_counts(counted.counts, expected);
    EXPECT_GT(better(), 0);
  }
}

// What one process kept is there for the next one of the same run, and for those beside it: one bundle is kept of each.
TEST_F(BundleTest, is_of_all_processes_of_a_run) {
  const auto bundles = [&] { return each_kept([](Bundle&, engine::persist::BundleHead&) {}); };
  command_.words = {"sh", "-c", "/bin/echo one >&2; /bin/echo one"};
  const Counts expected = run_counted(command_).counts;
  const int kept = bundles();
  for (const char* script : {"for i in 1 2 3 4 5 6; do /bin/echo one >&2; done; /bin/echo one",
                             "for i in 1 2 3 4 5 6; do /bin/echo one >&2 & done; wait; /bin/echo one"}) {
    fs::remove_all(scratch_.file("cache"));
    command_.words = {"sh", "-c", script};
    const Counted counted = run_counted(command_);
    EXPECT_EQ(counted.outcome.out, "one\n");
    expect_exact(counted);
    EXPECT_LE(bundles(), kept);
  }
  command_.words = {"sh", "-c", "/bin/echo one >&2; /bin/echo one"};
  expect_right(expected);
}

}  // namespace
}  // namespace tally::engine_test
