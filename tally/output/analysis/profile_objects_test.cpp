#include "tally/output/analysis/profile_objects.hpp"

#include <gtest/gtest.h>

namespace tally::output {
namespace {

result::Profile with_generated_code(const std::string& file) {
  result::Profile profile;
  profile.objects.resize(2);
  profile.objects[0].name = file;
  profile.objects[1].name = "[memory without a file]";
  profile.objects[1].why_nameless = "code that was generated at run time";
  profile.functions.resize(1);
  profile.functions[0].name = "[no name]";
  profile.functions[0].object = 1;
  profile.rows.resize(1);
  return profile;
}

TEST(NamelessLines, say_which_option_names_generated_code) {
  const std::string why = "[memory without a file] has no function names: code that was generated at run time";
  EXPECT_EQ(nameless_lines(with_generated_code("/usr/bin/prog")), std::vector{why});
  EXPECT_EQ(nameless_lines(with_generated_code("/usr/bin/node")),
            std::vector{why + "; `node --perf-basic-prof` names its functions"});
  EXPECT_EQ(nameless_lines(with_generated_code("/usr/lib/libluajit-5.1.so.2.1.0")),
            std::vector{why + "; `luajit -lperfmap` names its functions (docs/guides/profiling.md)"});
}

}  // namespace
}  // namespace tally::output
