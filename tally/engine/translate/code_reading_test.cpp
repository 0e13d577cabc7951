// Where a segment is counted most cheaply: by the flags and registers that the program does not need.
#include "tally/engine/translate/code_reading.hpp"
#include "tally/engine/translate/countdown_code.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "tally/engine/translate/engine_thread_testing.hpp"

namespace tally::engine {

// What reading needs of the rest of the engine: program code of one page, which nobody writes.
bool fsgsbase_allowed = false;

namespace {

constexpr u64 code_start = 0x401000;
constexpr u64 code_bytes = page_bytes;
u8 program[code_bytes];
u64 changing_pc;  // code there may be written
u64 asked_bytes;  // that the last read asked for
std::vector<u64> watched_pages;
channel::Settings wanted_settings;
translate::Trace traces[1];

}  // namespace

const channel::Settings& settings() { return wanted_settings; }
OwnRecords own_records;

namespace translate {

Tables tables;
SummedEvents summed_events;
u32 read_past_or_present_code(u64 pc, u8* to, u32 n) {
  asked_bytes = n;
  if (pc < code_start || pc >= code_start + code_bytes) return 0;
  const u64 left = code_start + code_bytes - pc;
  if (left < n) n = static_cast<u32>(left);
  std::memcpy(to, program + (pc - code_start), n);
  return n;
}
bool watch_page(u64 pc) {
  watched_pages.push_back(page_down(pc));
  return false;
}
bool may_change(u64 pc) { return pc == changing_pc; }
bool read_pointer(u64, u64&) { return false; }
bool serves(const Arena&, u64) { return true; }
void register_code(u32, u64, u64) {}

namespace {

using Bytes = std::vector<u8>;

const Bytes add = {0x01, 0xd8};     // add eax, ebx: overwrites all flags
const Bytes add_to = {0x01, 0x07};  // add [rdi], eax: the same, and may fault
const Bytes adc = {0x11, 0xd8};     // adc eax, ebx: reads the carry
const Bytes inc = {0xff, 0xc0};     // inc eax: leaves the carry
const Bytes mov = {0x89, 0xd8};     // mov eax, ebx: overwrites a register
const Bytes load = {0x8b, 0x07};    // mov eax, [rdi]: may fault
const Bytes pushf = {0x9c};         // reads all flags
const Bytes jump = {0xeb, 0x70};    // to 0x70 bytes after it
const Bytes loop = {0xe2, 0x70};    // the same, without flags
const Bytes jne = {0x75, 0x70};     // the same, by the zero flag
const Bytes ret = {0xc3};

class Reading : public EngineThreadTest {
 protected:
  void SetUp() override {
    EngineThreadTest::SetUp();
    tables.traces.data = traces;
    std::memset(program, 0x90, sizeof program);
    changing_pc = 0;
    wanted_settings = {};
    watched_pages.clear();
  }

  /// Writes instructions to an address; returns the one after them.
  static u64 put(u64 at, const std::vector<Bytes>& instructions) {
    for (const Bytes& one : instructions) {
      std::memcpy(program + (at - code_start), one.data(), one.size());
      at += one.size();
    }
    return at;
  }

  /// How the segment at the start of the code is counted; `next` and `target`: what the program executes after it.
  static Increment choose(const std::vector<Bytes>& segment, const std::vector<Bytes>& next = {},
                          const std::vector<Bytes>& target = {}) {
    const u64 end = put(code_start, segment);
    put(end, next);
    put(end + 0x70, target);
    std::vector<Instruction> in(segment.size() + 1);
    u64 pc = code_start;
    Code code;
    for (std::size_t i = 0; i < segment.size(); ++i) {
      bool readable = false;
      EXPECT_TRUE(read_instruction(code, pc, in[i], readable)) << i;
      pc = in[i].next();
    }
    Code ahead;
    return choose_increment(ahead, in.data(), static_cast<u32>(segment.size()), end);
  }

  static void expect(const Increment& got, Increment::Method how, u32 at = 0, u8 reg = 0) {
    EXPECT_EQ(got.how, how);
    EXPECT_EQ(got.at, at);
    EXPECT_EQ(+got.reg, +reg);
  }
  static Instruction decoded(const Bytes& bytes) {
    u8 all[16] = {};
    std::memcpy(all, bytes.data(), bytes.size());
    Instruction in{};
    EXPECT_TRUE(decode(code_start, all, 15, in));
    return in;
  }
};

TEST_F(Reading, counts_by_inc_before_what_overwrites_the_flags) {
  expect(choose({add, ret}), Increment::inc, 0);
  expect(choose({load, add, ret}), Increment::inc, 1);
  // The first instruction that cannot fault is best, so that no handler sees the engine's flags.
  expect(choose({add_to, add, add, ret}), Increment::inc, 1);
  expect(choose({add_to, ret}), Increment::inc, 0);
}

TEST_F(Reading, does_not_use_flags_that_are_read_before) {
  expect(choose({pushf, add, ret}), Increment::inc, 1);
  expect(choose({load, pushf, ret}), Increment::late, 2, r11);
}

TEST_F(Reading, counts_through_a_register_that_is_overwritten) {
  expect(choose({load, mov, jne}, {pushf}, {pushf}), Increment::scratch, 1, rax);
}

TEST_F(Reading, counts_late_if_the_end_borrows_a_register) {
  expect(choose({ret}), Increment::late, 0, r11);
  expect(choose({load, ret}), Increment::late, 1, r11);
  expect(choose({{0xff, 0xe0}}), Increment::late, 0, r11);  // jmp rax
  expect(choose({{0x0f, 0x05}}), Increment::late, 0, r11);  // syscall
}

TEST_F(Reading, reads_both_paths_of_a_branch) {
  expect(choose({loop}, {add}, {add}), Increment::inc, 0);
  expect(choose({loop}, {pushf}, {add}), Increment::spill, 0, r11);
  expect(choose({loop}, {add}, {pushf}), Increment::spill, 0, r11);
  expect(choose({jump}, {pushf}, {add}), Increment::inc, 0);
  expect(choose({jump}, {add}, {pushf}), Increment::spill, 0, r11);
  // The branch itself reads a flag.
  expect(choose({jne}, {add}, {add}), Increment::spill, 0, r11);
}

TEST_F(Reading, counts_a_segment_of_nothing_by_what_follows) {
  expect(choose({}, {add}), Increment::inc, 0);
  expect(choose({}, {pushf}), Increment::spill, 0, r11);
}

// Code that counts down changes the carry, too, and leaves neither registers nor a late place.
TEST_F(Reading, needs_a_dead_carry_if_it_counts_down) {
  own_records.counts_down = true;
  expect(choose({add, ret}), Increment::inc, 0);
  expect(choose({inc, ret}), Increment::spill, 0, r11);
  expect(choose({load, mov, ret}), Increment::spill, 0, r11);
  expect(choose({jump}, {}, {adc}), Increment::spill, 0, r11);
  expect(choose({jump}, {}, {add}), Increment::inc, 0);
  own_records.counts_down = false;
  expect(choose({inc, ret}), Increment::inc, 0);
  expect(choose({jump}, {}, {adc}), Increment::inc, 0);
}

TEST_F(Reading, reads_six_instructions) {
  const auto is_dead = [](std::size_t before) {
    std::vector<Bytes> code(before, load);
    code.push_back(add);
    put(code_start, code);
    Code ahead;
    return flags_dead(ahead, code_start, counter_flags);
  };
  EXPECT_TRUE(is_dead(0));
  EXPECT_TRUE(is_dead(5));
  EXPECT_FALSE(is_dead(6));
}

TEST_F(Reading, assumes_nothing_about_code_that_may_change_or_is_unreadable) {
  put(code_start, {load, add});
  Code ahead;
  EXPECT_TRUE(flags_dead(ahead, code_start, counter_flags));
  changing_pc = code_start + load.size();
  EXPECT_FALSE(flags_dead(ahead, code_start, counter_flags));
  EXPECT_FALSE(flags_dead(ahead, code_start - 64, counter_flags));
}

TEST_F(Reading, adds_the_carry_to_what_is_read_and_written) {
  EXPECT_EQ(flags_read(decoded(adc)), carry);
  EXPECT_EQ(flags_read(decoded(add)), 0);
  EXPECT_EQ(flags_read(decoded(pushf)), every_flag);
  EXPECT_EQ(flags_read(decoded({0x72, 0})), carry);                // jb
  EXPECT_EQ(flags_read(decoded({0x76, 0})), carry | zero);         // jbe
  EXPECT_EQ(flags_read(decoded({0x74, 0})), zero);                 // je
  EXPECT_EQ(flags_read(decoded({0x0f, 0x42, 0xc3})), carry);       // cmovb eax, ebx
  EXPECT_EQ(flags_read(decoded({0x83, 0xd8, 1})), carry);          // sbb eax, 1
  EXPECT_EQ(flags_read(decoded({0x83, 0xc0, 1})), 0);              // add eax, 1
  EXPECT_EQ(flags_read(decoded({0xc1, 0xd8, 1})) & carry, carry);  // rcr eax, 1
  EXPECT_EQ(flags_written(decoded(add)), every_flag);
  EXPECT_EQ(flags_written(decoded(inc)), counter_flags);
  EXPECT_EQ(flags_written(decoded({0xff, 0xc8})), counter_flags);  // dec eax
  EXPECT_EQ(flags_written(decoded(mov)), 0);
}

TEST_F(Reading, reads_no_page_that_the_instruction_cannot_reach) {
  Code code;
  u32 available = 0;
  EXPECT_NE(code.at(code_start + 0xff1, available), nullptr);
  EXPECT_EQ(asked_bytes, 15u);
  EXPECT_EQ(available, 15u);
  EXPECT_NE(code.at(code_start + 0xff2, available), nullptr);
  EXPECT_EQ(asked_bytes, 128u);
  EXPECT_EQ(available, 14u);
  EXPECT_EQ(code.at(code_start + 0x1000, available), nullptr);
}

TEST_F(Reading, watches_both_pages_of_an_instruction) {
  Code code;
  code.watch(code_start + 0xff1);
  EXPECT_EQ(watched_pages, (std::vector<u64>{code_start}));
  code.watch(code_start + 0x10);
  EXPECT_EQ(watched_pages.size(), 1u) << "it is watched already";
  code.watch(code_start + 0xff2);
  EXPECT_EQ(watched_pages, (std::vector<u64>{code_start, code_start, code_start + page_bytes}));
}

TEST_F(Reading, single_steps_what_it_cannot_decode) {
  put(code_start, {{0x06}});
  Code code;
  Instruction in{};
  bool readable = false;
  EXPECT_FALSE(read_instruction(code, code_start, in, readable));
  EXPECT_TRUE(readable);
  EXPECT_EQ(in.kind, Kind::step);
  EXPECT_EQ(in.length, 0);
  EXPECT_FALSE(read_instruction(code, code_start - 1, in, readable));
  EXPECT_FALSE(readable);
}

TEST_F(Reading, ends_a_trace_after_a_serializing_instruction) {
  EXPECT_TRUE(serializes(decoded({0x0f, 0xa2})));         // cpuid
  EXPECT_TRUE(serializes(decoded({0x0f, 0x01, 0xe8})));   // serialize
  EXPECT_FALSE(serializes(decoded({0x0f, 0x01, 0xd0})));  // xgetbv
  EXPECT_FALSE(serializes(decoded({0xa2, 0, 0, 0, 0, 0, 0, 0, 0})));
}

TEST_F(Reading, reaches_2_gb) {
  EXPECT_FALSE(far_away(code_start, code_start + 0x7fff'ffff));
  EXPECT_TRUE(far_away(code_start, code_start + 0x8000'0000));
  EXPECT_FALSE(far_away(0x1'0000'0000, 0x8000'0000));
  EXPECT_TRUE(far_away(0x1'0000'0000, 0x7fff'ffff));
}

}  // namespace
}  // namespace translate
}  // namespace tally::engine
