// The programs for which `tally profile` writes its forms read them, and show the same counts.
#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <sstream>

#include "tests/cli/stacks.hpp"

namespace tally::test {
namespace {

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

class ProfileReaders : public testing::Test {
 protected:
  void SetUp() override {
#if !TALLY_HAS_ENGINE
    GTEST_SKIP() << "the engine is for x86-64";
#endif
  }
  /// `-o` selects the form.
  static Finished write(const std::string& file, const Words& command, const Words& options = {"--calls"}) {
    return tally(with(with(with({"profile", "-q", "-e", "instructions"}, options), {"-o", file, "--"}), command));
  }
};

/// What speedscope's importer reads from a file: the own and the total weight of each frame.
struct FrameWeight {
  long own = 0, all = 0;
};
std::map<std::string, FrameWeight> read_by_speedscope(const std::string& package, const std::string& file,
                                                      Finished& how) {
  how = Running({"/bin/sh", "-c", std::string("node " SPEEDSCOPE_READER " ") + package + " " + file}).finish();
  std::map<std::string, FrameWeight> frames;
  std::istringstream lines(how.out);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    FrameWeight one;
    std::string name;
    if (words >> one.own >> one.all && std::getline(words >> std::ws, name)) frames[name] = one;
  }
  return frames;
}

TEST_F(ProfileReaders, speedscope) {
  if (shell("command -v node && command -v npm").code() != 0) GTEST_SKIP() << "no node (packages nodejs, npm)";
  const TemporaryFile package("package");
  const std::string folder = package.folder();
  if (shell("cd " + folder + " && timeout 60 npm pack speedscope@1.25.0 >/dev/null 2>&1 && tar xzf speedscope-*.tgz")
          .code() != 0)
    GTEST_SKIP() << "npm cannot install speedscope";
  const FoldedStacks stacks({OVERLOADED});
  for (const char* const name : {"callgrind.out.1", "prog.speedscope.json", "prog.folded", "prog.pb.gz"}) {
    const TemporaryFile file(name);
    ASSERT_EQ(write(file.path(), {OVERLOADED}).code(), 0) << name;
    Finished how;
    const std::map<std::string, FrameWeight> frames = read_by_speedscope(folder + "/package", file.path(), how);
    if (how.code() == 77) GTEST_SKIP() << how.err;
    ASSERT_EQ(how.code(), 0) << name << how.err;
    ASSERT_TRUE(frames.count("main")) << name << "\n" << how.out;
    EXPECT_EQ(frames.at("f(int)").own, 6004) << name;
    EXPECT_EQ(frames.at("f(bool)").own, 1503) << name;
    EXPECT_EQ(frames.at("main").all, stacks.with_callees({"main"})) << name;
  }
  std::filesystem::remove_all(folder + "/package");
  shell("rm -f " + folder + "/speedscope-*.tgz");
}

TEST_F(ProfileReaders, pprof_of_go) {
  if (shell("command -v go && go tool pprof -h 2>&1 | grep -q Produce").code() != 0)
    GTEST_SKIP() << "go tool pprof is not installed (package golang-go)";
  const TemporaryFile file("prog.pb.gz");
  ASSERT_EQ(write(file.path(), {OVERLOADED}).code(), 0);
  const std::string raw = shell("go tool pprof -raw " + file.path()).out;
  const std::size_t types = raw.find("samples/count");
  ASSERT_NE(types, std::string::npos) << raw.substr(0, 500);
  EXPECT_TRUE(has(raw.substr(types, 60), "samples/count instructions/count[dflt]")) << raw.substr(types, 60);
  const std::string top = shell("go tool pprof -top -nodefraction=0 " + file.path()).out;
  EXPECT_TRUE(has(top, "Type: instructions")) << top;
  for (const char* const row : {" f(int)\n", " f(bool)\n"}) EXPECT_TRUE(has(top, row)) << top;
  for (const auto& [function, count] : {std::pair{" f(int)\n", "6004"}, {" f(bool)\n", "1503"}}) {
    const std::size_t end = top.find(function), begin = top.rfind('\n', end);
    EXPECT_TRUE(has(top.substr(begin, end - begin), count)) << top;
  }
  const std::string cycle_of = "go tool pprof -top -cum -nodefraction=0 ";
  ASSERT_EQ(write(file.path(), {STACKED, "cycle"}).code(), 0);
  const FoldedStacks stacks({STACKED, "cycle"});
  const std::string cumulative = shell(cycle_of + file.path()).out;
  for (const char* const name : {"even", "odd"})
    EXPECT_TRUE(has(cumulative, std::to_string(stacks.with_callees({name})) + " ")) << name << "\n" << cumulative;
}

/// What `go build -pgo` expects in a profile of a Go program; and if go is new enough, `go build -pgo` itself.
TEST_F(ProfileReaders, go_pgo) {
  if (shell("command -v go").code() != 0) GTEST_SKIP() << "go is not installed (package golang-go)";
  const TemporaryFile source("main.go", R"(package main

import "fmt"

//go:noinline
func work(n int) int {
	s := 0
	for i := 0; i < n; i++ {
		s += i * i % 7
	}
	return s
}

func main() {
	t := 0
	for i := 0; i < 100; i++ {
		t += work(500)
	}
	fmt.Println(t)
}
)");
  const std::string in = "cd " + source.folder() + " && HOME=" + source.folder() + " GOFLAGS=-mod=mod GO111MODULE=off ";
  if (shell(in + "go build -o prog main.go").code() != 0) GTEST_SKIP() << "go builds nothing here";
  const std::string profile = source.folder() + "/default.pgo";
  ASSERT_EQ(write(profile, {source.folder() + "/prog"}).code(), 0);
  const std::string raw = shell("go tool pprof -raw " + profile).out;
  EXPECT_TRUE(has(raw, "samples/count")) << raw.substr(0, 300);
  // " 12: 0x48f4a0 M=1 main.work main.go:6:0 s=6": the line of a function's beginning.
  EXPECT_TRUE(has(raw, "main.work ")) << raw;
  const std::size_t work = raw.find("main.work ");
  EXPECT_TRUE(has(raw.substr(work, raw.find('\n', work) - work), " s=")) << raw.substr(work, 200);
  const bool has_pgo = shell(in + "go help build | grep -q -- -pgo").code() == 0;
  if (has_pgo) {
    const Finished built = shell(in + "go build -pgo=default.pgo -o again main.go");
    EXPECT_EQ(built.code(), 0) << built.err;
  }
  shell("chmod -R u+w " + source.folder() + "; rm -rf " + source.folder() + "/*/ " + source.folder() + "/prog " +
        profile + " " + source.folder() + "/again " + source.folder() + "/.??*");
  if (!has_pgo) GTEST_SKIP() << "go build has no -pgo before 1.21";
}

/// By line as valgrind writes it; by instruction on request.
TEST_F(ProfileReaders, callgrind_annotate) {
  if (shell("command -v callgrind_annotate").code() != 0)
    GTEST_SKIP() << "callgrind_annotate is not installed (package valgrind)";
  for (const Words& options : {Words{"--calls"}, Words{"--calls", "--asm"}}) {
    const TemporaryFile file("callgrind.out.1");
    ASSERT_EQ(write(file.path(), {OVERLOADED}, options).code(), 0);
    EXPECT_TRUE(
        has(file.content().value_or(""), options.size() == 1 ? "\npositions: line\n" : "\npositions: instr line\n"));
    const Finished read = shell("callgrind_annotate --threshold=100 --show-percs=no " + file.path());
    EXPECT_EQ(read.code(), 0) << read.err;
    EXPECT_TRUE(has(read.out, "6,004  ")) << read.out;
    EXPECT_TRUE(has(read.out, ":f(int)")) << read.out;
    EXPECT_TRUE(has(read.out, "1,503  ")) << read.out;
  }
}

/// With callees included, functions that jump to each other have no more than the program.
TEST_F(ProfileReaders, callgrind_annotate_of_functions_that_jump_to_each_other) {
  if (shell("command -v callgrind_annotate").code() != 0)
    GTEST_SKIP() << "callgrind_annotate is not installed (package valgrind)";
  const TemporaryFile file("callgrind.out.1");
  ASSERT_EQ(write(file.path(), {JUMPING}).code(), 0);
  const Finished read = shell("callgrind_annotate --inclusive=yes --threshold=100 --show-percs=no " + file.path());
  EXPECT_EQ(read.code(), 0) << read.err;
  std::map<std::string, long> counts;  // by the text after the number
  std::istringstream lines(read.out);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string number, name;
    if (!(words >> number >> name)) continue;
    std::erase(number, ',');
    if (number.find_first_not_of("0123456789") == std::string::npos)
      counts[name.substr(name.rfind(':') + 1)] = std::stol(number);
  }
  const long total = counts["PROGRAM"];
  ASSERT_GT(total, 0) << read.out;
  for (const char* const name : {"even", "odd"}) EXPECT_GT(counts[name], total / 2) << read.out;
  for (const auto& [name, count] : counts) EXPECT_LE(count, total) << name;
}

TEST_F(ProfileReaders, cg_annotate) {
  if (shell("command -v cg_annotate").code() != 0) GTEST_SKIP() << "cg_annotate is not installed (package valgrind)";
  const TemporaryFile file("cachegrind.out.1");
  ASSERT_EQ(write(file.path(), {OVERLOADED}, {}).code(), 0);
  const Finished read = shell("cg_annotate --threshold=0 " + file.path());
  EXPECT_EQ(read.code(), 0) << read.err;
  EXPECT_TRUE(has(read.out, "6,004 ")) << read.out;
  EXPECT_TRUE(has(read.out, ":f(bool)")) << read.out;
}

TEST_F(ProfileReaders, llvm_profdata) {
  if (shell("command -v llvm-profdata").code() != 0) GTEST_SKIP() << "llvm-profdata is not installed (package llvm)";
  const TemporaryFile file("prog.afdo");
  ASSERT_EQ(write(file.path(), {OVERLOADED}).code(), 0);
  const Finished read = shell("llvm-profdata show --sample " + file.path());
  EXPECT_EQ(read.code(), 0) << read.err;
  EXPECT_TRUE(has(read.out, "_Z1fi")) << read.out;
  EXPECT_TRUE(has(read.out, "_Z1fb")) << read.out;
}

}  // namespace
}  // namespace tally::test
