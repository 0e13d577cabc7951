// The torture program natively and under the engine, with room for all translated code and with little: see
// torture.cpp.
#include <cstdlib>

#include "tests/engine/expect.hpp"

namespace tally::engine_test {
namespace {

struct Ordeal {
  const char* way;
  int cache_limit;
};

std::ostream& operator<<(std::ostream& stream, const Ordeal& one) { return stream << one.way << one.cache_limit; }

constexpr int ordeals = 4;

/// Of all of them together.
int seconds() {
  const char* wanted = std::getenv("TALLY_TORTURE_SECONDS");
  const int given = wanted == nullptr ? 0 : std::atoi(wanted);
  return given > ordeals ? given : 30;
}

class TortureTest : public testing::TestWithParam<Ordeal> {};

TEST_P(TortureTest, makes_no_difference) {
  Command command;
  command.words = {TORTURE, "1", "1", GetParam().way};
  const Outcome native = run_native(command);
  ASSERT_EQ(native.code, 0) << native.err;
  ASSERT_EQ(native.out, "no difference\n");
  // Another seed each minute, and none longer: a run that hangs is ended after 100 seconds.
  const int all = seconds() / ordeals;
  for (int done = 0; done < all; done += 60) {
    command.words = {TORTURE, std::to_string(std::min(60, all - done)), std::to_string(1 + done), GetParam().way};
    const Counted counted = run_counted(command, 0, GetParam().cache_limit);
    expect_same(counted.outcome, native);
    expect_exact(counted);
  }
}

INSTANTIATE_TEST_SUITE_P(engine, TortureTest,
                         testing::Values(Ordeal{"fork", 0}, Ordeal{"dual", 0}, Ordeal{"fork", 200},
                                         Ordeal{"dual", 200}),
                         [](const auto& one) {
                           return std::string(one.param.way) + (one.param.cache_limit != 0 ? "_small_cache" : "");
                         });

}  // namespace
}  // namespace tally::engine_test
