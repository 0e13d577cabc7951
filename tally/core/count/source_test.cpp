#include "tally/core/count/source.hpp"

#include <gtest/gtest.h>

namespace tally {
namespace {

TEST(CountSource, reads_its_own_text) {
  for (const char* text : {"", "engine", "single-stepper", "perf_event", "wait4", "clock", "tsc", "cpu",
                           "cpu_atom, cpu_core", "engine, wait4", "cpu, wait4", "wait4, cpu"})
    EXPECT_EQ(parse_source(text).text(), text);
  EXPECT_EQ(parse_source("perf_event"), Source::kernel);
  EXPECT_EQ(parse_source(""), Source::none);
  EXPECT_EQ(parse_source("armv8_pmuv3"), CountSource::pmu("armv8_pmuv3"));
  EXPECT_EQ(parse_source("cpu_atom, cpu_core"), Source::pmu);
  EXPECT_EQ(parse_source("engine, wait4"), Source::several);
}

TEST(CountSource, of_a_sum_names_both) {
  EXPECT_EQ(combined(Source::kernel, Source::kernel), CountSource(Source::kernel));
  EXPECT_EQ(combined(Source::none, Source::engine), CountSource(Source::engine));
  EXPECT_EQ(combined(Source::engine, Source::none), CountSource(Source::engine));
  EXPECT_EQ(combined(Source::engine, Source::wait4), parse_source("engine, wait4"));
  EXPECT_EQ(combined(CountSource::pmu("cpu_atom"), CountSource::pmu("cpu_core")), parse_source("cpu_atom, cpu_core"));
  EXPECT_EQ(combined(CountSource::pmu("cpu"), Source::wait4), parse_source("cpu, wait4"));
}

}  // namespace
}  // namespace tally
