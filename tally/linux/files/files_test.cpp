// Tests how files are opened, depending on who made them: tally's own state, input of others, and output.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "tally/linux/files/files.hpp"
#include "tally/linux/files/input.hpp"
#include "tally/linux/files/output_file.hpp"
#include "tally/linux/files/perf_map.hpp"
#include "tally/linux/files/state_folder.hpp"

namespace tally::linux {
namespace {

namespace fs = std::filesystem;

class Files : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "tally-files-XXXXXX").string();
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    root_ = pattern;
  }
  void TearDown() override { fs::remove_all(root_); }

  std::string path(const std::string& name) const { return (root_ / name).string(); }
  std::string add(const std::string& name, const std::string& text) const {
    std::ofstream(root_ / name) << text;
    return path(name);
  }
  static std::string text_of(const std::string& file) {
    std::ifstream stream(file);
    return {std::istreambuf_iterator<char>(stream), {}};
  }
  std::size_t names() const { return static_cast<std::size_t>(std::distance(fs::directory_iterator(root_), {})); }

  fs::path root_;
};

using State = Files;

TEST_F(State, is_written_as_a_whole_and_read_again) {
  const auto folder = StateFolder::open(path("a/b"), true);
  ASSERT_TRUE(folder) << folder.error().message;
  ASSERT_TRUE(folder->write("file", "text"));
  ASSERT_TRUE(folder->write("file", "another"));
  EXPECT_EQ(folder->read("file", 100), "another");
  EXPECT_EQ(folder->read("file", 6), std::nullopt) << "it has more bytes than that";
  EXPECT_EQ(folder->read("nothing", 100), std::nullopt);
  struct stat s {};
  ASSERT_EQ(stat(path("a/b").c_str(), &s), 0);
  EXPECT_EQ(s.st_mode & 0777, 0700u);
}

TEST_F(State, is_not_read_or_written_through_a_link) {
  const std::string victim = add("victim", "precious");
  fs::create_directory(root_ / "own");
  fs::permissions(root_ / "own", fs::perms::owner_all);
  fs::create_symlink(victim, root_ / "own/file");
  const auto folder = StateFolder::open(path("own"), false);
  ASSERT_TRUE(folder);
  EXPECT_EQ(folder->read("file", 100), std::nullopt);
  ASSERT_TRUE(folder->write("file", "new"));
  EXPECT_EQ(text_of(victim), "precious");
  EXPECT_EQ(folder->read("file", 100), "new") << "the link is replaced, and not what it leads to";
  fs::create_symlink(root_ / "own", root_ / "link");
  EXPECT_FALSE(StateFolder::open(path("link"), true)) << "the folder's own name is no link";
}

TEST_F(State, a_pipe_is_not_waited_for) {
  const auto folder = StateFolder::open(path("own"), true);
  ASSERT_TRUE(folder);
  ASSERT_EQ(mkfifo(path("own/file").c_str(), 0600), 0);
  EXPECT_EQ(folder->read("file", 100), std::nullopt);
}

TEST_F(State, files_that_others_may_write_are_not_read) {
  const auto folder = StateFolder::open(path("own"), true);
  ASSERT_TRUE(folder->write("file", "text"));
  ASSERT_EQ(chmod(path("own/file").c_str(), 0622), 0);
  EXPECT_EQ(folder->read("file", 100), std::nullopt);
  ASSERT_EQ(chmod(path("own").c_str(), 0777), 0);
  EXPECT_FALSE(StateFolder::open(path("own"), false));
  fs::create_directory(root_ / "own/below");
  EXPECT_FALSE(StateFolder::open(path("own/below"), false)) << "others can replace it";
  if (geteuid() != 0) GTEST_SKIP() << "root gives files away";
  ASSERT_EQ(chmod(path("own").c_str(), 0755), 0);
  ASSERT_EQ(chown(path("own").c_str(), 65534, 65534), 0);
  EXPECT_FALSE(StateFolder::open(path("own/made"), true));
  EXPECT_FALSE(fs::exists(root_ / "own/made"));
}

using InputFiles = Files;

TEST_F(InputFiles, devices_without_an_end_are_refused) {
  const auto endless = read_file("/dev/zero");
  ASSERT_FALSE(endless);
  EXPECT_NE(endless.error().message.find("not a regular file"), std::string::npos) << endless.error().message;
  EXPECT_EQ(read_file("/dev/null"), "");
  EXPECT_FALSE(read_file(root_.string()));
  EXPECT_FALSE(read_file(add("file", "twelve bytes"), 11));
  EXPECT_EQ(read_file(path("file"), 12), "twelve bytes");
  fs::resize_file(add("sparse", ""), std::uintmax_t{1} << 40);
  EXPECT_FALSE(read_file(path("sparse")));
}

TEST_F(InputFiles, a_pipe_is_read_to_its_end) {
  ASSERT_EQ(mkfifo(path("pipe").c_str(), 0600), 0);
  const pid_t writer = fork();
  if (writer == 0) {
    std::ofstream(path("pipe")) << "text";
    _exit(0);
  }
  EXPECT_EQ(read_file(path("pipe")), "text");
  waitpid(writer, nullptr, 0);
}

TEST_F(InputFiles, content_of_a_pipe_is_not_waited_for) {
  ASSERT_EQ(mkfifo(path("pipe").c_str(), 0600), 0);
  EXPECT_EQ(content(path("pipe")), "");
  EXPECT_FALSE(read_regular_file(path("pipe")));
  EXPECT_EQ(read_regular_file(add("file", "text")), "text");
}

using OutputFiles = Files;

TEST_F(OutputFiles, no_reader_sees_half_of_a_text) {
  const std::string file = add("file", "earlier");
  auto output = Output::open_file(file);
  ASSERT_TRUE(output);
  ASSERT_TRUE(output->add("one "));
  EXPECT_EQ(text_of(file), "earlier");
  ASSERT_TRUE(output->add("two"));
  ASSERT_TRUE(output->finish());
  EXPECT_EQ(text_of(file), "one two");
  EXPECT_EQ(names(), 1u) << "nothing else is left there";
}

TEST_F(OutputFiles, parts_of_a_new_file_are_visible_at_once) {
  auto output = Output::open_file(path("file"));
  ASSERT_TRUE(output);
  ASSERT_TRUE(output->add("one "));
  EXPECT_EQ(text_of(path("file")), "one ");
}

TEST_F(OutputFiles, published_parts_are_visible_at_once) {
  auto output = Output::open_file(add("file", "earlier"));
  ASSERT_TRUE(output->add("one "));
  ASSERT_TRUE(output->publish());
  EXPECT_EQ(text_of(path("file")), "one ");
  ASSERT_TRUE(output->add("two"));
  EXPECT_EQ(text_of(path("file")), "one two");
}

TEST_F(OutputFiles, keep_what_they_are) {
  const std::string file = add("file", "earlier");
  ASSERT_EQ(chmod(file.c_str(), 0640), 0);
  fs::create_symlink(file, root_ / "link");
  ASSERT_TRUE(Output::open_file(path("link"))->write("new"));
  EXPECT_TRUE(fs::is_symlink(root_ / "link"));
  EXPECT_EQ(text_of(file), "new");
  struct stat s {};
  ASSERT_EQ(stat(file.c_str(), &s), 0);
  EXPECT_EQ(s.st_mode & 0777, 0640u);
  fs::create_hard_link(file, root_ / "other");
  ASSERT_TRUE(Output::open_file(file)->write("for both"));
  EXPECT_EQ(text_of(path("other")), "for both");
}

TEST_F(OutputFiles, of_derived_names_replace_links) {
  const std::string victim = add("victim", "precious");
  for (const bool symbolic : {true, false}) {
    const std::string name = path(symbolic ? "symbolic" : "hard");
    symbolic ? fs::create_symlink(victim, name) : fs::create_hard_link(victim, name);
    ASSERT_TRUE(Output::open_derived(name)->write("new"));
    EXPECT_EQ(text_of(name), "new");
    EXPECT_FALSE(fs::is_symlink(name));
    EXPECT_EQ(text_of(victim), "precious");
  }
  fs::create_symlink(victim, root_ / "appended");
  EXPECT_FALSE(Output::open_derived(path("appended"), true));
}

TEST_F(OutputFiles, a_standard_stream_is_written_in_place) {
  const std::string file = add("file", "");
  const pid_t child = fork();
  if (child == 0) {
    const int fd = open(file.c_str(), O_WRONLY | O_APPEND);
    dup2(fd, STDOUT_FILENO);
    const bool written = Output::open_file(file)->write("text").has_value();
    (void)!write(STDOUT_FILENO, " and more", 9);
    _exit(written ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(text_of(file), "text and more");
}

TEST_F(OutputFiles, an_earlier_text_survives_a_full_disk) {
  const fs::path disk = root_ / "disk";
  fs::create_directory(disk);
  if (mount("tally", disk.c_str(), "tmpfs", 0, "size=64k") != 0) GTEST_SKIP() << "mounting takes root";
  const std::string large(100'000, 'x');
  for (const bool in_place : {false, true}) {
    const std::string file = (disk / "file").string();
    std::ofstream(file) << "earlier";
    if (in_place) fs::create_hard_link(file, disk / "other");
    auto output = Output::open_file(file);
    EXPECT_FALSE(output->write(large));
    EXPECT_EQ(text_of(file), "earlier") << in_place;
  }
  EXPECT_EQ(umount2(disk.c_str(), MNT_DETACH), 0);
}

TEST_F(OutputFiles, one_adds_at_a_time) {
  const std::string file = add("file", "header\n");
  auto first = Output::open_to_append(file);
  ASSERT_TRUE(first->lock());
  const int other = open(file.c_str(), O_RDWR);
  EXPECT_NE(flock(other, LOCK_EX | LOCK_NB), 0);
  ASSERT_TRUE(first->write("row\n"));
  EXPECT_EQ(flock(other, LOCK_EX | LOCK_NB), 0) << "it is closed";
  close(other);
}

class PerfMaps : public testing::Test {
 protected:
  // No process has this ID: the kernel's maximum is 4,194,304.
  static constexpr std::int64_t nobody = 4'300'001;
  const std::string path_ = "/tmp/perf-4300001.map";
  void SetUp() override { std::ofstream(path_) << "1000 10 made\n"; }
  void TearDown() override { fs::remove(path_); }
  static std::string refusal(const MapOf& of) {
    const PerfMap map = read_perf_map(of);
    EXPECT_TRUE(map.text.empty());
    return map.refused;
  }
};

TEST_F(PerfMaps, of_this_user_are_read) {
  const PerfMap map = read_perf_map({nobody, false, Nanoseconds{0}});
  EXPECT_EQ(map.text, "1000 10 made\n");
  EXPECT_EQ(map.refused, "");
  EXPECT_EQ(read_perf_map({nobody + 1, false, Nanoseconds{0}}).refused, "") << "there is none";
}

TEST_F(PerfMaps, are_of_the_process_that_ran) {
  EXPECT_NE(refusal({nobody, false, std::chrono::system_clock::now().time_since_epoch() + std::chrono::hours(1)})
                .find("older than the process"),
            std::string::npos);
  EXPECT_NE(refusal({nobody, true, Nanoseconds{0}}).find("PID namespace"), std::string::npos);
  const auto started = process_started(getpid());
  ASSERT_TRUE(started);
  EXPECT_LE(*started, std::chrono::system_clock::now().time_since_epoch());
}

TEST_F(PerfMaps, of_others_are_refused_with_their_owner) {
  ASSERT_EQ(chmod(path_.c_str(), 0666), 0);
  EXPECT_NE(refusal({nobody, false, Nanoseconds{0}}).find("everybody may write"), std::string::npos);
  fs::remove(path_);
  fs::create_symlink("/etc/passwd", path_);
  EXPECT_NE(refusal({nobody, false, Nanoseconds{0}}).find("a link"), std::string::npos);
  fs::remove(path_);
  ASSERT_EQ(mkfifo(path_.c_str(), 0600), 0);
  EXPECT_NE(refusal({nobody, false, Nanoseconds{0}}).find("not a regular file"), std::string::npos);
  if (geteuid() != 0) GTEST_SKIP() << "root gives files away";
  fs::remove(path_);
  SetUp();
  ASSERT_EQ(chown(path_.c_str(), 65534, 65534), 0);
  EXPECT_NE(refusal({nobody, false, Nanoseconds{0}}).find("ignoring '"), std::string::npos);
}

}  // namespace
}  // namespace tally::linux
