// The history file: what two writers, a killed writer and a full disk leave in it.
#include "tally/tools/history/database.hpp"

#include <gtest/gtest.h>
#include <sqlite3.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>

namespace tally::history {
namespace {

namespace fs = std::filesystem;

result::HistoryEntry entry(int number, std::int64_t value = 1000) {
  result::HistoryEntry one;
  one.name = "./prog --fast";
  one.processor = "a processor";
  one.provenance = {.date = "2026-11-27T06:54:" + std::to_string(10 + number) + "Z",
                    .host = "build-3",
                    .label = "it's \"quoted\"",
                    .command_line = {"tally", "stat", "it's"},
                    .commit = std::string(40, 'a'),
                    .tally_version = "1.0"};
  one.settings = {{"backend", "engine"}, {"--prefetch", "off", true}};
  one.counts = {
      {.event = "instructions:u",
       .unit = Unit::events,
       .value = value,
       .low = 990,
       .high = 1010,
       .trust = Trust::exact},
      {.event = "cycles:u", .unit = Unit::events, .value = {}, .low = {}, .high = {}, .trust = Trust::absent}};
  one.accepted = "it checks \"more\"";
  one.can_vary = true;
  return one;
}

std::string document(int number) { return "{\"number\":" + std::to_string(number) + "}"; }

class HistoryDatabase : public testing::Test {
 protected:
  HistoryDatabase() {
    std::string pattern = (fs::temp_directory_path() / "tally-history-XXXXXX").string();
    folder_ = mkdtemp(pattern.data());
    path_ = (folder_ / "history.db").string();
  }
  ~HistoryDatabase() override { fs::remove_all(folder_); }

  // The number of results; the file is whole.
  std::size_t results() const {
    sqlite3* raw = nullptr;
    sqlite3_open(path_.c_str(), &raw);
    std::string answer;
    sqlite3_exec(
        raw, "PRAGMA integrity_check",
        [](void* to, int, char** values, char**) {
          *static_cast<std::string*>(to) += values[0];
          return 0;
        },
        &answer, nullptr);
    sqlite3_close(raw);
    EXPECT_EQ(answer, "ok");
    auto database = Database::open_to_read(path_);
    EXPECT_TRUE(database) << database.error().message;
    const auto history = database->read();
    EXPECT_TRUE(history) << history.error().message;
    return history->entries.size();
  }

  fs::path folder_;
  /// Runs one statement as another program would.
  void execute(const char* statement) const {
    sqlite3* raw = nullptr;
    sqlite3_open(path_.c_str(), &raw);
    sqlite3_exec(raw, statement, nullptr, nullptr, nullptr);
    sqlite3_close(raw);
  }

  std::string path_;
};

TEST_F(HistoryDatabase, returns_what_was_stored) {
  auto database = Database::open(path_);
  ASSERT_TRUE(database) << database.error().message;
  ASSERT_TRUE(database->add(entry(2), document(2), Origin::file));
  ASSERT_TRUE(database->add(entry(1), document(1), Origin::file));
  ASSERT_TRUE(database->add(entry(1), document(1), Origin::file)) << "the same result again";
  const auto history = Database::open_to_read(path_)->read();
  ASSERT_TRUE(history);
  ASSERT_EQ(history->entries.size(), 2u);
  result::HistoryEntry expected = entry(1);
  expected.number = 2;
  EXPECT_EQ(history->entries[0], expected) << "by date";
}

// Files of earlier builds have no table of settings.
TEST_F(HistoryDatabase, reads_and_extends_a_file_without_settings) {
  ASSERT_TRUE(Database::open(path_)->add(entry(1), document(1), Origin::file));
  execute("DROP TABLE setting");
  EXPECT_TRUE(Database::open_to_read(path_)->read()->entries.at(0).settings.empty());
  ASSERT_TRUE(Database::open(path_)->add(entry(2), document(2), Origin::file));
  EXPECT_EQ(Database::open_to_read(path_)->read()->entries.at(1).settings, entry(2).settings);
}

TEST_F(HistoryDatabase, several_writers_lose_nothing) {
  constexpr int writers = 4, results_each = 10;
  std::vector<pid_t> children;
  for (int writer = 0; writer < writers; ++writer) {
    const pid_t child = fork();
    if (child == 0) {
      for (int i = 0; i < results_each; ++i) {
        auto database = Database::open(path_);  // creating the file is part of the race
        if (!database || !database->add(entry(i), document(100 * writer + i), Origin::file)) _exit(1);
      }
      _exit(0);
    }
    children.push_back(child);
  }
  for (const pid_t child : children) {
    int status = 0;
    waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
  }
  EXPECT_EQ(results(), static_cast<std::size_t>(writers * results_each));
}

TEST_F(HistoryDatabase, a_killed_writer_leaves_whole_results) {
  ASSERT_TRUE(Database::open(path_)->add(entry(0), document(0), Origin::file));
  std::size_t before = 1;
  for (int round = 0; round < 20; ++round) {
    int ready[2];
    ASSERT_EQ(pipe(ready), 0);
    const pid_t child = fork();
    if (child == 0) {
      auto database = Database::open(path_);
      (void)!write(ready[1], "x", 1);
      for (int i = 0;; ++i) (void)database->add(entry(i % 40), document(1000 * (round + 1) + i), Origin::file);
    }
    char byte = 0;
    ASSERT_EQ(read(ready[0], &byte, 1), 1);
    usleep(static_cast<useconds_t>(1000 * round));
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
    close(ready[0]);
    close(ready[1]);
    const std::size_t now = results();
    EXPECT_GE(now, before);
    before = now;
  }
  ASSERT_TRUE(Database::open(path_)->add(entry(1), document(1), Origin::file));
  EXPECT_EQ(results(), before + 1);
}

// A limit on file sizes fails as a full disk does.
TEST_F(HistoryDatabase, a_full_disk_keeps_the_earlier_results) {
  auto database = Database::open(path_);
  ASSERT_TRUE(database->add(entry(0), document(0), Origin::file));
  std::signal(SIGXFSZ, SIG_IGN);
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  rlimit full = before;
  full.rlim_cur = fs::file_size(path_);
  setrlimit(RLIMIT_FSIZE, &full);
  const auto added = database->add(entry(1), std::string(1 << 20, 'x'), Origin::file);
  setrlimit(RLIMIT_FSIZE, &before);
  ASSERT_FALSE(added);
  EXPECT_EQ(added.error().code, Code::cannot_write);
  EXPECT_EQ(results(), 1u);
  EXPECT_TRUE(database->add(entry(2), document(2), Origin::file)) << "as soon as there is space";
  EXPECT_EQ(results(), 2u);
}

TEST_F(HistoryDatabase, refuses_other_files) {
  std::ofstream(path_) << "not a database, but some text that is long enough to be one\n" << std::string(200, 'x');
  EXPECT_FALSE(Database::open(path_));
  EXPECT_FALSE(Database::open_to_read(path_));
  fs::remove(path_);
  EXPECT_FALSE(Database::open_to_read(path_)) << "reading creates no file";
  EXPECT_FALSE(fs::exists(path_));
  execute("CREATE TABLE photos (name)");
  const auto other = Database::open(path_);
  ASSERT_FALSE(other);
  EXPECT_NE(other.error().message.find("of another program"), std::string::npos) << other.error().message;
}

TEST_F(HistoryDatabase, refuses_a_later_version) {
  ASSERT_TRUE(Database::open(path_));
  execute("PRAGMA user_version=2");
  const auto later = Database::open(path_);
  ASSERT_FALSE(later);
  EXPECT_NE(later.error().message.find("later version"), std::string::npos);
  EXPECT_FALSE(Database::open_to_read(path_));
}

TEST_F(HistoryDatabase, does_not_replace_a_file_of_one_byte) {
  std::ofstream(path_) << 'x';
  const auto refused = Database::open(path_);
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("is not a history of tally"), std::string::npos) << refused.error().message;
  std::ifstream file(path_);
  EXPECT_EQ(std::string((std::istreambuf_iterator<char>(file)), {}), "x");
}

// A damaged file is an error, not a crash.
TEST_F(HistoryDatabase, survives_damage) {
  {
    auto database = Database::open(path_);
    for (int i = 0; i < 40; ++i) ASSERT_TRUE(database->add(entry(i), document(i), Origin::file));
  }
  std::ifstream whole(path_, std::ios::binary);
  const std::string bytes((std::istreambuf_iterator<char>(whole)), {});
  for (std::size_t at = 100; at < bytes.size(); at += 97) {
    std::string damaged = bytes;
    damaged[at] = static_cast<char>(~damaged[at]);
    std::ofstream(path_, std::ios::binary) << damaged;
    if (auto database = Database::open_to_read(path_)) (void)database->read();
  }
}

}  // namespace
}  // namespace tally::history
