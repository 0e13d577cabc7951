// Core files: each thread has the program's registers.
#include <elf.h>
#include <sys/procfs.h>
#include <sys/resource.h>
#include <sys/user.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <sstream>

#include "tests/engine/expect.hpp"

namespace tally::engine_test {
namespace {

namespace fs = std::filesystem;

struct ThreadInCore : user_regs_struct {
  std::uint64_t xmm9;
};

/// The registers of each thread in a core file.
std::vector<ThreadInCore> threads_of(const std::string& core) {
  std::vector<ThreadInCore> threads;
  const std::string text = read_file(core);
  Elf64_Ehdr head{};
  if (text.size() < sizeof head) return threads;
  std::memcpy(&head, text.data(), sizeof head);
  for (unsigned i = 0; i < head.e_phnum; ++i) {
    Elf64_Phdr segment{};
    std::memcpy(&segment, text.data() + head.e_phoff + i * sizeof segment, sizeof segment);
    if (segment.p_type != PT_NOTE) continue;
    const auto padded = [](std::size_t n) { return (n + 3) & ~std::size_t{3}; };
    for (std::size_t at = segment.p_offset, end = at + segment.p_filesz; at + sizeof(Elf64_Nhdr) <= end;) {
      Elf64_Nhdr note{};
      std::memcpy(&note, text.data() + at, sizeof note);
      at += sizeof note + padded(note.n_namesz);
      if (note.n_type == NT_PRSTATUS) {
        prstatus_t status{};
        std::memcpy(&status, text.data() + at, sizeof status);
        std::memcpy(static_cast<user_regs_struct*>(&threads.emplace_back()), &status.pr_reg, sizeof(user_regs_struct));
      }
      if (note.n_type == NT_PRFPREG && !threads.empty()) {
        user_fpregs_struct vectors{};
        std::memcpy(&vectors, text.data() + at, sizeof vectors);
        std::memcpy(&threads.back().xmm9, &vectors.xmm_space[9 * 4], sizeof threads.back().xmm9);
      }
      at += padded(note.n_descsz);
    }
  }
  return threads;
}

struct Crash {
  const char* name;
  std::vector<std::string> arguments;
};

class CoreFileTest : public testing::TestWithParam<Crash> {
 protected:
  void SetUp() override {
    if (read_file("/proc/sys/kernel/core_pattern") != "core\n")
      GTEST_SKIP() << "core files are not written where the process is (kernel.core_pattern)";
    getrlimit(RLIMIT_CORE, &before_);
    if (before_.rlim_max != RLIM_INFINITY) GTEST_SKIP() << "core files are limited (ulimit -Hc)";
    const rlimit all{RLIM_INFINITY, RLIM_INFINITY};
    setrlimit(RLIMIT_CORE, &all);
  }
  void TearDown() override { setrlimit(RLIMIT_CORE, &before_); }

  /// The core file of the run in this folder.
  std::string core() const {
    for (const auto& entry : fs::directory_iterator(scratch_.path())) {
      if (entry.path().filename().string().starts_with("core")) return entry.path();
    }
    return {};
  }

  Scratch scratch_;
  rlimit before_{};
};

TEST_P(CoreFileTest, shows_each_thread_where_the_program_is) {
  for (const char* kind : {"dynamic", "static"}) {
    SCOPED_TRACE(kind);
    Command command;
    command.words = {std::string(LIBC_PROGRAMS) + "/crashes_" + kind};
    command.words.insert(command.words.end(), GetParam().arguments.begin(), GetParam().arguments.end());
    command.directory = scratch_.path();
    const Counted counted = run_counted(command);
    EXPECT_EQ(counted.outcome.code, 128 + 4);
    EXPECT_TRUE(counted.exact) << counted.problem;
    std::uint64_t run_begin = 0, run_end = 0, wait_begin = 0, wait_end = 0, die_here = 0;
    std::istringstream(counted.outcome.out) >> std::hex >> run_begin >> run_end >> wait_begin >> wait_end >> die_here;
    ASSERT_NE(die_here, 0u) << counted.outcome.out << counted.outcome.err;
    const auto threads = threads_of(core());
    ASSERT_EQ(threads.size(), 3u);
    EXPECT_EQ(threads[0].rip, die_here);
    EXPECT_EQ(threads[0].r13, 0x3333333333333333u);
    EXPECT_EQ(threads[0].xmm9, threads[0].r13);
    const auto runs =
        std::find_if(threads.begin(), threads.end(), [](const auto& t) { return t.rbx == 0x1111111111111111; });
    ASSERT_NE(runs, threads.end());
    EXPECT_GE(runs->rip, run_begin);
    EXPECT_LT(runs->rip, run_end);
    EXPECT_EQ(runs->xmm9, runs->rbx);
    const auto waits =
        std::find_if(threads.begin(), threads.end(), [](const auto& t) { return t.r12 == 0x2222222222222222; });
    ASSERT_NE(waits, threads.end());
    EXPECT_GE(waits->rip, wait_begin);
    EXPECT_LE(waits->rip, wait_end);
    EXPECT_EQ(waits->xmm9, waits->r12);
    fs::remove(core());
  }
}

INSTANTIATE_TEST_SUITE_P(engine, CoreFileTest,
                         testing::Values(Crash{"of_the_first_thread", {}}, Crash{"of_another", {"thread"}}),
                         [](const auto& one) { return one.param.name; });

}  // namespace
}  // namespace tally::engine_test
