// Tests daemons: how they are identified and ended, and how they report errors.
#include "programs/linux/daemon.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <string>

#include "tally/linux/files/files.hpp"
#include "tally/linux/files/memory_file.hpp"
#include "tally/linux/process/process_watch.hpp"

namespace tally::linux {
namespace {

// A flag that is shared with the daemons.
class Flag {
 public:
  Flag() : mapping_(map_shared(make_memory_file("flag", 4096).value().get(), 0, 4096).value()) {}
  volatile std::uint8_t& operator*() const { return *mapping_.data(); }

 private:
  Mapping mapping_;
};

Result<void> until_asked(Staying& staying) {
  staying.ready();
  while (!staying.asked_to_end(-1)) {
  }
  return {};
}

TEST(Staying, runs_until_it_is_asked_to_end) {
  for (const int signal : {SIGTERM, SIGINT, SIGHUP, SIGQUIT}) {
    const Flag tidied_up;
    const auto number = start_daemon("tally-test", [&](Staying& staying) {
      auto lived = until_asked(staying);
      *tidied_up = 1;
      return lived;
    });
    ASSERT_TRUE(number) << number.error().message;
    const ProcessIdentity identity = identity_of(*number);
    EXPECT_TRUE(lives(identity));
    EXPECT_FALSE(lives({identity.number, identity.started + 1})) << "another process of its number";
    EXPECT_EQ(getsid(*number), *number) << "a session of its own";
    EXPECT_EQ(content("/proc/" + std::to_string(*number) + "/comm"), "tally-test");
    EXPECT_EQ(waitpid(*number, nullptr, WNOHANG), -1) << "it is nobody's child here";
    if (signal == SIGTERM) {
      EXPECT_TRUE(end_and_wait(identity));
    } else {
      ProcessWatch living({*number}, {});
      kill(*number, signal);
      while (living.any()) living.wait(-1, -1);
    }
    EXPECT_FALSE(lives(identity));
    EXPECT_EQ(*tidied_up, 1) << signal;
  }
}

TEST(Staying, has_no_open_file_of_its_creator) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const auto number = start_daemon("tally-test", until_asked);
  ASSERT_TRUE(number);
  close(ends[1]);
  char letter;
  EXPECT_EQ(read(ends[0], &letter, 1), 0) << "the other end is open nowhere";
  close(ends[0]);
  EXPECT_TRUE(end_and_wait(identity_of(*number)));
}

TEST(Staying, reports_why_it_did_not_begin) {
  const auto failed = start_daemon(
      "tally-test", [](Staying&) -> Result<void> { return fail(Code::cannot_measure, "no counter", "buy one"); });
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().message, "no counter");
  EXPECT_EQ(failed.error().hint, "buy one");
  const auto killed = start_daemon("tally-test", [](Staying&) -> Result<void> {
    kill(getpid(), SIGKILL);
    return {};
  });
  ASSERT_FALSE(killed);
  EXPECT_EQ(killed.error().message, "the process 'tally-test' ended before it was ready");
}

TEST(Staying, a_daemon_that_has_ended_is_not_signalled) {
  EXPECT_FALSE(lives({}));
  EXPECT_TRUE(end_and_wait({getpid(), 1})) << "another one of this number: nobody is sent a signal";
}

}  // namespace
}  // namespace tally::linux
