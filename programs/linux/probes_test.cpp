// Trials of counters on this machine, and where the kernel refuses them.
#include "programs/linux/probes.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>

#include "tally/linux/perf/refused_perf_testing.hpp"

namespace tally::linux {
namespace {

TEST(Probes, a_seccomp_filter_is_in_the_survey_and_in_every_attempt) {
  EXPECT_EQ(exit_code_of_child([] {
              if (!refuse_perf(EPERM)) return 200;
              const Survey survey = read_counting();
              const Probes probes = try_counting(survey);
              if (survey.seccomp != 2) return 1;
              if (probes.gate_errno != EPERM) return 2;
              if (probes.software.os_errno != EPERM || probes.software_user.os_errno != EPERM) return 3;
              if (probes.cores.empty() || probes.cores.front().os_errno != EPERM) return 4;
              return probes.trace_errno == 0 && probes.memory_file_errno == 0 ? 0 : 5;
            }),
            0);
}

TEST(Probes, this_machine_answers_the_same_twice) {
  const Survey survey = read_counting();
  EXPECT_EQ(survey, read_counting());
  const Probes one = try_counting(survey);
  const Probes two = try_counting(survey);
  EXPECT_EQ(one.gate_errno, two.gate_errno);
  EXPECT_EQ(one.software.os_errno, two.software.os_errno);
  ASSERT_EQ(one.cores.size(), std::max<std::size_t>(survey.core_pmus.size(), 1));
  EXPECT_EQ(one.cores.front().os_errno, two.cores.front().os_errno);
  // The values may differ: other programs may use the processor at any moment.
  EXPECT_EQ(one.time_stamp_hertz.has_value(), two.time_stamp_hertz.has_value());
}

}  // namespace
}  // namespace tally::linux
