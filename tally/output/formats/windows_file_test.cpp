#include "tally/output/formats/windows_file.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <limits>
#include <random>

namespace tally::result {
namespace {

struct Row {
  Window window;
  std::vector<std::int64_t> counts;
};

WindowsHead head_of_two() {
  WindowsHead head;
  head.command = {"./prog", "a b"};
  head.cpu_model = "x86-64-v2";
  head.machine_model = "haswell";
  head.clock = "counted";
  head.program_environment = "fixed";
  head.triggers = {{{"instructions", Mode::user}, 50000}, {{"calls", Mode::user}, 7}};
  EventCount one{"instructions", {"instructions", Mode::user}, Unit::events, exact(0, Source::engine), ""};
  one.count.value.reset();
  head.events = {one, {"cycles", {"cycles", Mode::user}, Unit::events, absent("no PMU"), ""}, one};
  head.places = {0, std::nullopt, 1};
  return head;
}

std::vector<Row> random_rows(std::size_t count) {
  std::mt19937_64 random(7);
  std::vector<Row> rows(count);
  std::int64_t time = 0;
  std::map<std::int64_t, std::uint64_t> numbers;
  for (Row& row : rows) {
    Window& window = row.window;
    window.pid = 100 + static_cast<std::int64_t>(random() % 2);
    window.tid = window.pid * 10 + static_cast<std::int64_t>(random() % 3);
    window.series = static_cast<std::uint32_t>(window.tid);
    window.program = window.pid == 100 ? "sh" : "a longer name";
    window.number = ++numbers[window.tid];
    window.time = Nanoseconds(time += static_cast<std::int64_t>(random() % 100000));
    window.length = 50000 + static_cast<std::int64_t>(random() % 3);
    window.cpu = static_cast<int>(random() % 4) - 1;
    if (random() % 5 != 0) window.trigger = random() % 2;
    window.address = random() % 3 == 0 ? random() : 0x401000;
    window.lost = random() % 50 == 0 ? 3 : 0;
    row.counts = {static_cast<std::int64_t>(random() % 1000), static_cast<std::int64_t>(random())};
  }
  return rows;
}

std::string encoded(const std::vector<Row>& rows) {
  WindowsEncoder encoder;
  std::string bytes;
  encoder.begin(head_of_two(), bytes);
  for (const Row& row : rows) {
    Window window = row.window;
    window.counts = row.counts;
    encoder.row(window, bytes);
  }
  encoder.end(bytes);
  return bytes;
}

// Returns a few bytes at a time, as pipes do.
ByteSource source_of(const std::string& bytes) {
  return [&bytes, at = std::size_t{0}](std::span<char> to) mutable -> Result<std::size_t> {
    const std::size_t size = std::min({to.size(), bytes.size() - at, std::size_t{1000}});
    std::memcpy(to.data(), bytes.data() + at, size);
    at += size;
    return size;
  };
}

struct Decoded {
  std::vector<Row> rows;
  std::vector<std::string> programs;
  Error error;
};

Decoded decoded(const std::string& bytes) {
  Decoded made;
  auto decoder = WindowsDecoder::open(source_of(bytes), "w.bin");
  if (!decoder) {
    made.error = decoder.error();
    return made;
  }
  const auto read = decoder->read([&](const Window& window) {
    made.rows.push_back({window, {window.counts.begin(), window.counts.end()}});
    made.rows.back().window.counts = {};
    made.programs.emplace_back(window.program);
  });
  if (!read) made.error = read.error();
  return made;
}

std::vector<Row> of_thread(const std::vector<Row>& rows, std::int64_t tid) {
  std::vector<Row> own;
  for (const Row& row : rows)
    if (row.window.tid == tid) own.push_back(row);
  return own;
}

TEST(WindowsFile, rows_of_each_thread_are_read_in_order) {
  const std::vector<Row> rows = random_rows(20000);
  const Decoded read = decoded(encoded(rows));
  EXPECT_EQ(read.error.message, "");
  ASSERT_EQ(read.rows.size(), rows.size());
  for (const std::int64_t tid : {1000, 1001, 1002, 1010, 1011, 1012}) {
    const auto theirs = of_thread(rows, tid), ours = of_thread(read.rows, tid);
    ASSERT_EQ(theirs.size(), ours.size());
    for (std::size_t i = 0; i < theirs.size(); ++i) {
      const Window &a = theirs[i].window, &b = ours[i].window;
      ASSERT_EQ(std::tie(a.number, a.series, a.time, a.length, a.pid, a.cpu, a.trigger, a.address, a.lost),
                std::tie(b.number, b.series, b.time, b.length, b.pid, b.cpu, b.trigger, b.address, b.lost));
      ASSERT_EQ(theirs[i].counts, ours[i].counts);
    }
  }
}

TEST(WindowsFile, programs_are_read_back) {
  const std::vector<Row> rows = random_rows(50);
  const Decoded read = decoded(encoded(rows));
  ASSERT_EQ(read.rows.size(), rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i)
    EXPECT_EQ(read.programs[i], read.rows[i].window.pid == 100 ? "sh" : "a longer name");
}

TEST(WindowsFile, the_head_is_read_back) {
  const std::string bytes = encoded({});
  const auto decoder = WindowsDecoder::open(source_of(bytes), "w.bin");
  ASSERT_TRUE(decoder) << decoder.error().message;
  EXPECT_EQ(decoder->head(), head_of_two());
}

TEST(WindowsFile, the_smallest_and_largest_numbers_are_read_back) {
  std::vector<Row> rows;
  for (const std::int64_t value : {std::numeric_limits<std::int64_t>::min(), std::numeric_limits<std::int64_t>::max(),
                                   std::int64_t{0}, std::numeric_limits<std::int64_t>::min()})
    rows.push_back({{}, {value, ~value}});
  const Decoded read = decoded(encoded(rows));
  ASSERT_EQ(read.rows.size(), rows.size()) << read.error.message;
  for (std::size_t i = 0; i < rows.size(); ++i) EXPECT_EQ(read.rows[i].counts, rows[i].counts);
}

TEST(WindowsFile, regular_windows_take_few_bytes) {
  std::vector<Row> rows(100000);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    rows[i].window.number = i + 1;
    rows[i].window.time = Nanoseconds(20000 * static_cast<std::int64_t>(i));
    rows[i].window.length = 50000;
    rows[i].window.trigger = 0;
    rows[i].counts = {50000, 9000 + static_cast<std::int64_t>(i * 7919 % 50)};
  }
  EXPECT_LT(encoded(rows).size(), 3 * rows.size());
}

TEST(WindowsFile, a_truncated_file_returns_its_rows_and_the_offset) {
  const std::string whole = encoded(random_rows(9000));
  for (const std::size_t size : {whole.size() - 1, whole.size() - 12, whole.size() / 2, whole.size() / 3}) {
    const Decoded read = decoded(whole.substr(0, size));
    EXPECT_FALSE(read.rows.empty());
    EXPECT_NE(read.error.message.find("damaged at byte "), std::string::npos) << read.error.message;
  }
  // Before a block only the end marker is missing.
  const Decoded nothing = decoded(whole.substr(0, 20));
  EXPECT_TRUE(nothing.rows.empty());
  EXPECT_NE(nothing.error.message.find("at byte 20"), std::string::npos) << nothing.error.message;
}

TEST(WindowsFile, a_changed_byte_is_noticed) {
  const std::string whole = encoded(random_rows(3000));
  for (std::size_t at = 0; at < whole.size(); at += 101) {
    std::string changed = whole;
    changed[at] = static_cast<char>(changed[at] ^ 0x10);
    EXPECT_NE(decoded(changed).error.message, "") << at;
  }
}

TEST(WindowsFile, foreign_files_and_later_versions_are_refused) {
  EXPECT_NE(decoded("number,time_ns,length\r\n").error.message.find("byte 0"), std::string::npos);
  EXPECT_NE(decoded("").error.message, "");
  std::string later = encoded({});
  later[windows_file_magic.size()] = 9;
  EXPECT_NE(decoded(later).error.message.find("version 9"), std::string::npos);
}

}  // namespace
}  // namespace tally::result
