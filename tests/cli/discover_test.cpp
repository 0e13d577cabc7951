// `tally discover`, as a user sees it.
#include <gtest/gtest.h>

#include <cstdlib>

#include <nlohmann/json.hpp>
#include <set>

#include "tests/cli/program.hpp"

namespace tally::test {
namespace {

using nlohmann::json;

// Forty events and few payloads: this takes a second.
const Words small_sweep{"discover",  "--events", "0..0x27",   "--payload", "load-miss",
                        "--payload", "call",     "--payload", "divide"};

bool has_assembler() { return !holds(tally({"stat", "-q", "--asm", "nop"}).err, "install it"); }
#define NEEDS_AN_ASSEMBLER() \
  if (!has_assembler()) GTEST_SKIP() << "as is not installed (package binutils)"

#if TALLY_HAS_ENGINE

// The whole library of payloads against the engine's counts: tally finds the secret map, and each declared payload
// count is the engine's.
TEST(Discover, finds_a_secret_map_with_fewer_errors_than_the_document) {
  NEEDS_AN_ASSEMBLER();
  const Finished finished = tally({"discover", "--score", "--seed", "11"});
  EXPECT_EQ(finished.code(), 0) << finished.err;
  EXPECT_FALSE(holds(finished.out, "is declared to have")) << finished.out;
  const auto row = [&](const std::string& payload_or_event) {
    const std::size_t at = finished.out.find(" " + payload_or_event + " ");
    return at == std::string::npos ? "" : finished.out.substr(at, finished.out.find('\n', at) - at);
  };
  EXPECT_TRUE(holds(row("tally discover"), "100 %") || holds(row("tally discover"), "99.")) << finished.out;
  EXPECT_TRUE(holds(row("tally discover"), " 0 of ")) << row("tally discover");
  EXPECT_FALSE(holds(row("the M1 document's"), " 0 of ")) << finished.out;
}

#endif

TEST(Discover, repeats_to_the_bit) {
  NEEDS_AN_ASSEMBLER();
  const Words words = with(small_sweep, {"--json"});
  setenv("SOURCE_DATE_EPOCH", "0", 1);
  const std::string first = tally(words).out;
  EXPECT_EQ(first, tally(words).out);
  unsetenv("SOURCE_DATE_EPOCH");
  EXPECT_NE(first, tally(with(words, {"--seed", "2"})).out);
  const json result = json::parse(first, nullptr, false);
  ASSERT_FALSE(result.is_discarded()) << first;
  EXPECT_EQ(result["schema"], "tally-discovery/2");
  EXPECT_EQ(result["events"].size(), 40U);
}

// An answer without its provenance: the command lines differ.
json answer_of(const std::string& text) {
  json answer = json::parse(text, nullptr, false);
  answer.erase("provenance");
  return answer;
}

TEST(Discover, continues_and_checks_kept_results) {
  NEEDS_AN_ASSEMBLER();
  const TemporaryFile file("found.jsonl");
  const std::string whole = tally(with(small_sweep, {"--json", "-o", file.path()})).out;
  const std::string text = *file.content();
  // Interrupted in the middle of a line.
  const TemporaryFile part("part.jsonl", text.substr(0, text.size() / 2));
  const Finished resumed = tally({"discover", "--resume", part.path(), "--json"});
  EXPECT_EQ(answer_of(resumed.out), answer_of(whole)) << resumed.err;
  // Without counting: everything but the backend is the same.
  json first = answer_of(whole), again = answer_of(tally({"discover", "--analyse", part.path(), "--json"}).out);
  first.erase("notices");
  again.erase("notices");
  EXPECT_EQ(first, again);
}

// The record holds the payload's code, so the user does not have to pass it again.
TEST(Discover, continues_with_a_users_payload) {
  NEEDS_AN_ASSEMBLER();
  const TemporaryFile file("found.jsonl");
  const Words own = {"--payload", "nop; nop; nop", "--control", "nop; nop"};
  const std::string whole = tally(with(with(small_sweep, own), {"--json", "-o", file.path()})).out;
  const std::string text = *file.content();
  const TemporaryFile part("part.jsonl", text.substr(0, text.size() / 2));
  const Finished resumed = tally({"discover", "--resume", part.path(), "--json"});
  EXPECT_EQ(answer_of(resumed.out), answer_of(whole)) << resumed.err;
  EXPECT_TRUE(holds(whole, "own-1")) << whole;
}

TEST(Discover, takes_one_instruction_as_a_payload) {
  NEEDS_AN_ASSEMBLER();
  const std::string found = tally(with(small_sweep, {"--payload", "mfence", "--control", "nop", "--json"})).out;
  EXPECT_TRUE(holds(found, "own-1")) << found;
  const Finished neither = tally({"discover", "--payload", "multipli"});
  EXPECT_EQ(neither.code(), 2);
  EXPECT_TRUE(holds(neither.err, "unknown payload 'multipli'")) << neither.err;
}

// Events on counters that another process holds are not found there.
TEST(Discover, uses_the_counters_that_are_free) {
  NEEDS_AN_ASSEMBLER();
  for (const char* which : {"0-2,5", "0x27"}) {
    const json result = json::parse(tally(with(small_sweep, {"--json", "--counters", which})).out, nullptr, false);
    ASSERT_FALSE(result.is_discarded());
    std::set<int> used;
    for (const json& event : result["events"]) {
      for (const json& counter : event["counters"]) used.insert(counter.get<int>());
    }
    EXPECT_EQ(used, (std::set<int>{0, 1, 2, 5})) << which;
  }
}

TEST(Discover, refuses_a_tolerance_that_is_no_share) {
  for (const char* text : {"60", "-1%", "few", ""}) {
    const Finished finished = tally({"discover", "--tolerance", text});
    EXPECT_EQ(finished.code(), 2) << text;
    EXPECT_TRUE(holds(finished.err, "is not a percentage from 0 to 50")) << finished.err;
  }
}

TEST(Discover, is_drawn_as_a_map_of_events_and_payloads) {
  NEEDS_AN_ASSEMBLER();
  const TemporaryFile file("found.jsonl");
  EXPECT_EQ(tally(with(small_sweep, {"-o", file.path()})).code(), 0);
  const Finished page = tally({"report", file.path(), "-o", "-"});
  EXPECT_EQ(page.code(), 0) << page.err;
  EXPECT_TRUE(holds(page.out, "What 40 events count"));
  EXPECT_TRUE(holds(page.out, "<a href=\"#event-r17\">r17</a></td><td>calls</td>"));
  EXPECT_TRUE(holds(page.out, "<div id=\"event-r17\"><details><summary>r17: calls</summary>"));
}

TEST(Discover, names_the_payload_that_would_decide) {
  NEEDS_AN_ASSEMBLER();
  const std::string text = tally({"discover", "--payload", "call"}).out;
  EXPECT_TRUE(holds(text, "calls, or returns; --payload ")) << text;
}

TEST(Discover, accepts_the_users_code) {
  NEEDS_AN_ASSEMBLER();
  const Finished finished = tally(with(small_sweep, {"--payload", "nop; nop", "--control", "nop", "--all"}));
  EXPECT_EQ(finished.code(), 0) << finished.err;
  EXPECT_TRUE(holds(finished.out, "copies of the payload")) << finished.out;
}

TEST(Discover, mistakes_end_with_2_and_a_hint) {
  NEEDS_AN_ASSEMBLER();
  const struct {
    Words words;
    const char* message;
  } cases[] = {{{"--payload", "load-mis"}, "did you mean load-miss"},
               {{"--events", "0x10-"}, "is not a valid event code"},
               {{"--payload", "frobnicate rax"}, "cannot be assembled"},
               {{"--sizes", "5"}, "--sizes needs"},
               {{"--resume", "/nonexistent"}, "cannot read"},
               {{"--counters", "0"}, "is not a number, a list or a mask"},
               {{"--counters", "0x1ffffffff"}, "is not a number, a list or a mask"},
               {{"--counters", "3-"}, "is not a valid counter number"},
               {{"--backend", "perf", "--counters", "4"}, "the kernel chooses the counters"},
               {{"--pin", "0"}, "--pin needs --backend perf"},
               {{"--resume", "/dev/null"}, "the file is empty"}};
  for (const auto& one : cases) {
    const Finished finished = tally(with({"discover"}, one.words));
    EXPECT_EQ(finished.code(), 2) << one.message;
    EXPECT_TRUE(holds(finished.err, one.message)) << finished.err;
  }
}

}  // namespace
}  // namespace tally::test
