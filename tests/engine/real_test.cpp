// Programs that were not written for tally: they behave as natively, and single-threaded ones repeat their counts
// exactly.
#include <unistd.h>

#include <filesystem>

#include "tests/engine/expect.hpp"

namespace tally::engine_test {
namespace {

/// IN is replaced by the path of a text file, DIR by a directory of the test's own, which is emptied before each run.
struct RealCase {
  const char* name;
  std::vector<std::string> words;
  std::string input = {};
  int code = 0;
  bool repeats = true;                  ///< one thread, and nothing of it depends on a pid
  std::string produces = {};            ///< a file in DIR that must be the same as natively
  std::vector<std::string> needs = {};  ///< programs that a script starts
  bool reads_clock = false;             ///< just after a full second the vdso executes five instructions more
  bool reads_memory = false;            ///< it takes another path if three quarters of the memory are free
  bool killed = false;                  ///< SIGKILL leaves no time to finish a count
};

std::ostream& operator<<(std::ostream& stream, const RealCase& one) { return stream << one.name; }

/// A text that compresses and sorts like text, the same every time.
std::string text(size_t bytes) {
  static const char* const words[] = {"count", "branch", "load",  "store",  "taken",  "the",  "of",     "a",
                                      "quick", "page",   "fault", "signal", "thread", "exec", "engine", "kernel"};
  std::string result;
  uint64_t state = 42;
  while (result.size() < bytes) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    result += words[state >> 60];
    result += (state >> 40) % 11 == 0 ? std::to_string((state >> 33) % 100000) + "\n" : " ";
  }
  return result;
}

std::string found(const std::string& program) {
  if (program.find('/') != std::string::npos) return program;
  for (const char* directory : {"/usr/bin/", "/bin/", "/usr/local/bin/"}) {
    if (access((directory + program).c_str(), X_OK) == 0) return directory + program;
  }
  return {};
}

void replace(std::string& word, const std::string& what, const std::string& by) {
  for (size_t at = 0; (at = word.find(what, at)) != std::string::npos; at += by.size())
    word.replace(at, what.size(), by);
}

class RealTest : public testing::TestWithParam<RealCase> {
 protected:
  void SetUp() override {
    const RealCase& one = GetParam();
    std::vector<std::string> needs = one.needs;
    needs.push_back(one.words[0]);
    for (const std::string& program : needs) {
      if (found(program).empty()) GTEST_SKIP() << program << " is not installed";
    }
    const std::string in = scratch_.write("text", text(200000));
    work_ = scratch_.file("work");
    command_.words = one.words;
    command_.words[0] = found(one.words[0]);
    for (std::string& word : command_.words) {
      replace(word, "IN", in);
      replace(word, "DIR", work_);
    }
    command_.input = one.input;
  }

  /// An empty directory for each run.
  void prepare() {
    std::filesystem::remove_all(work_);
    std::filesystem::create_directory(work_);
  }

  std::string produced_file() const {
    const std::string& name = GetParam().produces;
    return name.empty() ? "" : read_file(work_ + "/" + name);
  }

  Scratch scratch_;
  std::string work_;
  Command command_;
};

TEST_P(RealTest, behaves_as_natively) {
  prepare();
  const Outcome native = run_native(command_);
  const std::string made = produced_file();
  ASSERT_EQ(native.code, GetParam().code) << native.err;
  ASSERT_EQ(made.empty(), GetParam().produces.empty());

  prepare();
  Counted first = run_counted(command_);
  expect_same(first.outcome, native);
  EXPECT_EQ(produced_file(), made);
  if (!GetParam().killed) expect_exact(first);
  EXPECT_GT(first.counts.instructions, 1000u);
  EXPECT_GT(first.counts.returns, 0u);
  if (!GetParam().repeats) return;

  for (const int size : {0, 3}) {
    SCOPED_TRACE(testing::Message() << "block size " << size);
    Counted again;
    const bool settles = GetParam().reads_clock || GetParam().reads_memory;
    for (int attempt = 0; attempt < (settles ? 4 : 1); ++attempt) {
      prepare();
      again = run_counted(command_, size);
      expect_same(again.outcome, native);
      if (again.counts == first.counts) break;
      if (settles) first = again;
    }
    expect_counts(again.counts, first.counts);
  }
}

const RealCase real_cases[] = {
    {"bzip2", {"bzip2", "-c", "IN"}},
    {"bunzip2", {"sh", "-c", "bzip2 -c IN | bunzip2"}, "", 0, false, "", {"bzip2"}},
    {"gzip", {"gzip", "-nc", "IN"}},
    {.name = "xz_one_thread", .words = {"xz", "-T1", "-c", "IN"}, .reads_clock = true},
    {"xz_two_threads", {"xz", "-T2", "--block-size=50000", "-c", "IN"}, "", 0, false},
    {"sqlite3",
     {"sqlite3", ":memory:"},
     "create table t(a integer, b text);\n"
     "with recursive n(i) as (select 1 union all select i+1 from n where i<2000)\n"
     "insert into t select i*7919%1000, 'row '||i from n;\n"
     "create index x on t(a);\nselect a, count(*), max(b) from t group by a%17 order by 2, 1;\n"},
    {"sqlite3_file", {"sqlite3", "DIR/base"}, "create table t(a);insert into t values(1),(2);select sum(a) from t;\n"},
    {.name = "git_hash", .words = {"git", "hash-object", "IN"}, .reads_clock = true},
    {.name = "git_diff",
     .words = {"git", "diff", "--no-index", "--stat", "/dev/null", "IN"},
     .code = 1,
     .reads_clock = true},
    {"git_commit",
     {"sh", "-c",
      "cd DIR && git init -q . && cp IN file && git add file && GIT_AUTHOR_DATE='@1 +0000' "
      "GIT_COMMITTER_DATE='@1 +0000' "
      "git -c user.name=n -c user.email=e commit -qm m && git log --format=%H"},
     "",
     0,
     false,
     "",
     {"git", "cp"}},
    {"perl", {"perl", "-ne", "$n{$_}++ for split; END { print \"$_ $n{$_}\\n\" for sort keys %n }", "IN"}},
    {"perl_regex", {"perl", "-0777", "-ne", "$c++ while /(\\w+) \\1/g; print $c, \"\\n\"", "IN"}},
    {"sed", {"sed", "-E", "s/(br)(anch)/\\2\\1/g; /fault/d", "IN"}},
    {"awk",
     {"awk", "{ for (i = 1; i <= NF; i++) n[$i]++ } END { for (w in n) print n[w], w | \"sort\" }", "IN"},
     "",
     0,
     false},
    {.name = "awk_alone", .words = {"awk", "{ s += NF; l += length($0) } END { print s, l, sin(1) }", "IN"}},
    {.name = "sort", .words = {"sort", "--parallel=1", "IN"}, .reads_memory = true},
    {.name = "grep", .words = {"grep", "-c", "engine", "IN"}},
    {"python3", {"python3", "-S", "-c", "print(sum(hash((i, i)) & 7 for i in range(5000)))"}, "", 0, false},
    {"tar",
     {"sh", "-c", "cp IN DIR/f && cd DIR && tar -cf - --mtime=@0 --owner=0 --group=0 f"},
     "",
     0,
     false,
     "",
     {"tar"}},
    {"pipeline",
     {"sh", "-c", "cat IN | tr ' ' '\\n' | sort | uniq -c | sort -rn | head -5; (exit 3); echo $?; exec echo done"},
     "",
     0,
     false},
    {"shell_loop", {"sh", "-c", "i=0; while [ $i -lt 300 ]; do i=$((i+1)); done; echo $i"}},
    {"shell_forks", {"sh", "-c", "for i in 1 2 3 4 5 6 7 8; do /bin/true; done; $(echo echo) done"}, "", 0, false},
    {"many_processes",
     {"sh", "-c", "for i in 1 2 3 4 5 6 7 8; do (echo $i > DIR/$i) & done; wait; cat DIR/*"},
     "",
     0,
     false},
    {"make_and_run",
     {"sh", "-c",
      "echo 'int puts(const char*); int main(){return puts(\"made\")<0;}' > DIR/m.c && cd DIR && gcc m.c -o m && ./m"},
     "",
     0,
     false,
     "",
     {"gcc"}},
    {"fault_in_shell", {"sh", "-c", "kill -SEGV $$"}, "", 139, false},
    {"exit_3", {"sh", "-c", "exit 3"}, "", 3},
    {"reads_input", {"cat"}, "a line\nanother\n"},
    {"closes_output", {"sh", "-c", "read x; exec >&- 2>&-; echo $x"}, "a line\n", 1},
    {"environment", {"env"}},
    {"own_name",
     {"sh", "-c", "readlink /proc/self/exe; cat /proc/$$/comm; tr '\\0' ' ' < /proc/$$/cmdline"},
     "",
     0,
     false},
    {"few_descriptors", {"sh", "-c", "ulimit -n 10; exec /bin/true"}, "", 0, true},
    {.name = "dd_large",
     .words = {"dd", "if=IN", "of=DIR/copy", "bs=1000", "status=none"},
     .produces = "copy",
     .reads_clock = true},
    {.name = "timeout_kills",
     .words = {"timeout", "-s", "KILL", "0.2", "sleep", "10"},
     .code = 137,
     .repeats = false,
     .killed = true},
};

INSTANTIATE_TEST_SUITE_P(engine, RealTest, testing::ValuesIn(real_cases),
                         [](const auto& one) { return std::string(one.param.name); });

TEST(NotPrograms, end_with_the_codes_of_a_shell) {
  const Scratch scratch;
  Command command;
  command.words = {scratch.file("nothing")};
  EXPECT_EQ(run_counted(command).outcome.code, 127);
  command.words = {scratch.write("text", "no program\n")};
  EXPECT_EQ(run_counted(command).outcome.code, 126);
  command.words = {scratch.path()};
  EXPECT_EQ(run_counted(command).outcome.code, 126);
}

TEST(Scripts, run_by_their_interpreter) {
  const Scratch scratch;
  Command command;
  command.words = {scratch.write("script", "#!/bin/sh\necho \"$0\" \"$1\"\nexit 6\n"), "argument"};
  std::filesystem::permissions(command.words[0], std::filesystem::perms::owner_all);
  const Outcome native = run_native(command);
  ASSERT_EQ(native.code, 6);
  const Counted counted = run_counted(command);
  expect_same(counted.outcome, native);
  expect_exact(counted);
}

}  // namespace
}  // namespace tally::engine_test
