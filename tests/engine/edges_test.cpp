// Conflicts between an engine and a program: see libc/edges.cpp.
#include "tests/engine/expect.hpp"

namespace tally::engine_test {
namespace {

struct Edge {
  const char* name;
  bool exact = true;
  std::uint64_t at_least = 1000;  // instructions
};

std::ostream& operator<<(std::ostream& stream, const Edge& edge) { return stream << edge.name; }

class EdgeTest : public testing::TestWithParam<Edge> {};

TEST_P(EdgeTest, is_as_natively) {
  for (const char* kind : {"dynamic", "static"}) {
    SCOPED_TRACE(kind);
    Command command;
    command.words = {std::string(LIBC_PROGRAMS) + "/edges_" + kind, GetParam().name};
    const Outcome native = run_native(command);
    ASSERT_EQ(native.code, 0) << native.err;
    for (const int size : {0, 1}) {
      const Counted counted = run_counted(command, size);
      expect_same(counted.outcome, native);
      EXPECT_EQ(counted.exact, GetParam().exact) << counted.problem;
      EXPECT_GE(counted.counts.instructions, GetParam().at_least);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    engine, EdgeTest,
    testing::Values(Edge{"killed_at_birth"}, Edge{"traces_own_threads"}, Edge{"asks_to_be_traced", false},
                    Edge{"masks"}, Edge{"descriptors"}, Edge{"failed_exec", true, 30000000}, Edge{"gs_base", false},
                    Edge{"moved_code"}, Edge{"breakpoints"}, Edge{"confined", false}, Edge{"trusted_less"},
                    Edge{"trusted_less_later"}, Edge{"descriptors_above_limit"}, Edge{"truncated"}, Edge{"read_code"},
                    Edge{"stays_small"}, Edge{"forks_while_asking"}, Edge{"stops_mapping_threads"}),
    [](const auto& one) { return std::string(one.param.name); });

}  // namespace
}  // namespace tally::engine_test
