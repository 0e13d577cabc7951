// The torture program natively and under the engine, with much room for translated code and with little, and with a
// machine model, where each number is also the plain models': see torture.cpp.
#include <cstdlib>

#include "tests/engine/expect.hpp"

namespace tally::engine_test {
namespace {

struct TortureRun {
  const char* way;
  int cache_limit;
  bool models = false;
};

std::string name_of(const TortureRun& one) {
  return std::string(one.way) + (one.cache_limit != 0 ? "_small_cache" : "") + (one.models ? "_models" : "");
}
std::ostream& operator<<(std::ostream& stream, const TortureRun& one) { return stream << name_of(one); }

constexpr int torture_runs = 6;

/// While it lives, runs under the engine use a machine model: see run.cpp.
class WithModel {
 public:
  explicit WithModel(bool wanted) : wanted_(wanted && std::getenv(name) == nullptr) {
    if (wanted_) setenv(name, "haswell", 1);
  }
  ~WithModel() {
    if (wanted_) unsetenv(name);
  }
  WithModel(const WithModel&) = delete;
  WithModel& operator=(const WithModel&) = delete;

 private:
  static constexpr const char* name = "TALLY_TEST_MODEL";
  bool wanted_;
};

/// The sum of all of them.
int seconds() {
  const char* wanted = std::getenv("TALLY_TORTURE_SECONDS");
  const int given = wanted == nullptr ? 0 : std::atoi(wanted);
  return given > torture_runs ? given : 30;
}

class TortureTest : public testing::TestWithParam<TortureRun> {};

TEST_P(TortureTest, makes_no_difference) {
  Command command;
  command.words = {TORTURE, "1", "1", GetParam().way};
  const Outcome native = run_native(command);
  ASSERT_EQ(native.code, 0) << native.err;
  ASSERT_EQ(native.out, "no difference\n");
  // Another seed each minute.
  const WithModel simulated(GetParam().models);
  const int all = seconds() / torture_runs;
  for (int done = 0; done < all; done += 60) {
    command.words = {TORTURE, std::to_string(std::min(60, all - done)), std::to_string(1 + done), GetParam().way};
    const Counted counted = run_counted(command, 0, GetParam().cache_limit);
    expect_same(counted.outcome, native);
    expect_exact(counted);
  }
}

INSTANTIATE_TEST_SUITE_P(engine, TortureTest,
                         testing::Values(TortureRun{"fork", 0}, TortureRun{"dual", 0}, TortureRun{"fork", 200},
                                         TortureRun{"dual", 200}, TortureRun{"fork", 0, true},
                                         TortureRun{"dual", 200, true}),
                         [](const auto& one) { return name_of(one.param); });

}  // namespace
}  // namespace tally::engine_test
