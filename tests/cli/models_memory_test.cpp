// Machine models where the address space is limited: events whose model finds no memory are absent with a notice, and
// nothing else changes.
#include <gtest/gtest.h>
#include <sys/resource.h>

#include "tests/cli/modelled.hpp"

namespace tally::test {
namespace {

#if TALLY_HAS_ENGINE

#ifdef __SANITIZE_ADDRESS__
constexpr bool has_shadow = true;
#else
constexpr bool has_shadow = false;
#endif

/// While an object lives, the processes that are started have a limit on their address space.
class AddressSpace {
 public:
  explicit AddressSpace(rlim_t bytes) {
    getrlimit(RLIMIT_AS, &before_);
    const rlimit limit{bytes, before_.rlim_max};
    setrlimit(RLIMIT_AS, &limit);
  }
  ~AddressSpace() { setrlimit(RLIMIT_AS, &before_); }
  AddressSpace(const AddressSpace&) = delete;
  AddressSpace& operator=(const AddressSpace&) = delete;

 private:
  rlimit before_ = {};
};

// 64 GB in lines of 64 bytes need a table of 8 GiB.
TEST(Models, without_memory_for_its_table_only_a_last_level_is_absent) {
  if (has_shadow) GTEST_SKIP() << "the address sanitizer needs more address space than the limit allows";
  const TemporaryFile file("huge.model",
                           "model huge\nl1i size=32K ways=8 line=64\nl1d size=32K ways=8 line=64\n"
                           "l2 size=256K ways=8 line=64\nllc size=64G ways=16 line=64\ncore haswell\n");
  // Independent of which threads run the models: the program's or tally's own.
  for (const auto& [llc, threads] : {std::pair{"shared", "0"}, {"private", "0"}, {"shared", "2"}, {"private", "2"}}) {
    const Words options{"--model",
                        file.path(),
                        "--llc",
                        llc,
                        "--model-threads",
                        threads,
                        "-e",
                        "cache-misses,LLC-loads,cycles,L2-misses,L1-dcache-load-misses,instructions"};
    for (const rlim_t gib : {4, 9}) {
      const AddressSpace limited(gib << 30);
      const Modelled without = run_modelled(options, {workload("stride_64_4096")});
      EXPECT_EQ(without.code, 0);
      EXPECT_EQ(without.values.at("L1-dcache-load-misses:u"), 64) << llc << threads << gib;
      EXPECT_EQ(without.values.at("L2-misses:u"), 65);
      EXPECT_EQ(without.events.at("instructions:u")["trust"], "exact");
      for (const char* name : {"cache-misses:u", "LLC-loads:u", "cycles:u"}) {
        EXPECT_TRUE(without.events.at(name)["value"].is_null()) << name;
        EXPECT_EQ(without.events.at(name)["reason"],
                  "not enough memory for the table of the last level (8.000 GiB; see `ulimit -v`)");
      }
    }
    EXPECT_EQ(run_modelled(options, {workload("stride_64_4096")}).values.at("cache-misses:u"), 65);
  }
}

// The table of a second level of 64 GB. The threads' predictors and the exact counts are not affected.
TEST(Models, counts_of_threads_without_memory_for_their_models_are_partial) {
  if (has_shadow) GTEST_SKIP() << "the address sanitizer needs more address space than the limit allows";
  const TemporaryFile file("large.model",
                           "model large\nl1i size=32K ways=8 line=64\nl1d size=32K ways=8 line=64\n"
                           "l2 size=64G ways=16 line=64\n");
  const Words options{"--model", file.path(), "--model-threads",
                      "1",       "-e",        "L1-dcache-load-misses,L2-misses,branch-misses,instructions"};
  const AddressSpace limited(rlim_t{4} << 30);
  const Modelled without = run_modelled(options, {workload("stride_64_4096")});
  EXPECT_EQ(without.code, 0);
  for (const char* name : {"L1-dcache-load-misses:u", "L2-misses:u"}) {
    EXPECT_EQ(without.events.at(name)["trust"], "partial") << name;
    EXPECT_TRUE(
        holds(without.events.at(name)["reason"], "some threads are missing: not enough memory for their models"))
        << name;
  }
  EXPECT_EQ(without.events.at("branch-misses:u")["trust"], "modelled");
  EXPECT_EQ(without.events.at("instructions:u")["trust"], "exact");
}

TEST(Models, where_the_engine_found_no_memory_modelled_events_are_absent_too) {
  if (has_shadow) GTEST_SKIP() << "the address sanitizer needs more address space than the limit allows";
  const AddressSpace limited(rlim_t{1} << 30);
  const Modelled native =
      run_modelled({"--model", "haswell", "-e", "cache-misses,branch-misses"}, {workload("stride_64_4096")});
  EXPECT_EQ(native.code, 0);
  EXPECT_EQ(native.values.size(), 0U);
  EXPECT_TRUE(holds(native.events.at("cache-misses:u")["reason"], "not enough memory for the engine"));
}

#endif

}  // namespace
}  // namespace tally::test
