// Transactions on a processor that supports xbegin and aborts each (RTM_ALWAYS_ABORT): a tracer emulates it.
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>

#include <cerrno>
#include <csignal>
#include <cstring>

#include "tests/engine/expect.hpp"
#include "tests/engine/live.hpp"

namespace tally::engine_test {
namespace {

bool is_xbegin(pid_t program, uint64_t ip, int32_t& displacement, uint64_t& length) {
  uint8_t code[16] = {};
  for (size_t at = 0; at < sizeof code; at += 8) {
    errno = 0;
    const long word = ptrace(PTRACE_PEEKTEXT, program, ip + at, nullptr);
    if (errno != 0) return false;
    std::memcpy(code + at, &word, 8);
  }
  const size_t prefixes = (code[0] & 0xf0) == 0x40 ? 1 : 0;
  if (code[prefixes] != 0xc7 || code[prefixes + 1] != 0xf8) return false;
  std::memcpy(&displacement, code + prefixes + 2, 4);
  length = prefixes + 6;
  return true;
}

/// Emulates the abort of a transaction that has just begun instead of the fault. False if it was another fault.
bool abort_transaction(pid_t program) {
  user_regs_struct registers{};
  int32_t displacement = 0;
  uint64_t length = 0;
  if (ptrace(PTRACE_GETREGS, program, nullptr, &registers) != 0 ||
      !is_xbegin(program, registers.rip, displacement, length))
    return false;
  registers.rip += length + static_cast<uint64_t>(static_cast<int64_t>(displacement));
  registers.rax = 0;
  return ptrace(PTRACE_SETREGS, program, nullptr, &registers) == 0;
}

/// Runs a stopped program to its end on such a processor. Returns how many transactions the tracer aborted: 0 if the
/// processor aborts them itself.
uint64_t run_aborting(pid_t program) {
  if (ptrace(PTRACE_SEIZE, program, nullptr, PTRACE_O_EXITKILL) != 0) return 0;
  kill(program, SIGCONT);
  uint64_t aborted = 0;
  for (int status = 0; waitpid(program, &status, __WALL) == program;) {
    if (!WIFSTOPPED(status)) break;
    const bool is_event = status >> 16 != 0;
    int signal = is_event ? 0 : WSTOPSIG(status);
    if (signal == SIGILL && abort_transaction(program)) {
      signal = 0;
      ++aborted;
    }
    ptrace(PTRACE_CONT, program, nullptr, signal);
  }
  return aborted;
}

struct Aborting {
  Counts counts;
  uint64_t aborted = 0;
};

void run_transactions(const std::string& times, int block_size, Aborting& result) {
  const Scratch scratch;
  Command command;
  command.words = {std::string(LIBC_PROGRAMS) + "/transactions_static", times};
  Live live(tally_words(command, scratch.file("counts"), block_size), command);
  ASSERT_TRUE(live.wait_for("ready\n"));
  result.aborted = run_aborting(child_of(live.pid()));
  EXPECT_TRUE(live.wait_for("aborted 3 times\nfell back " + times + " times\n"));
  EXPECT_EQ(live.end(), 0);
  const Counted counted = read_counts(scratch.file("counts"));
  expect_exact(counted);
  EXPECT_NE(read_file(scratch.file("counts")).find("\"transaction\""), std::string::npos);
  result.counts = counted.counts;
}

TEST(Transactions, fall_back_where_the_processor_aborts_them) {
  for (const int size : {0, 1, 3, reoptimized}) {
    SCOPED_TRACE(testing::Message() << "block size " << size);
    Aborting few, many;
    run_transactions("1000", size, few);
    run_transactions("3000", size, many);
    EXPECT_EQ(many.counts.instructions - few.counts.instructions, 2000u * 6);
    EXPECT_EQ(many.counts.conditional - few.counts.conditional, 2000u);
    EXPECT_EQ(many.counts.taken - few.counts.taken, 2000u);
    EXPECT_EQ(many.counts.direct_jumps, few.counts.direct_jumps);
    if (many.aborted != 0) {
      EXPECT_EQ(many.aborted, 3u + 2 * 3000);
    }
  }
}

}  // namespace
}  // namespace tally::engine_test
