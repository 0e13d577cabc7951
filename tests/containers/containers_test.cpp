// tally in a container: with the system calls that Docker and Kubernetes allow, as a user without name and home, on a
// file system that cannot be written to, and on kernels that do not have the newest system calls.
#include <gtest/gtest.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include "tests/cli/program.hpp"

namespace tally::test {
namespace {

const std::string profiles = TALLY_PROFILES;
const Words docker = {"--profile", profiles + "/docker.txt"};
const Words old_kubernetes = {"--profile", profiles + "/containerd-1.4.txt"};
// The build may be in a directory of temporary files, or in a home directory.
const Words nobody = {"--read-only", "--keep", TALLY_BUILD, "--user", "65534"};

// Linux 4.14 has statx as its last system call of x86-64.
const Words old_kernel = {"--last-syscall", "332"};

Finished contained(const Words& container, const Words& command) {
  return Running(with(with({TALLY_CONTAIN}, container), command)).finish();
}
Finished tally_in(const Words& container, const Words& arguments) {
  return contained(container, tally_words(arguments));
}

// The trust and reason of the first event of a stat result.
struct Grade {
  std::string trust, reason;
};
Grade grade_in(const Words& container) {
  const Finished finished = tally_in(container, {"stat", "-q", "--backend", "engine", "-e", "instructions", "--format",
                                                 "json", "-o", "-", "--", "sh", "-c", "true; ls /proc/self >&2"});
  EXPECT_EQ(finished.code(), 0) << finished.err;
  const auto document = nlohmann::json::parse(finished.out, nullptr, false);
  if (document.is_discarded() || !document.contains("events")) return {"no result", finished.out + finished.err};
  auto event = document["events"].at(0);
  return {event.value("trust", ""), event["reason"].is_string() ? event["reason"] : ""};
}

class Containers : public testing::Test {
 protected:
  void SetUp() override {
#if !defined(__x86_64__)
    GTEST_SKIP() << "the engine is for x86-64";
#endif
    if (geteuid() != 0) GTEST_SKIP() << "needs root: another user and a read-only root directory";
    const Finished finished = contained(nobody, {"true"});
    if (finished.code() != 0) GTEST_SKIP() << "no container can be made here: " << finished.err;
    if (contained(nobody, {"test", "-x", TALLY_COMMAND}).code() != 0)
      GTEST_SKIP() << "other users cannot execute " TALLY_COMMAND " (umask of the build)";
  }
};

TEST_F(Containers, refuse_what_their_profile_refuses) {
  EXPECT_NE(contained(docker, {"unshare", "-U", "true"}).code(), 0);
  EXPECT_EQ(contained({}, {"unshare", "-U", "true"}).code(), 0);
  EXPECT_NE(contained(nobody, {"touch", "/tmp/file"}).code(), 0);
  EXPECT_EQ(contained(nobody, {"id", "-u"}).out, "65534\n");
}

TEST_F(Containers, of_docker_count_exactly) {
  EXPECT_EQ(grade_in(docker).trust, "exact") << grade_in(docker).reason;
  EXPECT_EQ(grade_in(with(docker, nobody)).trust, "exact") << grade_in(with(docker, nobody)).reason;
}

TEST_F(Containers, of_docker_profile_and_sample) {
  const Finished profile = tally_in(with(docker, nobody), {"profile", "--", "ls", "/"});
  EXPECT_EQ(profile.code(), 0) << profile.err;
  EXPECT_NE((profile.out + profile.err).find("trust: exact"), std::string::npos) << profile.err;
  const Finished sample = tally_in(with(docker, nobody), {"sample", "--every", "10000", "--", "ls", "/"});
  EXPECT_EQ(sample.code(), 0) << sample.err;
  EXPECT_EQ(tally_in(with(docker, nobody), {"doctor"}).err, "");
}

// Without ptrace the engine cannot be put into the program, which then runs natively.
TEST_F(Containers, without_ptrace_name_the_reason) {
  const Grade grade = grade_in(with(old_kubernetes, nobody));
  EXPECT_EQ(grade.trust, "absent");
  EXPECT_NE(grade.reason.find("cannot be traced"), std::string::npos) << grade.reason;
}

TEST_F(Containers, on_old_kernels_count_exactly) {
  EXPECT_EQ(grade_in(old_kernel).trust, "exact") << grade_in(old_kernel).reason;
  EXPECT_EQ(grade_in(with(docker, old_kernel)).trust, "exact") << grade_in(with(docker, old_kernel)).reason;
}

}  // namespace
}  // namespace tally::test
