// What an ordinary user may count, by kernel.perf_event_paranoid.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <string>

#include "tests/guest/counted.hpp"
#include "tests/guest/machine.hpp"

namespace tally::hardware_test {
namespace {

using Words = test::Words;

test::Finished stat_as_user(const Words& arguments) {
  Words words{TALLY_COMMAND, "stat", "-x", ",", "-o", "-"};
  words.insert(words.end(), arguments.begin(), arguments.end());
  return test::Running(as_user(words)).finish();
}

// A known program in a folder where everybody may run it: the repository may be in a private folder.
class Shared {
 public:
  Shared(const std::string& name, std::uint64_t n) {
    const std::filesystem::path from = known(name, n).path;
    path = std::filesystem::temp_directory_path() / from.filename();
    std::filesystem::copy_file(from, path, std::filesystem::copy_options::overwrite_existing);
    std::filesystem::permissions(path, std::filesystem::perms(0755));
  }
  Shared(const Shared&) = delete;
  Shared& operator=(const Shared&) = delete;
  ~Shared() { std::filesystem::remove(path); }

  std::string path;
};

TEST(Permission, at_3_nothing_is_counted_and_the_level_is_named) {
  TALLY_NEEDS_GUEST();
  const Setting level = paranoid(3);
  const auto forced = stat_as_user({"--backend", "perf", "-e", "instructions", "true"});
  EXPECT_EQ(forced.code(), 125);
  EXPECT_TRUE(holds(forced.err, "Permission denied); kernel.perf_event_paranoid is 3")) << forced.err;
  const auto finished = stat_as_user({"-e", "instructions,page-faults", Shared("countdown", 1000).path});
  EXPECT_TRUE(holds(finished.out, "<not counted>,,instructions:u")) << finished.out;
  EXPECT_TRUE(holds(finished.out, ",page-faults,,100.00,,,counted,")) << "by wait4: " << finished.out;
}

TEST(Permission, at_2_the_users_part_is_counted) {
  TALLY_NEEDS_GUEST();
  const Setting level = paranoid(2);
  const auto finished =
      stat_as_user({"-e", "instructions,instructions:k,context-switches", Shared("countdown", 1000).path});
  EXPECT_TRUE(holds(finished.out, "2005,,instructions:u")) << finished.out;
  EXPECT_TRUE(holds(finished.out, "<not counted>,,instructions:k")) << finished.out;
  EXPECT_FALSE(holds(finished.out, "<not counted>,,context-switches")) << "wait4 has them: " << finished.out;
  const auto everywhere = stat_as_user({"-a", "-e", "instructions", "--timeout", "10"});
  EXPECT_EQ(everywhere.code(), 125);
  EXPECT_TRUE(holds(everywhere.err, "CAP_PERFMON")) << everywhere.err;
  EXPECT_EQ(stat_as_user({"-p", "1", "-e", "instructions", "--timeout", "10"}).code(), 125) << "it is root's";
}

TEST(Permission, at_1_the_kernels_part_too_and_below_0_whole_processors) {
  TALLY_NEEDS_GUEST();
  {
    const Setting level = paranoid(1);
    EXPECT_FALSE(holds(stat_as_user({"-e", "instructions:k", "true"}).out, "<not counted>"));
    EXPECT_EQ(stat_as_user({"-a", "-e", "instructions", "--timeout", "10"}).code(), 125);
  }
  const Setting level = paranoid(-1);
  EXPECT_EQ(stat_as_user({"-a", "-e", "instructions", "--timeout", "10"}).code(), 0);
}

}  // namespace
}  // namespace tally::hardware_test
