// `tally profile`: names are those of the file that was mapped, whatever file has its path or its addresses later.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "tests/cli/program.hpp"

namespace tally::test {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

/// A program or library with one function of this name that executes 12,015 instructions or more, and a folder for all.
class ProfileIdentity : public testing::Test {
 protected:
  void SetUp() override {
    const char* const base = std::getenv("TMPDIR");
    folder_ = (fs::path(base == nullptr ? "/tmp" : base) / "profile-identity-XXXXXX").string();
    ASSERT_NE(mkdtemp(folder_.data()), nullptr);
    if (shell("cc --version").code() != 0) GTEST_SKIP() << "there is no C compiler";
  }
  void TearDown() override { fs::remove_all(folder_); }

  std::string path(const std::string& name) const { return folder_ + "/" + name; }

  void build(const std::string& name, const std::string& source, const std::string& options = "") {
    std::ofstream(path(name) + ".c") << source;
    const Finished built = shell("cd " + folder_ + " && cc -O1 -g " + options + " -o " + name + " " + name + ".c");
    ASSERT_EQ(built.code(), 0) << built.err;
  }
  void build_program(const std::string& name, const std::string& function, const std::string& options = "") {
    build(name,
          "volatile int s; __attribute__((noinline)) void " + function +
              "(int n) { for (int i = 0; i < n; i++) s = i; }\nint main(void) { " + function + "(3000); return 0; }\n",
          options);
  }

  /// Profiles what a shell does in the folder.
  Json profile(const std::string& command, Words options = {}) {
    const std::string file = path("profile.json");
    Words words{"profile", "-q", "--backend", "engine", "-e", "instructions", "--format", "json", "-o", file};
    words.insert(words.end(), options.begin(), options.end());
    for (const std::string& word : Words{"--", "/bin/sh", "-c", "cd " + folder_ + " && " + command})
      words.push_back(word);
    const Finished finished = tally(words);
    EXPECT_EQ(finished.code(), 0) << finished.err;
    std::ifstream in(file);
    return Json::parse(in, nullptr, false);
  }

  /// The counts of an event in the functions of this name.
  static std::int64_t of(const Json& profile, const std::string& name, std::size_t event = 0) {
    std::int64_t sum = 0;
    for (const Json& function : profile["functions"])
      if (function["name"] == name) sum += function["counts"][event].get<std::int64_t>();
    return sum;
  }

  /// Builds a program `dl` that loads two libraries in turn, which are mapped at the same addresses, and calls
  /// work(1000) or other(1000). `body`: of these functions, with `int n`.
  void build_libraries(const std::string& body, const std::string& handler = "") {
    for (const char* const name : {"work", "other"})
      build(std::string("lib") + name + ".so",
            "volatile int s, data[1 << 20]; volatile int *volatile nowhere;\nvoid " + std::string(name) + "(int n) {" +
                body + "}\n",
            "-shared -fPIC");
    build(
        "dl",
        "#include <dlfcn.h>\n#include <setjmp.h>\n#include <signal.h>\nstatic sigjmp_buf back;\nvoid leave(int n) { "
        "siglongjmp(back, n); }\nint main(void) { " +
            handler +
            " for (int i = 0; i < 6; i++) { void *h = dlopen(i % 2 ? \"./libother.so\" : \"./libwork.so\", RTLD_NOW); "
            "void (*f)(int) = (void (*)(int))dlsym(h, i % 2 ? \"other\" : \"work\"); if (sigsetjmp(back, 1) == 0) "
            "f(1000); dlclose(h); } return 0; }\n",
        "-ldl");
  }

 private:
  std::string folder_;
};

constexpr std::int64_t loop = 12'000;  // of 3,000 rounds at least

TEST_F(ProfileIdentity, of_a_program_that_was_built_again) {
  build_program("one", "alpha");
  build_program("two", "gamma_");
  const Json once = profile("cp one p; ./p; rm p; cp two p");
  EXPECT_GT(of(once, "alpha"), loop);
  EXPECT_EQ(of(once, "gamma_"), 0);
  const Json over = profile("cp one p; ./p; cp two p; ./p");
  EXPECT_GT(of(over, "alpha"), loop);
  EXPECT_EQ(of(over, "gamma_"), of(over, "alpha"));
  const Finished table = tally({"profile", "-q", "--backend", "engine", "-e", "instructions", "--top", "0", "--",
                                "/bin/sh", "-c", "cd " + path("") + " && cp one p; ./p; cp two p; ./p"});
  std::set<std::string> files;  // as the rows of the two functions name them
  std::istringstream lines(table.err);
  for (std::string line; std::getline(lines, line);)
    if (line.find("  alpha ") != std::string::npos || line.find("  gamma_ ") != std::string::npos)
      if (const std::size_t at = line.find(" p ["); at != std::string::npos) files.insert(line.substr(at, 13));
  EXPECT_EQ(files.size(), 2u) << table.err;
  // The same inode number and size, and the same modification time, which a user can set.
  const Json same = profile("cp one p; cp -p p time; ./p; cat two >p; touch -r time p; ./p");
  EXPECT_GT(of(same, "alpha"), loop);
  EXPECT_EQ(of(same, "gamma_"), of(same, "alpha"));
  // No build id.
  build_program("one", "alpha", "-Wl,--build-id=none");
  build_program("two", "gamma", "-Wl,--build-id=none");
  const Json forged = profile("cp one p; ./p; cp two p; ./p");
  EXPECT_GT(of(forged, "alpha"), loop);
  EXPECT_EQ(of(forged, "gamma"), of(forged, "alpha"));
}

TEST_F(ProfileIdentity, of_a_program_that_was_deleted) {
  build_program("one", "alpha");
  EXPECT_GT(of(profile("cp one p; ./p; rm p"), "alpha"), loop);
  EXPECT_GT(of(profile("cp one p; ./p; mv p q; touch q"), "alpha"), loop);
}

TEST_F(ProfileIdentity, of_a_program_in_another_root) {
  if (shell("unshare -m true").code() != 0) GTEST_SKIP() << "mount namespaces take privileges";
  build_program("in", "inside", "-static");
  build_program("out", "outside", "-static");
  const Json root = profile("mkdir -p root/opt opt; cp in root/opt/prog; chroot root /opt/prog");
  EXPECT_GT(of(root, "inside"), loop);
  const Json other = profile(
      "mkdir t1 t2 mp; cp out mp/prog; unshare -m sh -c 'mount -t tmpfs none t1; cp in t1/prog; mount --bind t1 mp; "
      "mp/prog; umount mp; umount t1'");
  EXPECT_GT(of(other, "inside"), loop);
  EXPECT_EQ(of(other, "outside"), 0);
}

TEST_F(ProfileIdentity, keeps_no_file_system_busy) {
  if (shell("unshare -m true").code() != 0) GTEST_SKIP() << "mount namespaces take privileges";
  build_program("one", "alpha");
  const Json made = profile("mkdir m; unshare -m sh -c 'mount -t tmpfs none m && cp one m && m/one && umount m'");
  EXPECT_GT(of(made, "alpha"), loop);
}

/// Libraries that are mapped at the same addresses in turn.
TEST_F(ProfileIdentity, of_calls_into_what_was_mapped_at_the_time) {
  build_libraries("for (int i = 0; i < n; i++) s = i;");
  const Json made = profile("exec ./dl", {"--calls"});
  std::map<std::string, std::int64_t> inclusive;
  for (const Json& call : made["calls"])
    inclusive[made["functions"][call["callee"].get<std::size_t>()]["name"].get<std::string>()] +=
        call["inclusive"][0].get<std::int64_t>();
  EXPECT_EQ(of(made, "work"), of(made, "other"));
  EXPECT_EQ(inclusive["work"], of(made, "work"));
  EXPECT_EQ(inclusive["other"], of(made, "other"));
}

/// The same for the counts of models, whichever threads run the models.
TEST_F(ProfileIdentity, of_misses_in_what_was_mapped_at_the_time) {
  build_libraries("for (int i = 0; i < n; i++) s = data[i * 64];");
  for (const Words& options : {Words{}, Words{"--model-threads", "0"}, Words{"--precision", "full"}}) {
    Words words{"--model", "haswell", "-e", "L1-dcache-load-misses,dTLB-load-misses,branch-misses"};
    words.insert(words.end(), options.begin(), options.end());
    const Json made = profile("exec ./dl", words);
    for (const std::size_t event : {1, 2}) {
      EXPECT_GE(of(made, "work", event), event == 1 ? 2900 : 100);
      EXPECT_NEAR(static_cast<double>(of(made, "work", event)), static_cast<double>(of(made, "other", event)), 100);
    }
    // The branches of both have the same addresses, by which predictors know them.
    EXPECT_EQ(of(made, "work", 3), 0);
    EXPECT_EQ(of(made, "other", 3), 0);
    EXPECT_GE(made["events"][3]["not_placed"].get<std::int64_t>(), 2);
  }
}

/// The same for cycles, which are computed when the process ends.
TEST_F(ProfileIdentity, of_cycles_in_what_was_mapped_at_the_time) {
  build_libraries("for (int i = 0; i < n; i++) s = i;");
  const Json made = profile("exec ./dl", {"--model", "haswell", "-e", "cycles"});
  ASSERT_EQ(made["events"][1]["name"], "cycles:u");
  EXPECT_GE(of(made, "work", 1), 3000);
  EXPECT_NEAR(static_cast<double>(of(made, "work", 1)), static_cast<double>(of(made, "other", 1)), 300);
}

/// The same for corrections: a fault in the middle of a block, after which the rest of it is not executed.
TEST_F(ProfileIdentity, of_faults_in_what_was_mapped_at_the_time) {
  build_libraries("s = n; *nowhere = 1; s = 2; s = 3; s = 4; s = 5; s = 6;", "signal(SIGSEGV, leave);");
  const Json made = profile("exec ./dl");
  EXPECT_EQ(of(made, "work"), of(made, "other"));
  EXPECT_GT(of(made, "work"), 0);
}

/// Code that is copied to anonymous memory at its own addresses, as for huge pages.
TEST_F(ProfileIdentity, of_code_that_was_moved_to_other_memory) {
  build("moved", R"(
#define _GNU_SOURCE
#include <string.h>
#include <sys/mman.h>
volatile int s;
__attribute__((noinline, section("moved"), aligned(4096))) void work(int n) { for (int i = 0; i < n; i++) s = i; }
__attribute__((noinline, section("moved"))) void behind(void) { s = 1; }
__attribute__((section("stays"), aligned(4096), noinline)) static void move(int changes) {
  char *const from = (char *)((unsigned long)work & ~4095ul);
  char *const to = mmap(0, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  memcpy(to, from, 4096);
  if (changes) to[4000] ^= 1;
  mremap(to, 4096, 4096, MREMAP_MAYMOVE | MREMAP_FIXED, from);
}
int main(int count, char **arguments) {
  work(10);
  move(count > 1);
  work(3000);
  behind();
  return 0;
}
)");
  const Json same = profile("exec ./moved");
  EXPECT_GT(of(same, "work"), loop);
  const Json changed = profile("exec ./moved changes");
  EXPECT_LT(of(changed, "work"), 100);
  EXPECT_NE(changed.dump().find("replaced the code of"), std::string::npos);
}

/// Rows of linkage table entries are by function.
TEST_F(ProfileIdentity, of_entries_of_linked_functions) {
  build("linked",
        "#include <stdlib.h>\nint main(void) { int n = 0; for (int i = 0; i < 100; i++) n += abs(atoi(\"1\")) + "
        "rand(); return n == 1; }\n",
        "-Wl,-z,lazy");
  const Json made = profile("exec ./linked");
  EXPECT_GE(of(made, "rand@plt"), 100);
}

TEST_F(ProfileIdentity, of_files_with_debug_information_of_their_own) {
  const std::string source =
      "static inline __attribute__((always_inline)) unsigned mix(unsigned x) { x ^= x << 13; x ^= x >> 17; return x ^ "
      "(x "
      "<< 5); }\n__attribute__((noinline)) unsigned work(unsigned n) { unsigned x = 1; for (unsigned i = 0; i < n; "
      "i++) x "
      "= mix(x) + i; return x; }\nint main(void) { return work(1000) == 7; }\n";
  build("plain", source, "-O2");
  build("split", source, "-O2 -gsplit-dwarf");
  const std::int64_t mix = of(profile("exec ./plain", {"--inlines"}), "mix");
  EXPECT_GT(mix, 1000);
  EXPECT_EQ(of(profile("exec ./split", {"--inlines"}), "mix"), mix);
  ASSERT_EQ(shell("rm -f " + path("*.dwo")).code(), 0);
  const Finished table =
      tally({"profile", "-q", "--backend", "engine", "-e", "instructions", "--inlines", "--", path("split")});
  EXPECT_NE(table.err.find("split.dwo: it is missing"), std::string::npos) << table.err;
}

TEST_F(ProfileIdentity, of_files_with_compressed_debug_information) {
  if (shell("objcopy --version").code() != 0) GTEST_SKIP() << "objcopy is not installed";
  const std::string source =
      "static inline __attribute__((always_inline)) unsigned mix(unsigned x) { x ^= x << 13; return x ^ (x << 5); }\n"
      "__attribute__((noinline)) unsigned work(unsigned n) { unsigned x = 1; for (unsigned i = 0; i < n; i++) x = "
      "mix(x) "
      "+ i; return x; }\nint main(void) { return work(1000) == 7; }\n";
  build("plain", source, "-O2");
  const std::int64_t mix = of(profile("exec ./plain", {"--inlines"}), "mix");
  EXPECT_GT(mix, 1000);
  ASSERT_EQ(shell("cd " + path("") + " && objcopy --compress-debug-sections=zlib plain zlib").code(), 0);
  EXPECT_EQ(of(profile("exec ./zlib", {"--inlines"}), "mix"), mix);
  if (shell("cd " + path("") + " && objcopy --compress-debug-sections=zstd plain zstd").code() != 0)
    GTEST_SKIP() << "objcopy does not support zstd";
  const Finished table =
      tally({"profile", "-q", "--backend", "engine", "-e", "instructions", "--inlines", "--", path("zstd")});
  EXPECT_TRUE(table.err.find("mix") != std::string::npos ||
              table.err.find("its debug information is compressed by zstd, which elfutils ") != std::string::npos)
      << table.err;
}

/// Two names at the same address, as a linker makes them, are one function.
TEST_F(ProfileIdentity, reports_names_of_one_function) {
  build("alias",
        "volatile int s;\n__attribute__((noinline)) void first(void) { s = 1; }\nvoid second(void) "
        "__attribute__((alias(\"first\")));\nint main(void) { first(); second(); return 0; }\n");
  const Finished finished =
      tally({"stat", "--backend", "engine", "--function", "second", "--function", "first", "--", path("alias")});
  EXPECT_NE(finished.err.find("'second' and 'first' are names of one address"), std::string::npos) << finished.err;
}

/// Regions by function are also found in the file that is mapped.
TEST_F(ProfileIdentity, of_regions_in_a_program_that_was_built_again) {
  build_program("one", "work");
  build("two",
        "volatile int s; __attribute__((noinline)) void before(void) { s = 1; s = 2; s = 3; s = 4; }\n"
        "__attribute__((noinline)) void work(void) { s = 1; }\n"
        "int main(void) { before(); for (int i = 0; i < 7; i++) work(); return 0; }\n");
  const Finished finished =
      tally({"stat", "-q", "--backend", "engine", "-e", "instructions", "--format", "json", "--function", "work", "--",
             "/bin/sh", "-c", "cd " + path("") + " && cp one p; ./p; rm p; cp two p; ./p"});
  const Json json = Json::parse(finished.err, nullptr, false);
  ASSERT_TRUE(json.is_object()) << finished.err;
  std::vector<std::int64_t> entries;
  for (const Json& process : json["regions"])
    for (const Json& region : process["regions"]) entries.push_back(region["entries"].get<std::int64_t>());
  EXPECT_EQ(entries, (std::vector<std::int64_t>{1, 7})) << finished.err;
}

}  // namespace
}  // namespace tally::test
