// The torture program natively and under the engine, with much room for translated code and with little, and with a
// machine model, where each number is also the plain models': see torture.cpp.
#include <cstdlib>

#include "tests/engine/expect.hpp"

namespace tally::engine_test {
namespace {

struct Ordeal {
  const char* way;
  int cache_limit;
  bool models = false;
};

std::string name_of(const Ordeal& one) {
  return std::string(one.way) + (one.cache_limit != 0 ? "_small_cache" : "") + (one.models ? "_models" : "");
}
std::ostream& operator<<(std::ostream& stream, const Ordeal& one) { return stream << name_of(one); }

constexpr int ordeals = 6;

/// While it lives, runs under the engine use a machine model: see run.cpp.
class Simulated {
 public:
  explicit Simulated(bool wanted) : wanted_(wanted && std::getenv(name) == nullptr) {
    if (wanted_) setenv(name, "haswell", 1);
  }
  ~Simulated() {
    if (wanted_) unsetenv(name);
  }
  Simulated(const Simulated&) = delete;
  Simulated& operator=(const Simulated&) = delete;

 private:
  static constexpr const char* name = "TALLY_TEST_MODEL";
  bool wanted_;
};

/// The sum of all of them.
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
  const Simulated simulated(GetParam().models);
  const int all = seconds() / ordeals;
  for (int done = 0; done < all; done += 60) {
    command.words = {TORTURE, std::to_string(std::min(60, all - done)), std::to_string(1 + done), GetParam().way};
    const Counted counted = run_counted(command, 0, GetParam().cache_limit);
    expect_same(counted.outcome, native);
    expect_exact(counted);
  }
}

INSTANTIATE_TEST_SUITE_P(engine, TortureTest,
                         testing::Values(Ordeal{"fork", 0}, Ordeal{"dual", 0}, Ordeal{"fork", 200}, Ordeal{"dual", 200},
                                         Ordeal{"fork", 0, true}, Ordeal{"dual", 200, true}),
                         [](const auto& one) { return name_of(one.param); });

}  // namespace
}  // namespace tally::engine_test
