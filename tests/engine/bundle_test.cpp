// The traces that a program used are stored as one bundle. The test changes the bundle on the disk to show that the
// next run executes it.
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

  /// Calls f(bundle, its head) for all that are stored, of which it may change anything but its checksum.
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
      if (channel::as_bundle(*record)->use_count == 0) continue;  // the mark of a program that ran once
      auto& bundle = *reinterpret_cast<Bundle*>(base + store.slots()[i].place * channel::record_unit);
      f(bundle, *reinterpret_cast<engine::persist::BundleHead*>(bundle.after_names()));
      channel::seal(bundle.head, file.key);
      ++n;
    }
    munmap(base, channel::store_bytes);
    return n;
  }

  std::uint32_t traces() {
    std::uint32_t n = 0;
    each_kept([&](Bundle&, engine::persist::BundleHead& head) { n += head.traces; });
    return n;
  }
  std::uint64_t records() const {
    channel::StoreHeader header{};
    const int fd = open(kept_file(scratch_.file("cache")).path.c_str(), O_RDONLY);
    EXPECT_EQ(pread(fd, &header, sizeof header, 0), static_cast<ssize_t>(sizeof header));
    close(fd);
    return header.records;
  }

  /// Changes each instruction of the program's code in the bundle.
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

// A small program that runs once leaves its traces alone, not another copy of them.
TEST_F(BundleTest, is_made_by_the_second_run_of_a_small_program) {
  const auto bundles = [&] { return each_kept([](Bundle&, engine::persist::BundleHead&) {}); };
  const Counts expected = run_counted(command_).counts;
  EXPECT_EQ(bundles(), 0);
  expect_right(expected);
  const int made = bundles();
  EXPECT_GE(made, 2);
  expect_right(expected);
  EXPECT_EQ(bundles(), made);
}

// The first run of a large program makes its bundle, and stores few templates in addition.
TEST_F(BundleTest, has_all_code_of_a_large_program_after_its_first_run) {
  command_.words = {"perl", "-MPOSIX", "-e", "print qq(one\\n)"};
  const Counts expected = run_counted(command_).counts;
  const std::uint64_t first = records();
  EXPECT_GT(first, 2048u);
  EXPECT_GT(traces(), 3 * first / 2);
  expect_right(expected);
  EXPECT_LT(records(), first + first / 8);
  expect_right(expected);
  EXPECT_LT(records(), first + first / 6);
}

// The engine adds bundles to a file, and a program may limit the size of its files.
TEST_F(BundleTest, is_made_whatever_the_size_of_files_is_limited_to) {
  command_.words = {"sh", "-c", "trap '' XFSZ; ulimit -f 1; exec perl -MPOSIX -e 'print qq(one\\n)'"};
  const Counts expected = run_counted(command_).counts;
  EXPECT_GT(traces(), 4096u);
  expect_right(expected);
}

// A process that is killed makes no bundle: those of later runs store templates.
TEST_F(BundleTest, is_not_needed_to_store_the_code_of_programs_that_are_killed) {
  command_.words = {"sh", "-c", "perl -MPOSIX -e 'kill 9, $$'; /bin/echo one"};
  run_counted(command_);
  const std::uint64_t first = records();
  run_counted(command_);
  const std::uint64_t second = records();
  EXPECT_GT(second, 2 * first);
  run_counted(command_);
  EXPECT_LT(records(), second + second / 8);
}

// Code that other runs of the program need is added to its bundle, whose traces have no templates any more.
TEST_F(BundleTest, grows_by_code_of_later_runs) {
  const std::vector<std::string> other = {
      "perl", "-MPOSIX", "-MData::Dumper", "-e",
      "my %h; $h{$_ % 97} .= chr(97 + $_ % 26) for 1 .. 500; s/b(c)|(x+)/$1$1/g for values %h;"
      "my $d = Dumper([map { sprintf '%s %.3f', $_, length($h{$_}) / 7 } sort { $a <=> $b } keys %h]);"
      "print length($d) > 9 ? qq(one\\n) : qq(two\\n)"};
  const std::vector<std::string> words = {"perl", "-e", "print qq(one\\n)"};
  const auto counts_of_first_run = [&](const std::vector<std::string>& of) {
    fs::remove_all(scratch_.file("cache"));
    command_.words = of;
    return run_counted(command_).counts;
  };
  const Counts expected_other = counts_of_first_run(other), expected = counts_of_first_run(words);
  expect_right(expected);
  const std::uint32_t before = traces();
  command_.words = other;
  expect_right(expected_other);
  const std::uint32_t after = traces();
  EXPECT_GT(after, before + before / 8);
  const std::uint64_t stored = records();
  expect_right(expected_other);
  command_.words = words;
  expect_right(expected);
  EXPECT_LT(traces(), after + after / 16);
  EXPECT_LT(records(), stored + stored / 16);
}

TEST_F(BundleTest, is_executed) {
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
  // Nearly all of them were executed.
  const Counted twice = run_counted(command_);
  EXPECT_GT(twice.counts.instructions, first.counts.instructions * 19 / 10);
}

TEST_F(BundleTest, with_random_content_is_not_used) {
  const Counts expected = run_counted(command_).counts;
  constexpr std::size_t words = sizeof(engine::persist::BundleHead) / 4;
  for (std::size_t word = 0; word < words; ++word) {
    if (word == offsetof(engine::persist::BundleHead, different_pages) / 4)
      continue;  // reserved bytes: any value is valid
    SCOPED_TRACE(word);
    fs::remove_all(scratch_.file("cache"));
    run_counted(command_);
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
  expect_right(expected);
  ASSERT_GE(each_kept([&](Bundle&, engine::persist::BundleHead& head) {
              // The last byte of the code that the bundle was made from; the arrays after it are a multiple of 8.
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

// A loop that becomes hot only after the bundle was made: the bundle stays, and lists the better traces.
TEST_F(BundleTest, lists_better_traces) {
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

// Code that a thread ran that has ended is needed by the next run as much as any other.
TEST_F(BundleTest, includes_what_ended_threads_ran) {
  const std::string program = std::string(LIBC_PROGRAMS) + "/ended_dynamic";
  const auto traces = [&](const std::vector<std::string>& words) {
    fs::remove_all(scratch_.file("cache"));
    command_.words = words;
    for (int run = 0; run < 2; ++run) expect_exact(run_counted(command_));
    return BundleTest::traces();
  };
  const std::uint32_t in_first = traces({program}), in_ended = traces({program, "thread"});
  EXPECT_GT(in_first, 800u);
  EXPECT_GE(in_ended, in_first);
}

// What one process stored is available to the next process of the same run and to concurrent ones: each has one bundle.
TEST_F(BundleTest, is_of_all_processes_of_a_run) {
  const auto bundles = [&] { return each_kept([](Bundle&, engine::persist::BundleHead&) {}); };
  command_.words = {"sh", "-c", "/bin/echo one >&2; /bin/echo one"};
  const Counts expected = run_counted(command_).counts;
  const int kept = bundles();
  EXPECT_GE(kept, 2);
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
