// What a template needs is noted while a trace is made; a trace that does not fit is given up.
#include "tally/engine/translate/recorder.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "tally/engine/translate/generate.hpp"

namespace tally::engine::translate {
namespace {

constexpr u64 pc = 0x401000, body = 0x10000000, stubs = 0x14000000;
constexpr u64 to_lookup = 0x17000000, to_model = 0x17000040, to_window = 0x17000080;

class Kept final : public PersistentCache {
 public:
  Keep keeps(u64 /*pc*/, u8 generation) const override { return generation < 2 ? Keep::now : Keep::never; }
  void add(const Recording& recording, const Builder&, u32 use, Keep) override {
    got = std::make_unique<Recording>(recording);
    got_use = use;
  }
  std::unique_ptr<Recording> got;
  u32 got_use = 0;
};

class Recorders : public testing::Test {
 protected:
  Recorders() {
    trace_.pc = pc;
    arena_.cold = stubs;
    arena_.to_lookup = to_lookup;
    arena_.to_model = to_model;
    arena_.to_window = to_window;
    persistent_cache = &kept_;
    recorder_->begin(builder_, true, 1);
  }
  ~Recorders() override { persistent_cache = before_; }

  static Instruction instruction(u64 at, u8 length, u8 first_byte = 0x90) {
    Instruction in{};
    in.pc = at;
    in.length = length;
    in.bytes[0] = first_byte;
    return in;
  }
  static const u8* at(u64 address) { return reinterpret_cast<const u8*>(address); }

  /// What was recorded; null where the trace was given up.
  const Recording* end() {
    recorder_->end(builder_, 7);
    return kept_.got.get();
  }

  PersistentCache* const before_ = persistent_cache;
  Kept kept_;
  Arena arena_;
  Trace trace_{};
  Builder builder_{arena_, {}, trace_, body};
  std::unique_ptr<Recorder> recorder_ = std::make_unique<Recorder>();
};

TEST_F(Recorders, report_which_trace_they_record) {
  const Recording* const got = end();
  ASSERT_NE(got, nullptr);
  EXPECT_EQ(got->pc, pc);
  EXPECT_EQ(got->body, body);
  EXPECT_EQ(got->stubs, stubs);
  EXPECT_TRUE(got->by_jump);
  EXPECT_EQ(got->generation, 1);
  EXPECT_EQ(kept_.got_use, 7u);
  EXPECT_EQ(got->fixups + got->ranges + got->originals, 0u);
}

TEST_F(Recorders, skip_traces_that_the_cache_does_not_store) {
  recorder_->begin(builder_, false, 2);
  recorder_->note(instruction(pc, 1));
  EXPECT_EQ(end(), nullptr);
}

TEST_F(Recorders, join_instructions_that_follow_each_other) {
  recorder_->note(instruction(pc, 3, 0x48));
  recorder_->note(instruction(pc + 3, 2, 0x75));
  recorder_->note(instruction(pc + 100, 1, 0xc3));
  recorder_->note(instruction(pc - 8, 4, 0x0f));
  recorder_->note(instruction(pc + 3, 2, 0x75));  // inside a range that is there
  const Recording* const got = end();
  ASSERT_NE(got, nullptr);
  ASSERT_EQ(got->ranges, 3u);
  EXPECT_EQ(got->range[0].from, 0);
  EXPECT_EQ(got->range[0].bytes, 5u);
  EXPECT_EQ(got->range[1].from, 100);
  EXPECT_EQ(got->range[1].bytes, 1u);
  EXPECT_EQ(got->range[2].from, -8);
  EXPECT_EQ(got->range[2].bytes, 4u);
  ASSERT_EQ(got->originals, 10u);
  EXPECT_EQ(got->original[0], 0x48);
  EXPECT_EQ(got->original[3], 0x75);
  EXPECT_EQ(got->original[5], 0xc3);
  EXPECT_EQ(got->original[6], 0x0f);
}

TEST_F(Recorders, have_room_for_64_ranges) {
  for (u64 i = 0; i < Recording::range_limit; i++) recorder_->note(instruction(pc + 16 * i, 1));
  recorder_->note(instruction(pc + 16 * (Recording::range_limit - 1) + 1, 1));  // it follows the last one
  recorder_->note(instruction(pc, 1));
  const Recording* const got = end();
  ASSERT_NE(got, nullptr);
  EXPECT_EQ(got->ranges, Recording::range_limit);
  kept_.got = nullptr;
  recorder_->begin(builder_, true, 1);
  for (u64 i = 0; i <= Recording::range_limit; i++) recorder_->note(instruction(pc + 16 * i, 1));
  EXPECT_EQ(end(), nullptr);
}

TEST_F(Recorders, have_room_for_4096_bytes_of_code) {
  for (u64 i = 0; i < Recording::original_limit / 8; i++) recorder_->note(instruction(pc + 8 * i, 8));
  const Recording* const got = end();
  ASSERT_NE(got, nullptr);
  EXPECT_EQ(got->originals, Recording::original_limit);
  kept_.got = nullptr;
  recorder_->begin(builder_, true, 1);
  for (u64 i = 0; i < Recording::original_limit / 8; i++) recorder_->note(instruction(pc + 8 * i, 8));
  recorder_->note(instruction(pc + Recording::original_limit, 1));
  EXPECT_EQ(end(), nullptr);
}

TEST_F(Recorders, give_up_if_code_is_2_gb_away) {
  recorder_->note(instruction(pc + 0x7fff'ffff, 1));
  EXPECT_NE(end(), nullptr);
  kept_.got = nullptr;
  recorder_->begin(builder_, true, 1);
  recorder_->note(instruction(pc + 0x8000'0000, 1));
  EXPECT_EQ(end(), nullptr);
}

TEST_F(Recorders, have_room_for_2048_fixups_of_32_bits) {
  for (u32 i = 0; i < Recording::fixup_limit; i++) recorder_->fix(Fix::counter, i, -0x8000'0000ll, 0xff);
  const Recording* const got = end();
  ASSERT_NE(got, nullptr);
  ASSERT_EQ(got->fixups, Recording::fixup_limit);
  const Fixup& last = got->fixup[Recording::fixup_limit - 1];
  EXPECT_EQ(last.value, INT32_MIN);
  EXPECT_EQ(last.offset, Recording::fixup_limit - 1);
  EXPECT_EQ(last.what, Fix::counter);
  EXPECT_EQ(last.extra, 127);
  EXPECT_EQ(last.in_stubs, 0);
  kept_.got = nullptr;
  recorder_->begin(builder_, true, 1);
  for (u32 i = 0; i <= Recording::fixup_limit; i++) recorder_->fix(Fix::counter, i, 0);
  EXPECT_EQ(end(), nullptr);
  recorder_->begin(builder_, true, 1);
  recorder_->fix(Fix::counter, 0, 0x8000'0000ll);
  EXPECT_EQ(end(), nullptr);
}

TEST_F(Recorders, distinguish_the_body_from_the_stubs) {
  recorder_->fix_at(Fix::pushed, at(body + Recording::max_bytes - 1), pc + 5);
  recorder_->fix_at(Fix::pushed, at(stubs + 32), pc - 5, 3);
  const Recording* const got = end();
  ASSERT_NE(got, nullptr);
  ASSERT_EQ(got->fixups, 2u);
  EXPECT_EQ(got->fixup[0].offset, Recording::max_bytes - 1);
  EXPECT_EQ(got->fixup[0].in_stubs, 0);
  EXPECT_EQ(got->fixup[0].value, 5);
  EXPECT_EQ(got->fixup[1].offset, 32);
  EXPECT_EQ(got->fixup[1].in_stubs, 1);
  EXPECT_EQ(got->fixup[1].value, -5);
  EXPECT_EQ(got->fixup[1].extra, 3);
}

TEST_F(Recorders, refer_to_gates_and_across_the_trace_only) {
  recorder_->refer(at(body + 1), body + 64);    // within the body
  recorder_->refer(at(stubs + 1), stubs + 64);  // within the stubs
  recorder_->refer(at(body + 2), stubs + 100);
  recorder_->refer(at(stubs + 3), body + 200);
  recorder_->refer(at(body + 4), to_lookup);
  recorder_->refer(at(stubs + 5), to_model);
  recorder_->refer(at(body + 6), to_window);
  const Recording* const got = end();
  ASSERT_NE(got, nullptr);
  std::vector<std::pair<Fix, s32>> found;
  for (u32 i = 0; i < got->fixups; i++) found.emplace_back(got->fixup[i].what, got->fixup[i].value);
  const std::vector<std::pair<Fix, s32>> expected = {
      {Fix::to_stubs, 100}, {Fix::to_body, 200}, {Fix::to_lookup, 0}, {Fix::to_model, 0}, {Fix::to_window, 0}};
  EXPECT_EQ(found, expected);
  for (u32 i = 0; i < got->fixups; i++) {
    EXPECT_EQ(got->fixup[i].offset, i + 2);
    EXPECT_EQ(got->fixup[i].in_stubs, i % 2);
  }
}

TEST_F(Recorders, end_once) {
  recorder_->give_up();
  EXPECT_EQ(end(), nullptr);
  recorder_->begin(builder_, true, 1);
  EXPECT_NE(end(), nullptr);
  kept_.got = nullptr;
  EXPECT_EQ(end(), nullptr);
}

}  // namespace
}  // namespace tally::engine::translate
