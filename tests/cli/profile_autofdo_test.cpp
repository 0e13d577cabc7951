// tally writes a profile, clang reads it, and the code that clang generates with it takes fewer branches.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/cli/program.hpp"

namespace tally::test {
namespace {

std::int64_t taken_branches(const std::string& program) {
  const TemporaryFile file("stat.json");
  tally({"stat", "-q", "-e", "branches-taken", "--format", "json", "-o", file.path(), "--", program});
  return nlohmann::json::parse(file.content().value_or(""))["events"][0]["value"].get<std::int64_t>();
}

TEST(ProfileAutofdo, makes_clang_compile_code_with_fewer_taken_branches) {
#if !TALLY_HAS_ENGINE
  GTEST_SKIP() << "the engine is for x86-64";
#endif
  const TemporaryFile program("dispatch"), again("dispatch2"), profile("dispatch.prof");
  const auto compile = [](const std::string& to, const std::string& more) {
    return Running({"/bin/sh", "-c",
                    "clang-16 -O2 -g -fdebug-info-for-profiling -Werror " + more + " -o " + to + " " DISPATCH_SOURCE})
        .finish();
  };
  if (compile(program.path(), "").code() != 0) GTEST_SKIP() << "clang-16 is not installed";
  const Finished profiled = tally({"profile", "-q", "--calls", "-e", "instructions", "--format", "autofdo", "-o",
                                   profile.path(), "--", program.path()});
  ASSERT_EQ(profiled.code(), 0) << profiled.err;
  const std::string text = profile.content().value_or("");
  if (text.find("main:") == std::string::npos) GTEST_SKIP() << "built without libdw";
  // 200 rounds of 4,096 interpreted instructions; each is one call through the pointer. The profile lists inlined
  // functions within their callers.
  EXPECT_NE(text.find(": step:4096000\n"), std::string::npos) << text.substr(0, 2000);
  EXPECT_NE(text.find(": 819200 add:805600 mix:6400 turn:7200\n"), std::string::npos) << text.substr(0, 2000);
  EXPECT_NE(text.find(": check:819200\n"), std::string::npos) << text.substr(0, 2000);
  EXPECT_NE(text.find("\nadd:805600:805600\n 0: 805600\n"), std::string::npos) << text.substr(0, 2000);
  const Finished compiled = compile(again.path(), "-fprofile-sample-use=" + profile.path());
  ASSERT_EQ(compiled.code(), 0) << compiled.err;
  // clang compares the pointer with its most frequent target, and inlines that function: no call, no return.
  EXPECT_LT(taken_branches(again.path()), taken_branches(program.path()) * 7 / 10);
}

}  // namespace
}  // namespace tally::test
