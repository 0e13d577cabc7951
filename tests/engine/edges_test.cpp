// Conflicts between an engine and a program: see libc/edges.cpp, libc/rights.cpp and libc/x87.cpp.
#include "tests/engine/expect.hpp"

namespace tally::engine_test {
namespace {

struct Edge {
  const char* name;
  bool exact = true;
  std::uint64_t at_least = 1000;  // instructions
  std::string program = "edges";
};

std::ostream& operator<<(std::ostream& stream, const Edge& edge) { return stream << edge.name; }

class EdgeTest : public testing::TestWithParam<Edge> {};

TEST_P(EdgeTest, is_as_natively) {
  for (const char* kind : {"dynamic", "static"}) {
    SCOPED_TRACE(kind);
    Command command;
    command.words = {std::string(LIBC_PROGRAMS) + "/" + GetParam().program + "_" + kind, GetParam().name};
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

INSTANTIATE_TEST_SUITE_P(engine, EdgeTest,
                         testing::Values(Edge{"killed_at_birth"}, Edge{"traces_own_threads"},
                                         Edge{"asks_to_be_traced", false}, Edge{"masks"}, Edge{"descriptors"},
                                         Edge{"failed_exec", true, 30000000}, Edge{"gs_base", false},
                                         Edge{"moved_code"}, Edge{"breakpoints"}, Edge{"confined", false},
                                         Edge{"descriptors_above_limit"}, Edge{"truncated"}, Edge{"read_code"},
                                         Edge{"stays_small"}, Edge{"forks_while_asking"}, Edge{"stops_mapping_threads"},
                                         Edge{"far_branch", false}),
                         [](const auto& one) { return std::string(one.param.name); });

INSTANTIATE_TEST_SUITE_P(x87, EdgeTest, testing::Values(Edge{"pointer", true, 300, "x87"}));

INSTANTIATE_TEST_SUITE_P(rights, EdgeTest,
                         testing::Values(Edge{"trusted_less", true, 1000, "rights"},
                                         Edge{"trusted_less_later", true, 1000, "rights"},
                                         Edge{"trusted_less_by_saved_user", true, 1000, "rights"},
                                         Edge{"trusted_as_before", true, 1000, "rights"}),
                         [](const auto& one) { return std::string(one.param.name); });

}  // namespace
}  // namespace tally::engine_test
