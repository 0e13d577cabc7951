// Where an interpreter's code stores its current frame: functions made by hand, as compilers write them.
#include "tally/engine/instrument/python_code.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "tally/engine/instrument/python_frames.hpp"
#include "tally/engine/instrument/python_objects.hpp"
#include "tally/engine/translate/engine_thread_testing.hpp"

namespace tally::engine {

bool fsgsbase_allowed = false;

namespace {

constexpr u64 code_start = 0x401000;
std::vector<u8> program;
channel::Settings wanted_settings;

}  // namespace

const channel::Settings& settings() { return wanted_settings; }

namespace translate {

u32 read_code(u64 pc, u8* to, u32 n) {
  const u64 at = pc - code_start;
  if (at >= program.size()) return 0;
  n = static_cast<u32>(std::min<u64>(n, program.size() - at));
  std::memcpy(to, program.data() + at, n);
  return n;
}

}  // namespace translate

namespace instrument {
namespace {

class PythonCode : public translate::EngineThreadTest {
 protected:
  PythonCode() { python_version = 0; }
  FrameChanges changes_of(std::vector<u8> code, u64 bytes) {
    program = std::move(code);
    program.resize(program.size() + 64, 0xcc);
    FrameChanges changes;
    find_frame_changes(code_start, bytes, changes);
    return changes;
  }
};

const std::vector<u8> entry = {
    0x48, 0x83, 0xec, 0x48,        // 00: sub rsp, 0x48
    0x48, 0x8d, 0x4c, 0x24, 0x20,  // 04: lea rcx, [rsp + 0x20]
    0x48, 0x89, 0x4f, 0x38,        // 09: mov [rdi + 0x38], rcx
};

std::vector<u8> with(std::vector<u8> code, const std::vector<u8>& more) {
  code.insert(code.end(), more.begin(), more.end());
  return code;
}

TEST_F(PythonCode, StoresAndReturns) {
  const FrameChanges found = changes_of(with(entry,
                                             {
                                                 0x48, 0x89, 0x74, 0x24, 0x28,  // 0d: mov [rsp + 0x28], rsi
                                                 0x48, 0x89, 0x74, 0x24, 0x30,  // 12: mov [rsp + 0x30], rsi
                                                 0x4c, 0x89, 0x64, 0x24, 0x28,  // 17: mov [rsp + 0x28], r12
                                                 0x48, 0x8b, 0x74, 0x24, 0x28,  // 1c: mov rsi, [rsp + 0x28]
                                                 0x89, 0x74, 0x24, 0x28,        // 21: mov [rsp + 0x28], esi
                                                 0x48, 0x83, 0xc4, 0x48,        // 25: add rsp, 0x48
                                                 0xc3,                          // 29: ret
                                             }),
                                        0x2a);
  ASSERT_EQ(found.count, 3u);
  EXPECT_EQ(found.change[0].pc, code_start + 0x0d);
  const FrameStore store = frame_store_of(found.change[1].store);
  EXPECT_EQ(found.change[1].pc, code_start + 0x17);
  EXPECT_EQ(store.base, rsp);
  EXPECT_EQ(store.value, r12);
  EXPECT_EQ(store.displacement, 0x28);
  EXPECT_EQ(found.change[2].pc, code_start + 0x29);
  EXPECT_TRUE(found.change[2].is_return);
}

TEST_F(PythonCode, BlocksElsewhere) {
  const FrameChanges found = changes_of(with(entry,
                                             {
                                                 0x0f, 0x84, 0x03, 0x00, 0x00, 0x00,  // 0d: je 16
                                                 0xc3,                                // 13: ret
                                                 0xcc, 0xcc,                          // 14: not the function's
                                                 0x48, 0x89, 0x5c, 0x24, 0x28,        // 16: mov [rsp + 0x28], rbx
                                                 0xeb, 0xf6,                          // 1b: jmp 13
                                                 0x48, 0x89, 0x5c, 0x24, 0x28,        // 1d: not reached
                                             }),
                                        0x14);
  ASSERT_EQ(found.count, 2u);
  EXPECT_EQ(found.change[0].pc, code_start + 0x13);
  EXPECT_EQ(found.change[1].pc, code_start + 0x16);
}

TEST_F(PythonCode, FramePointers) {
  const FrameChanges found = changes_of(
      {
          0x48, 0x8d, 0x85, 0x70, 0xff, 0xff, 0xff,  // 00: lea rax, [rbp - 0x90]
          0x49, 0x89, 0x44, 0x24, 0x38,              // 07: mov [r12 + 0x38], rax
          0x48, 0x89, 0x9d, 0x78, 0xff, 0xff, 0xff,  // 0c: mov [rbp - 0x88], rbx
      },
      0x13);
  ASSERT_EQ(found.count, 1u);
  EXPECT_EQ(frame_store_of(found.change[0].store).displacement, -0x88);
  EXPECT_EQ(frame_store_of(found.change[0].store).base, rbp);
}

TEST_F(PythonCode, Version312) {
  python_version = 1;
  const FrameChanges found = changes_of(with(entry,
                                             {
                                                 0x48, 0x89, 0x74, 0x24, 0x20,  // 0d: mov [rsp + 0x20], rsi
                                                 0x48, 0x89, 0x74, 0x24, 0x28,  // 12: mov [rsp + 0x28], rsi
                                             }),
                                        0x17);
  ASSERT_EQ(found.count, 1u);
  EXPECT_EQ(found.change[0].pc, code_start + 0x0d);
}

TEST_F(PythonCode, Version313) {
  python_version = 2;
  const FrameChanges found = changes_of(
      {
          0x48, 0x89, 0x77, 0x48,        // 00: mov [rdi + 0x48], rsi
          0x4d, 0x89, 0x6c, 0x24, 0x48,  // 04: mov [r12 + 0x48], r13
          0x48, 0x89, 0x4c, 0x24, 0x48,  // 09: mov [rsp + 0x48], rcx
          0x49, 0x89, 0x6c, 0x04, 0x48,  // 0e: mov [r12 + rax + 0x48], rbp
          0x4b, 0x89, 0x6c, 0x24, 0x48,  // 13: mov [r12 + r12 + 0x48], rbp
          0x44, 0x88, 0x5f, 0x48,        // 18: mov [rdi + 0x48], r11b
          0x48, 0x89, 0x77, 0x50,        // 1c: mov [rdi + 0x50], rsi
          0xc3,                          // 20: ret
      },
      0x21);
  ASSERT_EQ(found.count, 3u);
  EXPECT_EQ(frame_store_of(found.change[0].store).base, rdi);
  EXPECT_EQ(found.change[1].pc, code_start + 0x04);
  EXPECT_EQ(frame_store_of(found.change[1].store).base, r12);
  EXPECT_TRUE(found.change[2].is_return);
}

TEST_F(PythonCode, OtherFunctionsHaveNone) {
  EXPECT_EQ(changes_of({0x48, 0x89, 0x74, 0x24, 0x28, 0xc3}, 6).count, 0u) << "no variable is stored in the state";
  EXPECT_EQ(changes_of({0x48, 0x8d, 0x4c, 0x24, 0x20, 0x48, 0x89, 0x4f, 0x40, 0xc3}, 10).count, 0u) << "another member";
  EXPECT_EQ(changes_of({0x06}, 1).count, 0u) << "no instruction";
}

TEST_F(PythonCode, MarksOfTheCommand) {
  program = with(entry, {0x48, 0x89, 0x74, 0x24, 0x20, 0xc3});
  channel::MarkPoints points{};
  points.count = 2;
  points.point[0] = {0x1234, 0, channel::mark_leaves};
  const u32 version = 1u << channel::python_size_bits;
  points.point[1] = {code_start, static_cast<u32>(program.size()) | version, channel::mark_python};
  add_python_marks(points);
  ASSERT_EQ(points.count, 4u);
  EXPECT_EQ(points.point[2].role, channel::mark_python_frame);
  EXPECT_EQ(points.point[3].role, channel::mark_python_return);
  EXPECT_EQ(python_version, 1u);
  EXPECT_FALSE(is_python(points.point[0]));
  EXPECT_TRUE(is_python(points.point[3]));
}

}  // namespace
}  // namespace instrument
}  // namespace tally::engine
