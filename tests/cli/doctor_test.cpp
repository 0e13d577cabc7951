// `tally doctor` on the machine that the tests run on.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>

#include "tests/cli/program.hpp"

namespace tally::test {
namespace {

namespace fs = std::filesystem;

TEST(Doctor, the_exit_code_is_the_answer_in_both_forms) {
  const Finished text = tally({"doctor"});
  const Finished json = tally({"doctor", "--json"});
  EXPECT_EQ(text.err, "");
  EXPECT_EQ(json.err, "");
  ASSERT_EQ(text.code(), json.code());
  const auto object = nlohmann::json::parse(json.out);
  EXPECT_EQ(text.code(), object["hardware"].get<bool>() ? 0 : 1);
  EXPECT_EQ(object["cause"] == "counts", object["hardware"]);
  EXPECT_NE(text.out.find(text.code() == 0 ? "can be counted here" : "cannot be counted here"), std::string::npos);
}

TEST(Doctor, an_answer_that_cannot_be_written_is_an_error) {
  Environment closed;
  closed.closed_output = true;
  const Finished finished = tally({"doctor"}, closed);
  EXPECT_EQ(finished.code(), 125);
  EXPECT_NE(finished.err, "");
}

TEST(Doctor, takes_no_arguments) {
  EXPECT_EQ(tally({"doctor", "--frobnicate"}).code(), 2);
  EXPECT_EQ(tally({"doctor", "me"}).code(), 2);
}

#if TALLY_HAS_ENGINE
TEST(Doctor, reports_whether_the_engine_works) {
  const auto object = nlohmann::json::parse(tally({"doctor", "--json"}).out);
  const Finished counted = tally({"stat", "-e", "instructions", "--backend", "engine", "--", "true"});
  EXPECT_EQ(object["engine"]["works"], counted.err.find("exact") != std::string::npos) << counted.err;
}

class DoctorOfTranslations : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "tally-doctor-XXXXXX").string();
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
    if (const char* const before = getenv("TALLY_CACHE_DIR")) before_ = before;
  }
  void TearDown() override {
    before_ ? setenv("TALLY_CACHE_DIR", before_->c_str(), 1) : unsetenv("TALLY_CACHE_DIR");
    fs::remove_all(folder_);
  }

  /// What the report says of kept translations.
  std::string store_report(const std::string& folder) {
    setenv("TALLY_CACHE_DIR", folder.c_str(), 1);
    const auto object = nlohmann::json::parse(tally({"doctor", "--json"}).out);
    const auto& facts = object["engine"];
    return facts.contains("kept_translations") ? facts["kept_translations"].get<std::string>() : "";
  }
  std::string folder_;
  std::optional<std::string> before_;
};

TEST_F(DoctorOfTranslations, are_not_used_without_a_directory) {
  EXPECT_EQ(store_report("/proc/none"), "not used: '/proc/none' cannot be created");
  EXPECT_NE(store_report("").find("not used: neither HOME"), std::string::npos);
}

TEST_F(DoctorOfTranslations, reports_once_that_a_file_was_damaged) {
  const std::string cache = folder_ + "/cache";
  EXPECT_EQ(store_report(cache), "in " + cache);
  EXPECT_EQ(store_report(cache), "in " + cache);
  std::string name;
  for (const auto& entry : fs::directory_iterator(cache)) {
    if (entry.path().filename().string().starts_with("translations-")) name = entry.path();
  }
  ASSERT_NE(name, "");
  std::fstream(name, std::ios::in | std::ios::out | std::ios::binary) << "damaged";
  EXPECT_NE(store_report(cache).find(" is damaged"), std::string::npos);
  EXPECT_EQ(store_report(cache), "in " + cache);
}

TEST_F(DoctorOfTranslations, names_the_folder_that_others_may_write_to) {
  const std::string above = folder_ + "/above";
  fs::create_directories(above + "/cache");
  fs::permissions(above, fs::perms::all);
  EXPECT_EQ(store_report(above + "/cache"), "not used: others may write " + above + " (mode 0777)");
}
#endif

}  // namespace
}  // namespace tally::test
