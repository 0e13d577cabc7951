// `--event-table`: names of events from a file.
#include <gtest/gtest.h>

#include "tests/cli/program.hpp"

namespace tally::test {
namespace {

constexpr const char* table = R"([{"EventCode": "0xC4", "UMask": "0x00", "EventName": "MADE_UP.BRANCHES",
  "BriefDescription": "branches of a made-up core", "Counter": "0,1,2,3", "Errata": "MU7"}])";

TEST(EventTable, names_are_accepted_by_events_event_and_stat) {
  const TemporaryFile file("made-up.json", table);
  const Finished events = tally({"events", "--event-table", file.path(), "MADE_UP"});
  EXPECT_EQ(events.code(), 0) << events.err;
  EXPECT_TRUE(holds(events.out, "Events of the table given with --event-table:")) << events.out;
  EXPECT_TRUE(holds(events.out, "branches of a made-up core")) << events.out;
  const Finished event = tally({"event", "--event-table", file.path(), "made_up.branches"});
  EXPECT_EQ(event.code(), 0) << event.err;
  EXPECT_TRUE(holds(event.out, "branches of a made-up core")) << event.out;
  EXPECT_TRUE(holds(event.out, "config 0xc4")) << event.out;
  EXPECT_TRUE(holds(event.out, "errata: MU7")) << event.out;
  EXPECT_TRUE(holds(event.out, "(the vendor's)")) << event.out;
  EXPECT_EQ(tally({"event", "MADE_UP.BRANCHES"}).code(), 2);
  EXPECT_EQ(tally({"event", "--event-table", "/nonexistent", "MADE_UP.BRANCHES"}).code(), 2);
#if TALLY_HAS_ENGINE
  // The code is Intel's code of branches: the engine counts them, and says so.
  const Finished stat =
      tally({"stat", "-q", "--event-table", file.path(), "-e", "MADE_UP.BRANCHES,branches", "--", "true"});
  EXPECT_EQ(stat.code(), 0) << stat.err;
  EXPECT_TRUE(holds(stat.err, "MADE_UP.BRANCHES:u")) << stat.err;
#endif
}

TEST(EventTable, can_come_from_discover) {
  const TemporaryFile file("found.json");
  const Finished found = tally({"discover", "--events", "0x00-0x1f", "--payload", "call", "--table", file.path()});
  if (holds(found.err, "install it")) GTEST_SKIP() << "as is not installed (package binutils)";
  EXPECT_EQ(found.code(), 0) << found.err;
  const Finished events = tally({"events", "--event-table", file.path(), "DISCOVERED.*"});
  EXPECT_EQ(events.code(), 0) << events.err;
  EXPECT_TRUE(holds(events.out, "DISCOVERED.CALLS_17")) << events.out;
  const Finished event = tally({"event", "--event-table", file.path(), "DISCOVERED.CALLS_17"});
  EXPECT_TRUE(holds(event.out, "(discovered)")) << event.out;
  EXPECT_TRUE(holds(event.out, "calls, or returns")) << event.out;
}

}  // namespace
}  // namespace tally::test
