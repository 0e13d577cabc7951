// Programs that read the list of their own mappings (libc/own_maps.cpp) see it as it is natively, so they execute the
// same instructions.
#include "tests/engine/expect.hpp"

namespace tally::engine_test {
namespace {

class OwnMapsTest : public testing::TestWithParam<std::tuple<const char*, const char*>> {
 protected:
  static Command command(const std::vector<std::string>& options = {}) {
    Command made;
    const auto& [name, kind] = GetParam();
    made.words = {std::string(LIBC_PROGRAMS) + "/own_maps_" + kind, name};
    made.options = options;
    return made;
  }
};

/// The name of one is the same in every run, and there is one thread.
class SteppedOwnMapsTest : public OwnMapsTest {};

TEST_P(OwnMapsTest, are_as_natively) {
  const Outcome native = run_native(command());
  ASSERT_EQ(native.code, 0) << native.err;
  for (const auto& options : {std::vector<std::string>{}, {"--model", "haswell"}})
    for (const int size : block_sizes()) {
      SCOPED_TRACE(testing::Message() << options.size() << " options, block size " << size);
      const Counted counted = run_counted(command(options), size);
      expect_same(counted.outcome, native);
      expect_exact(counted);
    }
}

TEST_P(SteppedOwnMapsTest, lead_to_the_same_counts) {
  expect_as_stepped(command(), 0, true);
  const Counted plain = run_counted(command()), modelled = run_counted(command({"--model", "haswell"}));
  expect_counts(modelled.counts, plain.counts);
}

const auto name_of = [](const auto& one) { return std::string(std::get<0>(one.param)) + "_" + std::get<1>(one.param); };

INSTANTIATE_TEST_SUITE_P(engine, OwnMapsTest,
                         testing::Combine(testing::Values("moments", "threads", "parts", "names", "sizes", "signals"),
                                          testing::Values("dynamic", "static")),
                         name_of);
INSTANTIATE_TEST_SUITE_P(engine, SteppedOwnMapsTest,
                         testing::Combine(testing::Values("moments", "stack"), testing::Values("dynamic", "static")),
                         name_of);

// A debugger needs the truth.
TEST(OwnMaps, stay_the_engines_for_other_processes) {
  Command command;
  command.words = {"/bin/sh", "-c", "cat /proc/self/maps; echo; cat /proc/$$/maps"};
  const std::string lists = run_counted(command).outcome.out;
  const std::size_t second = lists.find("\n\n");
  ASSERT_NE(second, std::string::npos);
  EXPECT_EQ(lists.substr(0, second).find("tally"), std::string::npos);
  EXPECT_NE(lists.find("tally-engine", second), std::string::npos);
}

}  // namespace
}  // namespace tally::engine_test
