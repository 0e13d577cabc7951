#include "tally/engine/machines/machine_model.hpp"

#include <gtest/gtest.h>

#include <fstream>

#include "tally/engine/machines/shipped_models.hpp"

namespace tally::machines {
namespace {

TEST(Haswell, IsTheArticlesXeon) {
  const auto machine = named("haswell", "/");
  ASSERT_TRUE(machine) << machine.error().message;
  EXPECT_EQ(machine->name, "haswell");
  EXPECT_EQ(geometry_text(machine->caches.l1d), "32 KiB 8-way");
  EXPECT_EQ(geometry_text(machine->caches.l2), "256 KiB 8-way");
  EXPECT_EQ(geometry_text(machine->caches.llc), "10 MiB 20-way");
  EXPECT_TRUE(machine->caches.llc.inclusive);
  EXPECT_EQ(machine->tlbs.dtlb.sets * machine->tlbs.dtlb.ways, 64U);
  EXPECT_EQ(machine->tlbs.stlb.line_bits, 12);
  EXPECT_EQ(machine->latencies.mispredict, 22) << "of its core";
}

TEST(Models, AllShippedModelsAreCompleteAndHaveASource) {
  for (const ShippedModel& model : shipped) {
    const auto machine = named(model.name, "/");
    ASSERT_TRUE(machine) << machine.error().message;
    EXPECT_EQ(machine->name, model.name);
    EXPECT_FALSE(machine->sources.empty());
    EXPECT_FALSE(machine->title.empty());
    EXPECT_NE(core_named(machine->core), nullptr);
    EXPECT_EQ(machine->shipped, model.name);
    auto again = parse(text_of(*machine), "again");
    EXPECT_EQ(again->shipped, "") << "a file is no shipped model";
    again->shipped = model.name;
    EXPECT_EQ(*again, *machine) << "parse() reads what text_of() writes";
  }
  EXPECT_EQ(names().front(), "host");
}

TEST(Models, AnUnknownNameListsTheExistingOnes) {
  const auto machine = named("hasswell", "/");
  ASSERT_FALSE(machine);
  EXPECT_EQ(machine.error().code, Code::bad_usage);
  EXPECT_NE(machine.error().hint.find("host, haswell"), std::string::npos);
}

TEST(Models, AFileIsRead) {
  const std::string path = ::testing::TempDir() + "mine.model";
  std::ofstream(path) << "model mine\nl1d size=48K ways=12\n";
  const auto machine = from_file(path);
  ASSERT_TRUE(machine) << machine.error().message;
  EXPECT_EQ(geometry_text(machine->caches.l1d), "48 KiB 12-way");
  EXPECT_EQ(machine->caches.l2.sets, 0U);

  for (const std::string& missing : {path + ".missing", ::testing::TempDir()}) {
    const auto error = from_file(missing);
    ASSERT_FALSE(error);
    EXPECT_NE(error.error().message.find(missing), std::string::npos);
    EXPECT_NE(error.error().os_errno, 0);
  }
}

TEST(Parse, EverySetting) {
  const auto machine = parse(R"(
model small   # a comment
title A small one
source a
source b
l1i size=4K  ways=4 line=128
l1d size=12K ways=3 line=128 replacement=plru write-allocate=no
llc size=1M  ways=16 line=128 inclusive=yes replacement=lru
dtlb entries=12 ways=3 page=2M
prefetch streamer
core haswell
latency llc=40 mispredict=20
line-time llc=3
)",
                             "text");
  ASSERT_TRUE(machine) << machine.error().message << machine.error().hint;
  EXPECT_EQ(machine->title, "A small one");
  EXPECT_EQ(machine->sources, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(machine->caches.l1d, (models::CacheShape{.sets = 32,
                                                     .ways = 3,
                                                     .line_bits = 7,
                                                     .replacement = models::Replacement::tree_plru,
                                                     .write_allocate = false}));
  EXPECT_EQ(machine->caches.llc.sets, 512U);
  EXPECT_TRUE(machine->caches.llc.inclusive);
  EXPECT_EQ(machine->tlbs.dtlb, (models::CacheShape{.sets = 4, .ways = 3, .line_bits = 21}));
  EXPECT_EQ(machine->caches.prefetch, (models::PrefetchShape{.streamer = true}));
  EXPECT_EQ(machine->latencies, (models::Latencies{.llc = 40, .llc_line = 3, .mispredict = 20}));
  EXPECT_EQ(*parse(text_of(*machine), "again"), *machine);
}

TEST(Parse, AMispredictionCostsWhatTheCoreLosesUnlessItIsGiven) {
  const auto cost = [](const std::string& lines) {
    return parse("model m\nl1d size=48K ways=12\n" + lines, "text")->latencies.mispredict;
  };
  EXPECT_EQ(cost("latency l2=12\ncore zen4\n"), 20);
  EXPECT_EQ(cost("core sapphire-rapids\n"), 24);
  EXPECT_EQ(cost("latency mispredict=0\ncore zen4\n"), 0);
  EXPECT_EQ(cost("latency l2=12\n"), 0);
  for (const std::string& core : core_names()) EXPECT_GT(core_named(core)->mispredict, 10) << core;
}

TEST(Parse, HostsWithLargeCaches) {
  const auto machine = parse("model m\nl1d size=48K ways=12\nllc size=480M ways=16\n", "text");
  ASSERT_TRUE(machine);
  EXPECT_EQ(machine->caches.llc.sets, 491520U);
}

struct Mistake {
  const char* text;
  const char* message;
  const char* hint;
};

// Each error contains the line, the mistake and a correction.
TEST(Parse, Errors) {
  const Mistake all[] = {
      {"model m\nl1d size=32K ways=8\nl4 size=1M ways=8", "f, line 3: 'l4' is unknown here", "do you mean 'l"},
      {"model m\nxyzzy", "f, line 2: 'xyzzy' is unknown here", "write one of: model, title"},
      {"model m\nl1d size=32K ways=8\nl1d size=32K ways=8", "f, line 3: a second line 'l1d'", "remove"},
      {"model m\nl1d size=32K way=8", "f, line 2: 'way' is unknown here", "do you mean 'ways'?"},
      {"model m\nl1d size=32K ways=8 ways=4", "f, line 2: 'ways' is there twice", "remove"},
      {"model m\nl1d size=32K ways", "f, line 2: 'ways' has no value", "ways=VALUE"},
      {"model m\nl1d size=32K ways=", "f, line 2: 'ways' has no value", "ways=VALUE"},
      {"model m\nl1d size=32K", "f, line 2: 'ways' is missing", "add ways=NUMBER"},
      {"model m\nl1d ways=8", "f, line 2: 'size' is missing", "add size=NUMBER"},
      {"model m\nl1d size=32K ways=0", "f, line 2: ways=0", "a number from 1 to 64"},
      {"model m\nl1d size=32K ways=65", "f, line 2: ways=65", "a number from 1 to 64"},
      {"model m\nl1d size=32k ways=8", "f, line 2: size=32k", "K, M and G"},
      {"model m\nl1d size=K ways=8", "f, line 2: size=K", "a number from"},
      {"model m\nl1d size=-1 ways=8", "f, line 2: size=-1", "a number from"},
      {"model m\nl1d size=99999999999G ways=8", "f, line 2: size=99999999999G", "a number from"},
      {"model m\nl1d size=17179869185G ways=8", "f, line 2: size=17179869185G", "a number from"},
      {"model m\nl1d size=65G ways=8", "f, line 2: size=65G", "a number from"},
      {"model m\nl1d size=33K ways=7", "f, line 2: a size of 33792 bytes cannot be divided into sets of 7 ways",
       "multiple"},
      {"model m\nl1d size=100 ways=8", "f, line 2: a size of 100 bytes is not a whole number of lines", "make"},
      {"model m\nl1d size=32K ways=8 line=96", "f, line 2: line=96", "power of two"},
      {"model m\nl1d size=32K ways=8 replacement=fifo", "f, line 2: replacement=fifo", "lru or plru"},
      {"model m\nl1d size=32K ways=8 inclusive=1", "f, line 2: inclusive=1", "yes or no"},
      {"model m\ndtlb entries=10 ways=4", "f, line 2: 10 entries cannot be divided", "multiple"},
      {"model m\nprefetch nextline", "f, line 2: 'nextline' is unknown here", "do you mean 'next-line'?"},
      {"model m\ncore nocona", "f, line 2: unknown core 'nocona'", "cores are haswell, skylake"},
      {"model m\nlatency l2=many", "f, line 2: l2=many", "a number from 0 to 10000"},
      {"model a b", "f, line 1: a model's name is one word", "model mine"},
      {"model a/b", "f, line 1: a model's name is one word", "model mine"},
      {"l1d size=32K ways=8", "f: there is no line 'model'", "needs one"},
      {"model m", "f: there is no line 'l1d'", "needs one"},
      {"", "f: there is no line 'model'", "needs one"},
      {"model m\nl1d size=32K ways=8\nl2 size=256K ways=8 line=128", "f: lines of 64 and 128 bytes", "the same length"},
      {"model m\nl1d size=32K ways=8\nitlb entries=8 ways=8 page=2M\ndtlb entries=8 ways=8", "f: pages of", "the same"},
      {"model m\n\x1b[31m", "f, line 2: '\\x1b[31m' is unknown here", ""},
  };
  for (const Mistake& mistake : all) {
    const auto machine = parse(mistake.text, "f");
    ASSERT_FALSE(machine) << mistake.text;
    EXPECT_EQ(machine.error().code, Code::bad_usage);
    EXPECT_TRUE(machine.error().message.starts_with(mistake.message))
        << mistake.text << "\n→ " << machine.error().message;
    EXPECT_NE(machine.error().hint.find(mistake.hint), std::string::npos)
        << mistake.text << "\n→ " << machine.error().hint;
  }
}

}  // namespace
}  // namespace tally::machines
