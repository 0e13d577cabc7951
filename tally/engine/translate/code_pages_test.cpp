// Traces of code pages that become writable: they are resumed if their lines are the same again, and dropped otherwise.
#include "tally/engine/translate/code_pages.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cstring>

#include "tally/engine/translate/code_cache.hpp"
#include "tally/engine/translate/past_code.hpp"

namespace tally::engine {

namespace {

channel::Settings wanted_settings;

}  // namespace

const channel::Settings& settings() { return wanted_settings; }
u32 (*code_log_mapping_of)(u64 pc);
void unreserve(u64, u64) {}

u64 try_reserve(u64 bytes, int protection) {
  return reinterpret_cast<u64>(mmap(nullptr, bytes, protection, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
}
u64 reserve(u64 bytes, int protection) { return try_reserve(bytes, protection); }
u64 grow_from(u64 start, u64, bool) { return start; }
bool never_overcommits() { return false; }
u64 make_usable(u64 usable, u64, u64, int) { return usable; }
void die(const char*, u64) { abort(); }

namespace translate {

Tables tables;

namespace {

bool guarded, can_be_suspended;

}  // namespace

u64 copy_code(void* to, u64 from, u64 n) {
  std::memcpy(to, reinterpret_cast<const void*>(from), n);
  return 0;
}
u64 compare_code(const void* ours, u64 theirs, u64 n) {
  return std::memcmp(ours, reinterpret_cast<const void*>(theirs), n) != 0 ? 1 : 0;
}
u32 read_code(u64, u8*, u32) { return 0; }
bool is_guarded_code(u64) { return guarded; }
bool cache_is_damaged() { return false; }
bool traces_can_be_suspended() { return can_be_suspended; }
void drop(Trace& t) {
  t.dead = true;
  t.suspended = 0;
}
bool suspend(Trace& t) {
  t.suspended++;
  return t.dead = true;
}
void resume(Trace& t) { t.dead = --t.suspended != 0; }

namespace {

class CodePages : public testing::Test {
 protected:
  void SetUp() override {
    guarded = can_be_suspended = true;
    wanted_settings.models.on = channel::model_core;
    code_pages_init();
    code_pages_reset();
    tables.traces.init(100);
    tables.traces.size = 1;
    code_ = try_reserve(2 * page_bytes, PROT_READ | PROT_WRITE);
  }

  /// Adds a trace of this code. Returns its index.
  u32 add(u64 offset, u64 bytes) {
    const u32 index = tables.traces.add(Trace{});
    register_code(index, code_ + offset, bytes);
    return index;
  }
  void write(u64 offset) { ++*reinterpret_cast<u8*>(code_ + offset); }
  void suspend_all() { suspend_code(code_, 2 * page_bytes); }
  void resume_all() {
    resume_code(code_);
    resume_code(code_ + page_bytes);
  }
  static bool lives(u32 trace) { return !tables.traces[trace].dead; }

  /// The byte that is, or was, at this offset when a trace was made.
  int byte_of(u32 trace, u64 offset) {
    PastCode past;
    EXPECT_TRUE(past.init());
    const u64 address = past.address(code_ + offset, trace);
    EXPECT_EQ(program_address(address), code_ + offset);
    EXPECT_EQ(past.target(address), address);
    u8 byte = 0;
    EXPECT_EQ(copy_past_or_present_code(&byte, address, 1), 0u);
    return byte;
  }

  u64 code_ = 0;
};

TEST_F(CodePages, of_changed_lines_are_dropped) {
  const u32 before = add(0, 64), changed = add(100, 20), after = add(128, 10);
  suspend_all();
  EXPECT_FALSE(lives(before) || lives(changed) || lives(after));
  write(127);
  resume_all();
  EXPECT_TRUE(lives(before) && lives(after));
  EXPECT_FALSE(lives(changed));
}

TEST_F(CodePages, that_are_written_with_the_same_bytes_are_resumed_each_time) {
  const u32 trace = add(4000, 20);
  for (int i = 0; i < 3; i++) {
    suspend_all();
    EXPECT_FALSE(lives(trace));
    resume_all();
    EXPECT_TRUE(lives(trace));
  }
  suspend_all();
  write(4010);
  resume_all();
  EXPECT_FALSE(lives(trace));
}

TEST_F(CodePages, resume_a_trace_only_if_all_of_its_pages_are) {
  const u32 trace = add(page_bytes - 5, 10), second = add(page_bytes + 200, 10);
  suspend_all();
  resume_code(code_);
  EXPECT_FALSE(lives(trace));
  write(page_bytes);
  resume_code(code_ + page_bytes);
  EXPECT_FALSE(lives(trace));
  EXPECT_TRUE(lives(second));
}

TEST_F(CodePages, that_can_be_written_unnoticed_are_not_resumed) {
  const u32 trace = add(0, 10);
  suspend_all();
  guarded = false;
  resume_all();
  EXPECT_FALSE(lives(trace));
}

TEST_F(CodePages, with_instrumented_traces_are_not_suspended) {
  can_be_suspended = false;
  const u32 trace = add(0, 10);
  suspend_all();
  resume_all();
  EXPECT_FALSE(lives(trace));
  EXPECT_TRUE(is_changing_code(code_));
}

TEST_F(CodePages, are_dropped_by_the_line) {
  const u32 one = add(0, 10), other = add(64, 10);
  invalidate(code_ + 3, 1);
  EXPECT_FALSE(lives(one));
  EXPECT_TRUE(lives(other));
}

TEST_F(CodePages, that_are_replaced_are_forgotten) {
  const u32 trace = add(0, 10);
  suspend_all();
  EXPECT_TRUE(is_changing_code(code_));
  forget_code(code_, page_bytes);
  EXPECT_FALSE(is_changing_code(code_));
  resume_all();
  EXPECT_FALSE(lives(trace));
}

TEST_F(CodePages, are_resumed_before_a_trace_is_added) {
  const u32 trace = add(0, 10);
  suspend_all();
  write(64);
  const u32 added = add(64, 10);
  EXPECT_TRUE(lives(trace) && lives(added));
  suspend_all();
  write(0);
  resume_all();
  EXPECT_FALSE(lives(trace));
  EXPECT_TRUE(lives(added));
}

TEST_F(CodePages, that_are_replaced_keep_their_bytes_for_cycles) {
  const u32 first = add(0, 10);
  for (const bool is_suspended : {false, true}) {
    if (is_suspended) suspend_all();
    keep_code(code_, page_bytes);
    write(0);
    forget_code(code_, page_bytes);
    add(0, 10);
  }
  EXPECT_EQ(byte_of(first, 0), 0);
  EXPECT_EQ(byte_of(first + 1, 0), 1);
  EXPECT_EQ(byte_of(first + 2, 0), 2);
}

TEST_F(CodePages, keep_the_bytes_of_changed_lines_for_cycles) {
  const u32 changed = add(0, 10), same = add(64, 10);
  suspend_all();
  write(0);
  const u32 after = add(0, 10);
  EXPECT_EQ(byte_of(changed, 0), 0);
  EXPECT_EQ(byte_of(after, 0), 1);
  PastCode past;
  EXPECT_TRUE(past.init());
  EXPECT_TRUE(is_past(past.address(code_, changed)));
  EXPECT_EQ(past.address(code_ + 64, same), code_ + 64);
}

TEST_F(CodePages, keep_all_bytes_of_a_trace_of_which_one_line_changes) {
  const u32 spanning = add(0, 128);
  suspend_all();
  write(0);
  resume_all();
  PastCode past;
  EXPECT_TRUE(past.init());
  EXPECT_TRUE(is_past(past.address(code_, spanning)));
  EXPECT_EQ(past.address(code_ + 64, spanning), past.address(code_, spanning) + 64);
}

TEST_F(CodePages, that_have_no_room_for_their_bytes_say_so) {
  const u32 trace = add(0, 10);
  for (int i = 0; i < 8192; i++) keep_code(code_, page_bytes);
  EXPECT_TRUE(PastCode().init());
  EXPECT_EQ(byte_of(trace, 0), 0);
  keep_code(code_, page_bytes);
  EXPECT_FALSE(PastCode().init());
  code_pages_reset();
  EXPECT_TRUE(PastCode().init());
}

TEST_F(CodePages, that_are_compared_keep_their_bytes_for_cycles) {
  const u32 before = add(0, 10);
  const u8 bytes[10] = {7};
  note_compared(code_, bytes, sizeof bytes);
  drop_compared(code_);
  EXPECT_FALSE(lives(before));
  EXPECT_EQ(byte_of(before, 0), 7);
  EXPECT_EQ(byte_of(add(0, 10), 0), 0);
}

TEST_F(CodePages, keep_no_bytes_without_cycles) {
  wanted_settings.models.on = 0;
  const u32 before = add(0, 10);
  keep_code(code_, page_bytes);
  PastCode past;
  EXPECT_TRUE(past.init());
  EXPECT_EQ(past.address(code_, before), code_);
}

}  // namespace
}  // namespace translate
}  // namespace tally::engine
