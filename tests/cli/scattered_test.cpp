// Instructions whose accesses depend on several registers, with a machine model: the misses are computed by hand, and
// counted by cache probes in generated code, by the access log of the plain models, and by both at once.
#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>

#if defined __x86_64__
#include <cpuid.h>
#endif

#include "tests/cli/program.hpp"

namespace tally::test {
namespace {

#if TALLY_HAS_ENGINE

using nlohmann::json;

constexpr std::int64_t rounds = 100;

enum class RequiredExtension { nothing, avx2, avx512, avx512bw, xsavec, clzero };

bool has(RequiredExtension needs) {
  unsigned a = 0, b = 0, c = 0, d = 0;
  switch (needs) {
    case RequiredExtension::nothing: return true;
    case RequiredExtension::avx2: return __builtin_cpu_supports("avx2");
    case RequiredExtension::avx512: return __builtin_cpu_supports("avx512f");
    case RequiredExtension::avx512bw: return __builtin_cpu_supports("avx512bw");
    case RequiredExtension::xsavec: return __get_cpuid_count(13, 1, &a, &b, &c, &d) != 0 && (a & 6) == 6;
    case RequiredExtension::clzero: return __get_cpuid(0x80000008, &a, &b, &c, &d) != 0 && (b & 1) != 0;
  }
  return false;
}

struct Instruction {
  const char* name;
  RequiredExtension needs;
  std::int64_t loads, load_misses, stores, store_misses, lines;  ///< in each round
  std::int64_t once = 0;                                         ///< load misses, and lines, in the first round
};

std::ostream& operator<<(std::ostream& out, const Instruction& one) { return out << one.name; }

class Scattered : public testing::TestWithParam<Instruction> {};

TEST_P(Scattered, accesses_miss_what_can_be_counted_by_hand) {
  const Instruction& one = GetParam();
  if (!has(one.needs)) GTEST_SKIP() << "this processor has no " << one.name;
  for (const Words& way : {Words{}, Words{"--models-by", "each"}, Words{"--models-by", "both"}}) {
    SCOPED_TRACE(way.empty() ? "looks" : way.back());
    Words words{
        "stat",     "-q",
        "--model",  "haswell",
        "-e",       "loads,stores,L1-dcache-load-misses,L1-dcache-store-misses,L2-references,L1-icache-load-misses",
        "--format", "json",
        "-o",       "-"};
    words.insert(words.end(), way.begin(), way.end());
    words.insert(words.end(), {"--", std::string(TALLY_BUILD) + "/workload/scattered_" + one.name});
    const Finished finished = tally(words);
    ASSERT_EQ(finished.code(), 0) << finished.err;
    const json parsed = json::parse(finished.out, nullptr, false);
    ASSERT_TRUE(parsed.is_object()) << finished.out;
    std::map<std::string, std::int64_t> values;
    for (const json& event : parsed["events"]) values[event["name"]] = event["value"].get<std::int64_t>();
    EXPECT_EQ(values["loads:u"], rounds * one.loads);
    EXPECT_EQ(values["stores:u"], rounds * one.stores);
    EXPECT_EQ(values["L1-dcache-load-misses:u"], rounds * one.load_misses + one.once);
    EXPECT_EQ(values["L1-dcache-store-misses:u"], rounds * one.store_misses);
    EXPECT_EQ(values["L2-references:u"] - values["L1-icache-load-misses:u"], rounds * one.lines + one.once);
    if (way.size() > 1 && way.back() == "both") {
      EXPECT_NE(parsed["notices"].dump().find("the plain models agree"), std::string::npos) << parsed["notices"];
    }
  }
}

INSTANTIATE_TEST_SUITE_P(cli, Scattered,
                         testing::Values(Instruction{"gather", RequiredExtension::avx2, 7, 7, 0, 0, 7},
                                         Instruction{"gather_k", RequiredExtension::avx512, 4, 4, 0, 0, 4},
                                         Instruction{"scatter", RequiredExtension::avx512, 0, 0, 2, 2, 2},
                                         Instruction{"enter", RequiredExtension::nothing, 3, 1, 5, 1, 2},
                                         Instruction{"xlat", RequiredExtension::nothing, 1, 0, 0, 0, 0, 1},
                                         Instruction{"bits", RequiredExtension::nothing, 1, 1, 1, 0, 1},
                                         Instruction{"maskmov", RequiredExtension::nothing, 1, 1, 1, 1, 2},
                                         Instruction{"vmaskmov", RequiredExtension::avx2, 2, 2, 0, 0, 2},
                                         Instruction{"mask_k", RequiredExtension::avx512bw, 2, 2, 0, 0, 2},
                                         Instruction{"xsave", RequiredExtension::avx2, 0, 0, 1, 2, 8},
                                         Instruction{"xsavec", RequiredExtension::xsavec, 0, 0, 1, 3, 7},
                                         Instruction{"xsavec_zeros", RequiredExtension::xsavec, 1, 0, 1, 3, 7, 1},
                                         Instruction{"xrstor", RequiredExtension::avx2, 1, 2, 0, 0, 2},
                                         Instruction{"clzero", RequiredExtension::clzero, 1, 0, 1, 1, 1}),
                         [](const auto& one) { return std::string(one.param.name); });

TEST(Scattered, accesses_that_no_model_saw_are_reported) {
  const auto notices = [](const std::string& program) {
    return tally({"stat", "--model", "haswell", "-e", "L1-dcache-load-misses", "--",
                  std::string(TALLY_BUILD) + "/workload/" + program})
        .err;
  };
  const std::string far = notices("scattered_far");
  EXPECT_NE(far.find("no model processed 100 instructions with 100 loads and stores"), std::string::npos) << far;
  EXPECT_EQ(notices("scattered_enter").find("no model processed"), std::string::npos);
}

#endif

}  // namespace
}  // namespace tally::test
