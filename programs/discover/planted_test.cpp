// Whole discoveries on fictitious PMUs with a known map (without the engine: payloads do what is declared).
#include "programs/discover/planted.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "programs/discover/score.hpp"
#include "programs/discover/sweep.hpp"
#include "programs/discovery/analysis/analyse.hpp"
#include "programs/discovery/discovery_log.hpp"
#include "programs/discovery/payloads.hpp"

namespace tally::discover {
namespace {

using result::EventClass;

std::vector<std::uint64_t> codes(std::size_t count = 256) {
  std::vector<std::uint64_t> all(count);
  std::iota(all.begin(), all.end(), std::uint64_t{0});
  return all;
}

// Returns what payloads do: the declared compositions, and cycles from a small table of latencies.
std::vector<Truth> truths_of(const std::vector<Payload>& payloads) {
  std::vector<Truth> all;
  for (const Payload& payload : payloads) {
    Truth one;
    one.each = payload.facts.composition;
    const auto of = [&](const char* name) { return one.each[*result::coordinate_of(name)]; };
    one.each[*result::coordinate_of("cycles")] = 0.25 * of("instructions") + 3 * of("multiplications") +
                                                 20 * of("divisions") + 15 * of("branch-misses") +
                                                 9 * of("L1-dcache-load-misses") + 20 * of("dTLB-load-misses") +
                                                 6 * of("barriers") + 17 * of("atomics") + 2 * of("fp-operations");
    one.once[0] = 900;
    all.push_back(one);
  }
  return all;
}

struct Experiment {
  Record record;
  result::Discovery answer;
  std::vector<Planted> map;
};

Experiment discover(std::vector<Planted> map, const std::vector<std::string>& names, const Planting& planting,
                    Vices vices = {}) {
  const auto payloads = chosen(names);
  EXPECT_TRUE(payloads) << payloads.error().message;
  Experiment found;
  found.map = std::move(map);
  std::vector<Facts> library_facts;
  for (const Payload& one : *payloads) found.record.payloads.push_back(one.facts);
  for (const Payload& one : library()) library_facts.push_back(one.facts);
  for (const Planted& one : found.map) found.record.events.push_back(one.code);
  found.record.backend = "planted";
  found.record.seed = planting.seed;
  found.record.sizes = {100'000, 200'000, 400'000, 800'000};
  found.record.repeats = 8;
  PlantedTarget target(found.map, truths_of(*payloads), planting, vices);
  const auto whole = sweep(target, found.record, {});
  EXPECT_TRUE(whole && *whole);
  found.answer = analyse(found.record, library_facts);
  return found;
}

Experiment discover(const Planting& planting, Vices vices = {}) {
  return discover(plant(codes(), planting), {}, planting, vices);
}

std::string text_of(const result::DiscoveredEvent& event) {
  std::string text = std::to_string(event.code) + " " + std::string(name(event.kind)) + " " + event.reason;
  for (const auto& term : event.terms) text += " " + std::to_string(term.weight) + " " + term.coordinate;
  for (const auto& alias : event.aliases) text += " or " + alias.coordinate;
  return text;
}

std::string text_of(const Planted& one) {
  std::string text;
  for (const auto& term : one.terms) text += std::to_string(term.weight) + " " + term.coordinate + " ";
  return text + (one.clock ? "clock " : "") + std::to_string(one.per_ms) + "/ms " + std::to_string(one.per_interrupt) +
         "/irq";
}

std::set<std::string> names_of(const std::vector<result::Term>& terms) {
  std::set<std::string> names;
  for (const auto& term : terms) names.insert(term.coordinate);
  return names;
}

class Seeds : public testing::TestWithParam<std::uint64_t> {};

TEST_P(Seeds, nearly_all_is_found_and_nearly_nothing_is_wrong) {
  const Experiment found = discover(Planting{GetParam()});
  const Score ours = score(claims_of(found.answer), found.map);
  EXPECT_GE(ours.recall(), 0.99) << ours.found << " of " << ours.planted;
  EXPECT_LE(ours.false_share(), 0.01) << ours.wrong << " of " << ours.claims;
  const Score document = score(documents_claims(found.record, 0.1, false), found.map);
  const Score defect = score(documents_claims(found.record, 0.1, true), found.map);
  EXPECT_GT(ours.recall(), document.recall());
  EXPECT_LT(ours.false_share(), document.false_share());
  EXPECT_GT(document.recall(), defect.recall());
  for (std::size_t i = 0; i < found.map.size(); ++i) {
    const Planted& one = found.map[i];
    const result::DiscoveredEvent& event = found.answer.events[i];
    // The counters must be exact for every event that counts.
    if (event.kind != EventClass::dead) {
      EXPECT_EQ(event.counters, one.counters) << text_of(event);
    }
    const bool named = event.kind == EventClass::counts;
    if (one.clock) {
      EXPECT_EQ(event.kind, EventClass::clock_like) << text_of(event) << " | " << text_of(one);
    } else if (one.terms.empty()) {
      EXPECT_FALSE(named) << text_of(event) << " | " << text_of(one);
      if (one.per_interrupt > 0) {
        EXPECT_EQ(event.kind, EventClass::interrupts_only) << text_of(event);
      }
    } else if (one.terms.size() == 1 && named) {
      // A rate may be undecided, but not wrong.
      ASSERT_EQ(event.terms.size(), 1U) << text_of(event) << " | " << text_of(one);
      EXPECT_EQ(event.terms[0].coordinate, one.terms[0].coordinate) << text_of(event) << " | " << text_of(one);
      EXPECT_NEAR(event.terms[0].weight, one.terms[0].weight, 0.03 * one.terms[0].weight + 0.002) << text_of(event);
    } else {
      ASSERT_TRUE(named) << text_of(event) << " | " << text_of(one);
      EXPECT_EQ(names_of(event.terms), names_of(one.terms)) << text_of(event) << " | " << text_of(one);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(discover, Seeds, testing::Values(1, 2, 3));

std::vector<int> every(int counters = 8) {
  std::vector<int> all(static_cast<std::size_t>(counters));
  std::iota(all.begin(), all.end(), 0);
  return all;
}

// Two events that these payloads do not distinguish, and the payload that does.
TEST(Planted, aliases_are_reported_with_the_payload_that_splits_them) {
  const std::vector<Planted> map{{0x10, {{"calls", 1, 0}}, 0, false, 0, every()},
                                 {0x11, {{"returns", 1, 0}}, 0, false, 0, every()}};
  const Experiment together = discover(map, {"call"}, Planting{1});
  for (const auto& event : together.answer.events) {
    ASSERT_EQ(event.aliases.size(), 1U) << text_of(event);
    EXPECT_FALSE(event.aliases[0].splits.empty());
    EXPECT_EQ(event.same_as.size(), 1U);
  }
  const std::string splits = together.answer.events[0].aliases[0].splits;
  const Experiment apart = discover(map, {"call", splits}, Planting{1});
  EXPECT_EQ(apart.answer.events[0].terms[0].coordinate, "calls") << splits;
  EXPECT_EQ(apart.answer.events[1].terms[0].coordinate, "returns") << splits;
  for (const auto& event : apart.answer.events) {
    EXPECT_TRUE(event.aliases.empty()) << text_of(event);
    EXPECT_TRUE(event.same_as.empty());
  }
}

// Loads, and loads with something that no payload in use does: only the library can distinguish them.
TEST(Planted, events_that_no_payload_distinguishes_are_alike) {
  const std::vector<Planted> map{{0x10, {{"loads", 1, 0}}, 0, false, 0, every()},
                                 {0x11, {{"loads", 1, 0}, {"barriers", 1, 0}}, 0, false, 0, every()}};
  const Experiment together = discover(map, {"load", "two-loads", "store"}, Planting{1});
  ASSERT_EQ(together.answer.events[0].same_as, std::vector<std::uint64_t>{0x11});
  const Experiment apart = discover(map, {"load", "two-loads", "store", "memory-barrier"}, Planting{1});
  EXPECT_TRUE(apart.answer.events[0].same_as.empty());
  EXPECT_EQ(apart.answer.events[1].terms.size(), 2U) << text_of(apart.answer.events[1]);
}

// Without a payload that misses, its count is that of interrupts and others.
TEST(Planted, events_that_no_payload_contains_are_not_background) {
  const std::vector<Planted> map{{0x10, {{"dTLB-load-misses", 1, 0}}, 9, false, 0, every()}};
  const Experiment few = discover(map, {"load", "divide"}, Planting{1});
  EXPECT_EQ(few.answer.events[0].kind, EventClass::unaffected) << text_of(few.answer.events[0]);
  EXPECT_TRUE(few.answer.events[0].reason.ends_with(" a millisecond in each of these payloads"))
      << few.answer.events[0].reason;
}

TEST(Planted, a_fixed_counter_that_lies_ends_everything) {
  const Experiment found = discover(plant(codes(8), Planting{1}), {"load"}, Planting{1}, {.fixed_instructions = 1.04});
  const auto sound = preflight(found.record);
  ASSERT_FALSE(sound);
  EXPECT_NE(sound.error().message.find("reports 1.144 per copy of 'nop' instead of 1.1"), std::string::npos)
      << sound.error().message;
  EXPECT_TRUE(preflight(discover(plant(codes(8), Planting{1}), {"load"}, Planting{1}).record));
}

TEST(Planted, a_counter_that_lies_is_left_out_with_the_reason) {
  const Experiment found = discover(Planting{1}, {.wrong_counter = 3});
  ASSERT_EQ(found.answer.notices.size(), 1U);
  EXPECT_TRUE(found.answer.notices[0].starts_with("counter 3 is excluded: it disagrees with the others for "))
      << found.answer.notices[0];
  const Score ours = score(claims_of(found.answer), found.map);
  EXPECT_GE(ours.recall(), 0.99);
  EXPECT_EQ(ours.wrong, 0);
}

void expect_all_rejected(const Vices& vices, const std::string& reason) {
  const std::vector<Planted> map{{0x10, {{"instructions", 1, 0}}, 0, false, 0, every()}};
  const Experiment found = discover(map, {"load", "divide"}, Planting{1}, vices);
  EXPECT_EQ(found.answer.events[0].kind, EventClass::rejected) << text_of(found.answer.events[0]);
  EXPECT_NE(found.answer.events[0].reason.find(reason), std::string::npos) << found.answer.events[0].reason;
  EXPECT_TRUE(claims_of(found.answer).empty());
}

TEST(Planted, counters_that_cannot_be_believed_are_rejected_with_the_reason) {
  expect_all_rejected({.running = 0.2}, "multiplexed and counted less than 25 %");
  expect_all_rejected({.rewritten = true}, "another program wrote to the PMU");
  expect_all_rejected({.width = 18}, "its counter wrapped at 2^18");
}

TEST(Sweep, the_most_constrained_events_are_placed_first) {
  const std::vector<Slot> events{{0, 0, -1}, {1, 1, -1}, {2, 2, -1}};
  // 2 can only use counter 1, so 0 moves.
  const auto all = batches(events, {{0, 1}, {0, 1}, {1}}, 2, 2);
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0].size(), 2U);
  const auto place = std::find_if(all[0].begin(), all[0].end(), [](const Slot& slot) { return slot.event == 2; });
  ASSERT_NE(place, all[0].end());
  EXPECT_EQ(place->counter, 1);
}

TEST(Sweep, goes_on_where_it_was_interrupted) {
  const auto payloads = chosen({"load", "divide"});
  const Planting planting{3};
  const auto map = plant(codes(40), planting);
  const auto begin = [&] {
    Record record;
    for (const Payload& one : *payloads) record.payloads.push_back(one.facts);
    record.events = codes(40);
    record.seed = 3;
    record.sizes = {100'000, 200'000, 400'000, 800'000};
    record.repeats = 8;
    return record;
  };
  PlantedTarget target(map, truths_of(*payloads), planting);
  Record whole = begin();
  ASSERT_TRUE(*sweep(target, whole, {}));
  Record parts = begin();
  int left = 50;
  Watch watch;
  watch.interrupted = [&left] { return left-- == 0; };
  ASSERT_FALSE(*sweep(target, parts, watch));
  auto again = read_record(header_line(parts) + [&] {
    std::string lines;
    for (const auto& run : parts.runs) lines += run_line(run);
    return lines + R"({"stage":"scr)";  // incomplete
  }());
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(again->runs, parts.runs);
  ASSERT_TRUE(*sweep(target, *again, {}));
  EXPECT_EQ(again->runs.size(), whole.runs.size());
  EXPECT_EQ(analyse(*again, {}), analyse(whole, {}));
}

TEST(Planted, nothing_is_claimed_where_nothing_counts) {
  Planting planting{7};
  planting.nothing = true;
  const Experiment found = discover(planting);
  EXPECT_TRUE(claims_of(found.answer).empty());
  for (const auto& event : found.answer.events) EXPECT_NE(event.kind, EventClass::counts) << text_of(event);
}

TEST(Planted, the_same_seed_gives_the_same_answer) {
  EXPECT_EQ(discover(Planting{5}).answer, discover(Planting{5}).answer);
  EXPECT_NE(discover(Planting{5}).answer, discover(Planting{6}).answer);
}

}  // namespace
}  // namespace tally::discover
