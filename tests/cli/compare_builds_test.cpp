// `tally compare` of two builds of a program: what changed is found and named.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

#include "tally/core/base/full_run_testing.hpp"
#include "tally/core/base/text.hpp"
#include "tests/cli/program.hpp"

namespace tally::test {
namespace {

using nlohmann::json;

class CompareBuilds : public testing::Test {
 protected:
  void SetUp() override {
#if !TALLY_HAS_ENGINE
    GTEST_SKIP() << "the engine is for x86-64";
#endif
    for (const char* const side : {"old", "new"}) std::filesystem::create_directory(path(side));
  }

  std::string path(const std::string& name) const { return folder_.folder() + "/" + name; }

  // The profile of a program built from this text. Both builds have paths of the same length: the dynamic linker copies
  // them.
  std::string profile(const std::string& side, const std::string& source, const std::string& options = "") const {
    std::ofstream(path(side) + "/prog.c") << source;
    const Finished built =
        Running({"/bin/sh", "-c", fmt::format("gcc -O1 -g {1} -o {0}/prog {0}/prog.c", path(side), options)}).finish();
    EXPECT_EQ(built.code(), 0) << built.err;
    const std::string file = path(side) + ".json";
    const Finished counted =
        tally({"profile", "-q", "--repeatable", "-e", "instructions", "-o", file, "--", path(side) + "/prog"});
    EXPECT_EQ(counted.code(), 0) << counted.err;
    return file;
  }

  static json compared(const std::string& before, const std::string& after) {
    const Finished finished = tally({"compare", "--all", "--format", "json", before, after});
    EXPECT_EQ(finished.code(), 0) << finished.err;
    return json::parse(finished.out, nullptr, false);
  }

 private:
  TemporaryFile folder_{"folder"};
};

// 200 functions with a loop each; `planted` has one iteration more of 1,000.
std::string two_hundred_functions(int planted) {
  std::string text, calls;
  for (int i = 0; i < 200; ++i) {
    text += fmt::format(
        "__attribute__((noinline)) unsigned f{0}(unsigned x) {{\n"
        "  for (unsigned i = 0; i < {1}; i++) x = x * 1103515245 + {0};\n  return x;\n}}\n",
        i, i == planted ? 1001 : 1000);
    calls += fmt::format("  x = f{}(x);\n", i);
  }
  return text + "int main(void) {\n  unsigned x = 1;\n" + calls + "  return x == 0;\n}\n";
}

TEST_F(CompareBuilds, finds_a_tenth_of_a_percent_in_one_of_200_functions) {
  const std::string before = profile("old", two_hundred_functions(-1)),
                    after = profile("new", two_hundred_functions(137));
  const json comparison = compared(before, after);
  EXPECT_EQ(comparison["events"][0]["verdict"], "worse");
  ASSERT_EQ(comparison["functions"].size(), 1u) << comparison["functions"];
  const json& function = comparison["functions"][0];
  EXPECT_EQ(function["function"], "f137");
  EXPECT_NEAR(function["relative_change"].get<double>(), 0.001, 0.0001);
  EXPECT_EQ(comparison["events"][0]["change"], function["change"]);
  EXPECT_EQ(tally({"compare", before, after, "--fail-above", "instructions@f137=0.05%"}).code(), 1);
  EXPECT_EQ(tally({"compare", before, after, "--fail-above", "instructions@f136=0%"}).code(), 0);
  const Finished typo = tally({"compare", before, after, "--fail-above", "instructions@f1370=1%"});
  EXPECT_EQ(typo.code(), 2);
  EXPECT_NE(typo.err.find("no function is called 'f1370'"), std::string::npos) << typo.err;
  EXPECT_NE(typo.err.find("did you mean f137"), std::string::npos) << typo.err;
}

// A static function with a loop, in two files; `copy` is its symbol in the first file.
std::string function_called(const std::string& symbol, int rounds) {
  return fmt::format(
      "static unsigned helper(unsigned x) __asm__(\"{0}\");\n"
      "__attribute__((noinline, used)) static unsigned helper(unsigned x) {{\n"
      "  for (unsigned i = 0; i < {1}; i++) x = x * 1103515245 + 7;\n  return x;\n}}\n"
      "int main(void) {{\n  unsigned x = 1;\n  for (int i = 0; i < 10; i++) x = helper(x);\n  return x == 0;\n}}\n",
      symbol, rounds);
}

TEST_F(CompareBuilds, copies_that_the_compiler_made_belong_to_their_function) {
  const std::string before = profile("old", function_called("helper", 100));
  for (const char* const symbol : {"helper.constprop.0", "helper.isra.0.part.1", "helper.llvm.1234"}) {
    SCOPED_TRACE(symbol);
    const std::string after = profile("new", function_called(symbol, 200));
    const json comparison = compared(before, after);
    ASSERT_EQ(comparison["functions"].size(), 1u) << comparison["functions"];
    EXPECT_EQ(comparison["functions"][0]["function"], "helper");
    EXPECT_EQ(tally({"compare", before, after, "--fail-above", "instructions@helper=1%"}).code(), 1);
    EXPECT_EQ(tally({"compare", before, after, "--fail-above", std::string("instructions@") + symbol + "=1%"}).code(),
              1);
    EXPECT_TRUE(holds(tally({"report", after}).out, " helper  "));
    EXPECT_TRUE(holds(tally({"report", "--full-names", after}).out, std::string(symbol)));
    const Finished counted =
        tally({"stat", "-q", "-e", "instructions", "--function", "helper", "--", path("new") + "/prog"});
    EXPECT_TRUE(holds(counted.err, "helper: 10 entries")) << counted.err;
  }
}

TEST_F(CompareBuilds, static_functions_of_one_name_keep_their_own_copies) {
  std::ofstream(path("old") + "/other.c") << "static int helper(int n) __asm__(\"helper.constprop.0\");\n"
                                             "static int whole(int n) __asm__(\"helper\");\n"
                                             "static int __attribute__((noinline, used)) helper(int n) { return n; }\n"
                                             "static int __attribute__((noinline, used)) whole(int n) { return n; }\n"
                                             "int other(int n) { return helper(n) + whole(n); }\n";
  for (const char* const debug : {"-g", "-g0"}) {
    SCOPED_TRACE(debug);
    const std::string of = profile("old",
                                   "int other(int);\n__attribute__((noinline, used)) static int helper(int n) {\n"
                                   "  return n;\n}\nint main(void) { return other(1) + helper(2) + helper(3) - 7; }\n",
                                   path("old") + "/other.c " + debug);
    std::map<std::int64_t, int> entered;
    for (const std::string& line : split(tally({"report", "--top", "0", of}).out, '\n'))
      if (line.find(" helper ") != std::string::npos) entered[line.find(" 2  helper ") != std::string::npos ? 2 : 0]++;
    EXPECT_EQ(entered[2], 2) << "both are entered twice: one at its copy";
    EXPECT_EQ(entered[0], 0);
  }
}

TEST_F(CompareBuilds, static_functions_in_files_of_one_name_are_distinguished_by_their_directories) {
  const auto profile_of = [&](const std::string& build, int rounds_of_a, int rounds_of_b) {
    std::string files;
    for (const auto& [name, rounds] : {std::pair{"a", rounds_of_a}, {"b", rounds_of_b}}) {
      const std::string folder = path(build) + "/" + name;
      std::filesystem::create_directories(folder);
      std::ofstream(folder + "/util.c") << fmt::format(
          "__attribute__((noinline)) static unsigned helper(unsigned x) {{\n"
          "  for (unsigned i = 0; i < {1}; i++) x = x * 1103515245 + 7;\n  return x;\n}}\n"
          "unsigned {0}(unsigned x) {{ return helper(x); }}\n",
          name, rounds);
      files += folder + "/util.c ";
    }
    return profile(build,
                   "unsigned a(unsigned), b(unsigned);\n"
                   "int main(int n, char** words) { return a(n) + b(n) == 0 && words; }\n",
                   files);
  };
  const std::string before = profile_of("old", 1000, 1000), after = profile_of("new", 500, 1500);
  EXPECT_EQ(compared(before, after)["functions"].size(), 2u);
  EXPECT_EQ(tally({"compare", before, after, "--fail-above", "instructions@helper=1%"}).code(), 1);
}

TEST_F(CompareBuilds, every_printed_name_can_be_a_gate) {
  std::ofstream(path("old") + "/more.cc")
      << "#include <functional>\n#include <string>\n#include <vector>\n"
         "namespace { __attribute__((noinline)) int hidden(int n) { return n + 1; } }\n"
         "struct Point { int x;\n"
         "  __attribute__((noinline)) bool operator==(const Point& o) const { return x == o.x; }\n"
         "  __attribute__((noinline)) int operator()(int n) & { return n; }\n"
         "  __attribute__((noinline)) explicit operator std::vector<int>() const { return {x}; } };\n"
         "template <class T> __attribute__((noinline)) T of_a_kind(const std::vector<std::vector<T>>& v) {\n"
         "  return v.size() + T(1); }\n"
         "__attribute__((noinline)) void over(int) { asm(\"\"); }\n"
         "__attribute__((noinline)) void over(long) { asm(\"\"); }\n"
         "__attribute__((noinline)) int call(std::function<int(int)> f) { return f(3); }\n"
         "extern \"C\" int more() {\n  Point p{1}, q{2};\n  over(1); over(1L);\n"
         "  return hidden(p == q) + p(2) + std::vector<int>(p).size() + of_a_kind<double>({}) +\n"
         "         call([&](int n) { return n + p.x; });\n}\n";
  const std::string of =
      profile("old", "int more(void);\nint main(void) { return more() == 0; }\n", path("old") + "/more.cc -lstdc++");
  Words compare{"compare", of, of}, stat{"stat", "-q", "-e", "instructions"};
  std::vector<std::string> names;
  for (const std::string& line : split(tally({"report", "--top", "0", of}).out, '\n')) {
    // share, count, entered, name, file, line
    const std::size_t end = line.find("  prog");
    if (end == std::string::npos || line.find("[.") != std::string::npos) continue;
    const std::string cells = trimmed(line.substr(0, end));
    names.push_back(cells.substr(cells.rfind("  ") + 2));
  }
  EXPECT_GT(names.size(), 12u);
  for (const std::string& name : names) {
    const Finished gate = tally({"compare", of, of, "--fail-above", "instructions@" + name + "=1%"});
    EXPECT_EQ(gate.code(), 0) << name << "\n" << gate.err;
  }
  for (std::size_t i = 0; i < names.size(); i += 8) {
    Words words = stat;
    for (std::size_t k = i; k < std::min(i + 8, names.size()); ++k) words.insert(words.end(), {"--function", names[k]});
    words.insert(words.end(), {"--", path("old") + "/prog"});
    const Finished counted = tally(words);
    for (std::size_t k = i; k < std::min(i + 8, names.size()); ++k)
      EXPECT_TRUE(holds(counted.err, names[k] + ": ")) << names[k] << "\n" << counted.err;
  }
}

TEST_F(CompareBuilds, finds_no_change_of_identical_builds) {
  const std::string source = two_hundred_functions(-1), before = profile("old", source);
  for (int i = 0; i < in_full_run(30, 8); ++i) {
    const std::string after = path("new") + ".json";
    if (i == 0)
      profile("new", source);
    else
      tally({"profile", "-q", "--repeatable", "-e", "instructions", "-o", after, "--", path("new") + "/prog"});
    const json comparison = compared(before, after);
    EXPECT_EQ(comparison["events"][0]["verdict"], "same") << comparison;
    EXPECT_TRUE(comparison["functions"].empty());
  }
}

// `generated` has one instruction more in the second build, endbr64. `edited` has another constant, and `repeated` is
// the same function with more iterations.
std::string three_functions(const char* constant, int iterations) {
  return fmt::format(
      "__attribute__((noinline)) unsigned generated(unsigned x) {{\n"
      "  for (unsigned i = 0; i < 1000; i++) x = x * 1103515245 + i;\n  return x;\n}}\n"
      "__attribute__((noinline)) unsigned edited(unsigned x) {{\n"
      "  for (unsigned i = 0; i < {0}; i++) x = x * 1103515245 + i;\n  return x;\n}}\n"
      "__attribute__((noinline)) unsigned repeated(unsigned x, unsigned n) {{\n"
      "  for (unsigned i = 0; i < n; i++) x = x * 1103515245 + i;\n  return x;\n}}\n"
      "int main(void) {{\n  return repeated(edited(generated(1)), {1}) == 0;\n}}\n",
      constant, iterations);
}

TEST_F(CompareBuilds, distinguishes_code_generation_from_changes_of_the_program) {
  const std::string before = profile("old", three_functions("1000", 1000)),
                    after = profile("new", three_functions("1001*1", 1001), "-fcf-protection=full");
  std::map<std::string, std::string> causes;
  const json comparison = compared(before, after);
  for (const json& function : comparison["functions"]) causes[function["function"]] = function.value("cause", "");
  EXPECT_EQ(causes["generated"], "code generation");
  ASSERT_EQ(causes.count("edited"), 1u);
  EXPECT_EQ(causes["edited"], "");
  // It has both more iterations and endbr64.
  ASSERT_EQ(causes.count("repeated"), 1u);
}

// The same code with more work, and source that is newer than the program.
TEST_F(CompareBuilds, claims_no_code_generation_without_proof) {
  const std::string before = profile("old", three_functions("1000", 1000)),
                    after = profile("new", three_functions("1000", 1001));
  json functions = compared(before, after)["functions"];
  ASSERT_FALSE(functions.empty());
  for (const json& function : functions) EXPECT_EQ(function.value("cause", ""), "") << function;
  profile("new", three_functions("1000", 1000), "-fcf-protection=full");
  std::filesystem::last_write_time(path("new") + "/prog.c",
                                   std::filesystem::file_time_type::clock::now() + std::chrono::hours(1));
  EXPECT_EQ(
      tally({"profile", "-q", "--repeatable", "-e", "instructions", "-o", after, "--", path("new") + "/prog"}).code(),
      0);
  functions = compared(before, after)["functions"];
  ASSERT_FALSE(functions.empty());
  for (const json& function : functions) EXPECT_EQ(function.value("cause", ""), "") << function;
}

TEST_F(CompareBuilds, names_the_other_name_of_a_function) {
  const auto source = [](const char* name) {
    return fmt::format(
        "__attribute__((noinline)) unsigned {0}(unsigned x) {{\n"
        "  for (unsigned i = 0; i < 1234; i++) x = x * 1103515245 + i;\n  return x;\n}}\n"
        "int main(void) {{\n  return {0}(1) == 0;\n}}\n",
        name);
  };
  const std::string before = profile("old", source("parse")), after = profile("new", source("readit"));
  std::map<std::string, std::string> causes;
  const json comparison = compared(before, after);
  for (const json& function : comparison["functions"]) causes[function["function"]] = function.value("cause", "");
  EXPECT_EQ(causes["parse"], "now readit");
  EXPECT_EQ(causes["readit"], "was parse");
}

// One of two static functions of a name is in another source file; a library is replaced, with the functions that the
// compiler adds to each file; a function moves to a library.
TEST_F(CompareBuilds, names_the_other_file_of_a_function_only_if_it_is_the_same) {
  const auto causes = [&](const char* old_sources, const char* new_sources) {
    for (const std::string side : {"old", "new"}) {
      const Finished built =
          Running({"/bin/sh", "-c",
                   fmt::format("cd {0} && rm -f *.c *.so && {1} && gcc -O1 -g -shared -fPIC -o $l.so "
                               "$l.c && gcc -O1 -g -o prog $m {0}/$l.so",
                               path(side), side == "old" ? old_sources : new_sources)})
              .finish();
      EXPECT_EQ(built.code(), 0) << built.err;
      tally({"profile", "-q", "--repeatable", "-e", "instructions", "-o", path(side) + ".json", "--",
             path(side) + "/prog"});
    }
    std::map<std::string, std::string> all;
    const json comparison = compared(path("old.json"), path("new.json"));
    for (const json& one : comparison["functions"])
      if (const std::string cause = one.value("cause", ""); !cause.empty())
        all[one["function"].get<std::string>() + (one["before"] == 0 ? " after" : "")] = cause;
    return all;
  };
  const std::string write =
      "w() { echo \"__attribute__((noinline)) static int h(int x) { for (int i = 0; i < $2; i++) x = x * 7 + i; return "
      "x; "
      "} int f$2(int x) { return h(x); }\" > $1; }; "
      "z() { echo \"int $1(int x) { for (int i = 0; i < $2; i++) x = x * 5 + i; return x; }\" > $3; }; ";
  const std::string uses =
      "echo 'int f50(int), f60(int), zone(int); int main(int c, char** v) { return f50(c) + f60(c) + "
      "zone(c) == 9; }' > main.c; ";
  auto found =
      causes((write + uses + "w a.c 50; w b.c 60; z zone 70 libone.c; l=libone; m='main.c a.c b.c'").c_str(),
             (write + uses + "w a.c 50; w x2.c 60; z zone 99 libtwo.c; l=libtwo; m='main.c a.c x2.c'").c_str());
  EXPECT_EQ(found["_init"], "only before");
  EXPECT_EQ(found["_init after"], "only after");
  EXPECT_EQ(found["zone"], "now in libtwo.so");
  EXPECT_EQ(found["register_tm_clones"], "only before");
  EXPECT_EQ(found["h"], "now in x2.c");
  EXPECT_EQ(found["h after"], "was in b.c");
  found = causes(
      (write + uses + "w a.c 50; w b.c 60; z none 1 libone.c; z zone 70 z.c; l=libone; m='main.c a.c b.c z.c'").c_str(),
      (write + uses + "w a.c 50; w b.c 60; z zone 70 libone.c; l=libone; m='main.c a.c b.c'").c_str());
  EXPECT_EQ(found["zone"], "now in libone.so");
  EXPECT_EQ(found["zone after"], "was in prog");
}

// The profiles of a program with threads do not decide; the command that they name does.
TEST_F(CompareBuilds, names_the_command_that_decides_a_function_of_threads) {
  const auto source = [](int steps) {
    return fmt::format(
        "#include <pthread.h>\n"
        "__attribute__((noinline)) unsigned work(unsigned x) {{\n"
        "  for (unsigned i = 0; i < {}; i++) x = x * 1103515245 + i;\n  return x;\n}}\n"
        "static void* run(void* n) {{ return (void*)(unsigned long)work((unsigned)(unsigned long)n); }}\n"
        "int main(void) {{\n  pthread_t t;\n  pthread_create(&t, 0, run, 0);\n  pthread_join(t, 0);\n}}\n",
        steps);
  };
  const std::string before = profile("old", source(10000), "-pthread"),
                    after = profile("new", source(10300), "-pthread");
  const std::string table = tally({"compare", before, after}).out;
  const std::string command = "tally stat --repeatable -r 5 -e instructions --function work";
  EXPECT_TRUE(holds(table, command)) << table;
  std::string files[2];
  for (const std::string side : {"old", "new"}) {
    files[side == "new"] = path(side) + "-runs.json";
    tally({"stat", "--repeatable", "-r", "5", "-e", "instructions", "--function", "work", "-o", files[side == "new"],
           "--", path(side) + "/prog"});
  }
  EXPECT_EQ(tally({"compare", files[0], files[1], "--fail-above", "instructions@work=2%"}).code(), 1);
  EXPECT_EQ(tally({"compare", files[0], files[1], "--fail-above", "instructions@work=4%"}).code(), 0);
}

}  // namespace
}  // namespace tally::test
