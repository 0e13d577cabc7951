// Tests that wrong backends are detected: each mutant is one way in which counters were or could be wrong, with the
// goal that must fail.
#include <gtest/gtest.h>

#include <set>
#include <utility>

#include "programs/verify/verified_testing.hpp"

namespace tally::verify {
namespace {

struct Mutant {
  const char* name;
  const char* goal;  // that must fail
  void (*spoil)(Scripted& backend);
};

std::ostream& operator<<(std::ostream& stream, const Mutant& mutant) { return stream << mutant.name; }

using V = std::int64_t&;
bool begins(const MutantInput& at, std::string_view with) { return at.program().starts_with(with); }
bool is_warm(const MutantInput& at) { return at.program().ends_with("_warm"); }
std::int64_t n(const MutantInput& at) { return static_cast<std::int64_t>(at.trial.parameters.n); }

// Each lambda changes one thing and leaves the rest right.
#define SPOILS_VALUE(...) \
  [](Scripted& b) { b.value = []([[maybe_unused]] const MutantInput& at, V v) { __VA_ARGS__; }; }

const Mutant mutants[] = {
    {"rep_is_counted_per_iteration", "G6",
     SPOILS_VALUE(if (at.is(Id::instructions) && begins(at, "rep_") && !is_warm(at)) v += n(at) - 1)},
    {"off_by_one_in_every_run", "G21", SPOILS_VALUE(if (at.is(Id::instructions)) v += 1)},
    {"filter_is_broken", "G16", SPOILS_VALUE(if (at.order.conditions.processor) v += 123456)},
    {"scaling_is_ignored", "G19",
     [](Scripted& b) {
       b.counters = 4;
       b.trust = Trust::counted;
       b.count = [](const MutantInput&, Count& count) {
         if (count.reading) count.value = count.reading->raw;
       };
     }},
    {"sign_extension_is_dropped", "G22", SPOILS_VALUE(if (v >> 31 & 1) v -= std::int64_t{1} << 32)},
    {"wraps_at_32_bits", "G22", SPOILS_VALUE(v &= 0xffffffff)},
    {"saturates_at_31_bits", "G22", SPOILS_VALUE(v = std::min<std::int64_t>(v, 0x7fffffff))},
    {"a_window_is_lost", "T3", [](Scripted& b) {
       b.outcome = [](const Trial&, backend::Outcome& outcome) {
         if (outcome.intervals.size() > 2) outcome.intervals.erase(outcome.intervals.begin() + 1);
       };
     }},
    {"a_row_is_lost", "G17", [](Scripted& b) { b.windows = [](auto& full, auto&) { full.erase(full.begin() + 1); }; }},
    {"a_row_comes_twice", "G17", [](Scripted& b) { b.windows = [](auto& full, auto&) { full.push_back(full[0]); }; }},
    {"the_rest_of_a_row_is_lost", "G17", [](Scripted& b) { b.windows = [](auto&, auto& rest) { rest -= 7; }; }},
    {"a_row_ends_late", "G18", [](Scripted& b) {
       b.windows = [](auto& full, auto&) {
         full[0] += 7;
         full[1] -= 7;
       };
     }},
    {"a_window_is_counted_twice", "T3", [](Scripted& b) {
       b.outcome = [](const Trial&, backend::Outcome& outcome) {
         if (!outcome.intervals.empty()) outcome.intervals.push_back(outcome.intervals.back());
       };
     }},
    {"user_and_kernel_are_swapped", "G5", SPOILS_VALUE(if (at.is(Id::instructions) && n(at) != 500)
                                                           v = static_cast<std::int64_t>(300 * at.known.far))},
    {"the_kernel_is_counted_too", "T2",
     SPOILS_VALUE(if (at.is(Id::instructions) && n(at) != 500) v += static_cast<std::int64_t>(250 * at.known.far))},
    {"the_counter_is_stuck_at_0", "G0", SPOILS_VALUE(v = 0)},
    {"the_counter_is_constant", "T5", SPOILS_VALUE(if (at.is(Id::conditional_branches)) v = 500)},
    {"counts_are_halved", "G0", SPOILS_VALUE(v /= 2)},
    {"loads_are_stores", "G10",
     SPOILS_VALUE(if (at.is(Id::loads)) v = static_cast<std::int64_t>(at.known.stores))},
    {"branches_read_instructions", "G3",
     SPOILS_VALUE(if (at.is(Id::branches)) v = static_cast<std::int64_t>(at.known.instructions))},
    {"only_the_first_thread_is_counted", "G23",
     SPOILS_VALUE(if (begins(at, "threads") && at.is(Id::conditional_branches))
                      v = 3 * n(at) + static_cast<std::int64_t>(at.trial.parameters.k))},
    {"a_fork_is_lost", "G23", SPOILS_VALUE(if (begins(at, "forks") && at.is(Id::conditional_branches))
                                               v -= static_cast<std::int64_t>(at.trial.parameters.k) + 1)},
    {"forks_are_counted_twice", "G23", SPOILS_VALUE(if (begins(at, "forks") && at.is(Id::conditional_branches)) v *= 2)},
    {"what_came_before_an_exec_is_lost", "G23",
     SPOILS_VALUE(if (begins(at, "execs") && at.is(Id::conditional_branches)) v = 1)},
    {"the_interrupt_handler_is_counted", "G20",
     SPOILS_VALUE(if (at.is(Id::instructions) && at.run % 7 == 5) v += 3000)},
    {"a_fault_adds_twice_what_is_said", "G5",
     [](Scripted& b) {
       b.trust = Trust::counted;
       b.count = [](const MutantInput& at, Count& count) {
         const auto faults = at.trial.workload->page_faults;
         if (!at.is(Id::instructions) || !faults) return;
         const auto taken = static_cast<std::int64_t>(faults(at.trial.parameters));
         *count.value += 8 * taken;
         count.correction = Correction{*count.value - taken, 1, taken, 0};
       };
     }},
    {"loop_is_no_conditional_branch", "G1",
     SPOILS_VALUE(if (at.is(Id::conditional_branches) && begins(at, "loop_")) v = 0)},
    {"rep_is_a_branch", "G2", SPOILS_VALUE(if (at.is(Id::conditional_branches) && begins(at, "rep_")) v += n(at))},
    {"far_branches_are_missed", "T1", SPOILS_VALUE(if (at.is(Id::far_branches)) v = 0)},
    {"only_taken_branches_are_counted", "G1",
     SPOILS_VALUE(if (at.is(Id::conditional_branches) && n(at) != 500) v = static_cast<std::int64_t>(at.known.taken))},
    {"cmps_is_one_load", "G10",
     SPOILS_VALUE(if (at.is(Id::loads) && at.program().find("cmps") != std::string_view::npos) v /= 2)},
    {"an_interrupted_rep_is_not_counted", "G6",
     SPOILS_VALUE(if (at.is(Id::instructions) && begins(at, "rep_") && at.run % 2) v -= 1)},
    {"nops_are_not_counted", "G12",
     SPOILS_VALUE(if (at.is(Id::instructions) && begins(at, "fact5_3nops")) v -= 3 * (n(at) - 1))},
    {"direct_and_indirect_calls_are_swapped", "T1",
     SPOILS_VALUE(if (at.is(Id::direct_calls)) v = static_cast<std::int64_t>(at.known.indirect_calls);
                  if (at.is(Id::indirect_calls)) v = static_cast<std::int64_t>(at.known.direct_calls))},
    {"returns_are_indirect_jumps", "T1",
     SPOILS_VALUE(if (at.is(Id::indirect_jumps)) v += static_cast<std::int64_t>(at.known.returns))},
    {"a_tenth_of_a_percent_too_many", "G5", [](Scripted& b) {
       b.trust = Trust::counted;
       b.value = [](const MutantInput& at, V v) {
         if (at.is(Id::instructions)) v += v / 1000;
       };
     }},
    {"branches_vary", "G20", [](Scripted& b) {
       b.trust = Trust::counted;
       b.value = [](const MutantInput& at, V v) {
         if (at.is(Id::conditional_branches) && v > 1000) v += at.run % 3;
       };
     }},
    {"the_value_is_that_of_the_last_program", "G5", [](Scripted& b) {
       b.value = [before = std::int64_t{505}](const MutantInput& at, V v) mutable {
         if (!at.is(Id::instructions)) return;
         const std::int64_t now = v;
         v = std::exchange(before, now);
       };
     }},
    {"the_value_is_negative", "G0", SPOILS_VALUE(v = -v)},
    {"what_is_absent_reads_0", "T5", SPOILS_VALUE(if (at.is(Id::returns)) v = 0)},
    {"a_region_counts_its_second_read", "G11", [](Scripted& b) {
       b.outcome = [](const Trial& trial, backend::Outcome& outcome) {
         if (trial.workload->name == "region") outcome.wait_status = 103 << 8;
       };
     }},
    {"counting_begins_late", "G5", [](Scripted& b) {
       b.trust = Trust::counted;
       b.value = [](const MutantInput& at, V v) {
         if (at.is(Id::instructions) && v > 1000) v -= 1000;
       };
     }},
    {"every_thousandth_iteration_counts_twice", "G12",
     SPOILS_VALUE(if (at.is(Id::instructions) && begins(at, "fact")) v += n(at) / 1000)},
    {"what_the_kernel_maps_is_counted", "G7", SPOILS_VALUE(if (at.is(Id::instructions) && is_warm(at)) v += 500)},
    {"an_operand_in_memory_is_an_instruction", "G14",
     SPOILS_VALUE(if (at.is(Id::instructions) && begins(at, "matmul")) v += n(at) * n(at) * n(at))},
    {"the_first_run_is_not_as_the_others", "G20",
     [](Scripted& b) {
       b.value = [seen = std::set<std::string>{}](const MutantInput& at, V v) mutable {
         if (at.is(Id::stores) && seen.insert(at.trial.label()).second) v += 1;
       };
     }},
    {"a_page_fault_in_a_call_is_the_programs", "T6",
     SPOILS_VALUE(if (at.is(Id::user_page_faults) && is_warm(at)) v += 1)},
    {"more_branches_than_instructions", "T4", SPOILS_VALUE(if (at.is(Id::branches)) v = v * 2 + 10)},
};
#undef SPOILS_VALUE

class MutantTest : public testing::TestWithParam<Mutant> {};

TEST_P(MutantTest, fails_its_goal) {
  Scripted backend;
  GetParam().spoil(backend);
  const result::Verify result = verified(backend, false);
  EXPECT_EQ(verdict(result), Verdict::fail);
  EXPECT_TRUE(fails(result, GetParam().goal)) << failures(result);
}

INSTANTIATE_TEST_SUITE_P(verify, MutantTest, testing::ValuesIn(mutants),
                         [](const auto& one) { return std::string(one.param.name); });

}  // namespace
}  // namespace tally::verify
