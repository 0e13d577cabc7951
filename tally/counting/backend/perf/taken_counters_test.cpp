#include "tally/counting/backend/perf/taken_counters.hpp"

#include <gtest/gtest.h>

namespace tally::backend::perf {
namespace {

using Kind = linux::PerfRecord::Kind;

struct TakenRecords {
  TakenCounters taken;
  void record(Kind what, std::int32_t process, std::int32_t thread, std::string_view name = "") {
    linux::PerfRecord made;
    made.what = what;
    made.process = process;
    made.thread = thread;
    made.name = name;
    taken.see(made);
  }
};

TEST(TakenCounters, are_noticed_if_an_execution_is_followed_by_an_end) {
  TakenRecords records;
  records.record(Kind::executed, 10, 10, "sh");
  records.record(Kind::mapped, 10, 10);
  records.record(Kind::executed, 10, 10, "sudo");
  EXPECT_EQ(records.taken.why(), "");
  records.record(Kind::ended, 10, 10);
  EXPECT_NE(records.taken.why().find("away from process 10 when it executed 'sudo'"), std::string::npos)
      << records.taken.why();
}

TEST(TakenCounters, are_not_suspected_at_the_end_of_a_program_that_ran) {
  TakenRecords records;
  records.record(Kind::executed, 10, 10, "true");
  records.record(Kind::ended, 11, 11);  // another process
  records.record(Kind::ended, 10, 12);  // another thread, which the execution ended
  records.record(Kind::mapped, 10, 10);
  records.record(Kind::ended, 10, 10);
  EXPECT_EQ(records.taken.why(), "");
}

TEST(TakenCounters, are_not_suspected_if_records_are_lost) {
  TakenRecords records;
  records.record(Kind::executed, 10, 10, "true");
  records.record(Kind::lost, 10, 10);
  records.record(Kind::ended, 10, 10);
  EXPECT_EQ(records.taken.why(), "");
}

}  // namespace
}  // namespace tally::backend::perf
