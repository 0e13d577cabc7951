// `tally profile` with lines from the cache directory: the same text as without, whatever the directory contains.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>

#include "tests/cli/program.hpp"

namespace tally::test {
namespace {

namespace fs = std::filesystem;

class ProfileKept : public testing::Test {
 protected:
  void SetUp() override {
#if !TALLY_HAS_ENGINE
    GTEST_SKIP() << "the engine is for x86-64";
#endif
    ASSERT_NE(mkdtemp(folder_.data()), nullptr);
    if (shell("cc --version").code() != 0) GTEST_SKIP() << "there is no C compiler";
    if (const char* const before = std::getenv("TALLY_CACHE_DIR")) before_ = before;
    // The program has the variable, too: its value must not change.
    setenv("TALLY_CACHE_DIR", cache().c_str(), 1);
    setenv("SOURCE_DATE_EPOCH", "1", 1);  // of the page's date
    build(0);
    empty_cache(0700);
    if (profile("table").find("kept.c:") == std::string::npos) GTEST_SKIP() << "built without libdw";
  }
  void TearDown() override {
    before_ ? setenv("TALLY_CACHE_DIR", before_->c_str(), 1) : unsetenv("TALLY_CACHE_DIR");
    unsetenv("SOURCE_DATE_EPOCH");
    fs::remove_all(folder_);
  }

  fs::path cache() const { return fs::path(folder_) / "cache"; }
  std::string program() const { return folder_ + "/kept"; }
  void empty_cache(mode_t mode) {
    fs::remove_all(cache());
    fs::create_directory(cache());
    chmod(cache().c_str(), mode);
  }

  /// Builds a program whose lines start after some empty ones, always with the same build ID.
  void build(int empty_lines) {
    std::ofstream(program() + ".c") << std::string(static_cast<std::size_t>(empty_lines), '\n')
                                    << "static inline __attribute__((always_inline)) unsigned mix(unsigned x) {\n"
                                       "  x ^= x << 13;\n  return x ^ (x << 5);\n}\n"
                                       "__attribute__((noinline)) unsigned work(unsigned n) {\n  unsigned x = 1;\n"
                                       "  for (unsigned i = 0; i < n; i++) x = mix(x) + i;\n  return x;\n}\n"
                                       "int main(void) { return work(100000) == 7; }\n";
    const Finished built = shell("cd " + folder_ + " && cc -O2 -g -Wl,--build-id=0x1234567890abcdef -o kept kept.c");
    ASSERT_EQ(built.code(), 0) << built.err;
  }

  std::string profile(const std::string& format, const Words& options = {}) const {
    const TemporaryFile file("profile");
    Words words{"profile", "-q",        "--backend",    "engine",   "-e",  "instructions",
                "-o",      file.path(), "--repeatable", "--format", format};
    words.insert(words.end(), options.begin(), options.end());
    words.insert(words.end(), {"--", program()});
    const Finished finished = tally(words);
    EXPECT_EQ(finished.code(), 0) << finished.err;
    return file.content().value_or("");
  }

  std::vector<fs::path> kept_files() const {
    std::vector<fs::path> found;
    for (const auto& entry : fs::directory_iterator(cache()))
      if (entry.path().filename().string().starts_with("lines-")) found.push_back(entry.path());
    return found;
  }

 private:
  std::string folder_ = testing::TempDir() + "profile-kept-XXXXXX";
  std::optional<std::string> before_;
};

TEST_F(ProfileKept, is_the_same_without_with_empty_and_with_full_cache) {
  const std::pair<std::string, Words> ways[] = {{"table", {}},   {"table", {"--lines"}}, {"table", {"--inlines"}},
                                                {"html", {}},    {"callgrind", {}},      {"cachegrind", {}},
                                                {"autofdo", {}}, {"folded", {}}};
  for (const auto& [format, options] : ways) {
    SCOPED_TRACE(format + (options.empty() ? "" : options[0]));
    // Nothing is kept where others may write.
    empty_cache(0777);
    const std::string without = profile(format, options);
    EXPECT_TRUE(kept_files().empty());
    empty_cache(0700);
    EXPECT_EQ(profile(format, options), without);
    EXPECT_EQ(profile(format, options), without);
    // What other queries kept does not matter.
    (void)profile("table");
    (void)profile("html");
    EXPECT_EQ(profile(format, options), without);
  }
}

TEST_F(ProfileKept, reads_what_it_kept) {
  const std::string first = profile("table");
  const auto kept = kept_files();
  ASSERT_FALSE(kept.empty());
  const auto long_ago = fs::file_time_type::clock::now() - std::chrono::hours(1);
  for (const fs::path& file : kept) fs::last_write_time(file, long_ago);
  EXPECT_EQ(profile("table"), first);
  for (const fs::path& file : kept) EXPECT_GT(fs::last_write_time(file), long_ago) << "was not used";
  EXPECT_EQ(kept_files().size(), kept.size());
}

/// What was read is what was kept.
TEST_F(ProfileKept, reads_lines_of_shown_rows_only) {
  const auto kept_bytes = [&](const Words& options) {
    empty_cache(0700);
    (void)profile("table", options);
    std::uintmax_t bytes = 0;
    for (const fs::path& file : kept_files()) bytes += fs::file_size(file);
    return bytes;
  };
  EXPECT_EQ(kept_bytes({"--by", "object"}), 0u);
  const std::uintmax_t one = kept_bytes({"--top", "1"}), all = kept_bytes({"--top", "0"});
  EXPECT_GT(one, 0u);
  EXPECT_LT(one, 1000u);
  EXPECT_LT(one, all);
  EXPECT_NE(profile("table", {"--top", "1"}).find("kept.c:5\n"), std::string::npos);
}

TEST_F(ProfileKept, ignores_damage) {
  const std::string first = profile("table");
  for (const fs::path& file : kept_files()) {
    std::fstream damaged(file, std::ios::in | std::ios::out);
    damaged.seekp(100);
    damaged << "damage";
  }
  EXPECT_EQ(profile("table"), first);
  for (const fs::path& file : kept_files()) fs::resize_file(file, 20);
  EXPECT_EQ(profile("table"), first);
}

TEST_F(ProfileKept, reads_a_file_that_was_built_again) {
  EXPECT_NE(profile("table").find("kept.c:5\n"), std::string::npos);
  build(10);
  EXPECT_NE(profile("table").find("kept.c:15\n"), std::string::npos);
}

TEST_F(ProfileKept, reads_another_debug_file) {
  if (shell("objcopy --version").code() != 0) GTEST_SKIP() << "objcopy is not installed";
  const auto separate = [&] {
    return shell("cd $(dirname " + program() +
                 ") && objcopy --only-keep-debug kept kept.debug && objcopy -g --add-gnu-debuglink=kept.debug kept");
  };
  ASSERT_EQ(separate().code(), 0);
  EXPECT_NE(profile("table").find("kept.c:5\n"), std::string::npos);
  EXPECT_NE(profile("table").find("kept.c:5\n"), std::string::npos);
  fs::rename(program() + ".debug", program() + ".away");
  EXPECT_EQ(profile("table").find("kept.c:"), std::string::npos);
  fs::rename(program() + ".away", program() + ".debug");
  EXPECT_NE(profile("table").find("kept.c:5\n"), std::string::npos);
}

}  // namespace
}  // namespace tally::test
