// Targets of indirect jumps: their slots in a thread's jump table, and the table of all of them.
#include "tally/engine/translate/indirect_targets.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <memory>
#include <set>

#include "tally/engine/guest_thread.hpp"

namespace tally::engine {

static bool has_memory = true;

// The table is all that this part reserves.
u64 try_reserve(u64 bytes, int protection) {
  if (!has_memory) return 0;
  return reinterpret_cast<u64>(mmap(nullptr, bytes, protection, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
}
void die(const char*, u64) { abort(); }

namespace translate {
namespace {

/// Searches as generated code does. Returns 0 if it enters the engine.
u64 entry_of(u64 pc) {
  const u64 table = reinterpret_cast<u64>(indirect_targets);
  const u64 mask = *reinterpret_cast<const u64*>(table - indirect_mask_bytes);
  u64 at = pc * indirect_target_factor >> 28;
  for (;; at += sizeof(IndirectTarget)) {
    at &= mask;
    const auto& found = *reinterpret_cast<const IndirectTarget*>(table + at);
    if (found.pc == pc) return found.entry;
    if (found.pc == 0) return 0;
  }
}

class IndirectTargets : public testing::Test {
 protected:
  void SetUp() override { indirect_targets_init(); }
  void TearDown() override { forget_indirect_targets(); }
};

TEST_F(IndirectTargets, are_found_after_the_table_has_grown) {
  constexpr u64 count = 50'000;
  for (u64 i = 1; i <= count; i++) add_indirect_target(i * 64, i);
  for (u64 i = 1; i <= count; i++) ASSERT_EQ(entry_of(i * 64), i);
  EXPECT_EQ(entry_of((count + 1) * 64), 0u);
}

TEST_F(IndirectTargets, are_replaced_and_removed) {
  add_indirect_target(0x1000, 1);
  replace_indirect_target(0x1000, 2, 3);
  EXPECT_EQ(entry_of(0x1000), 1u) << "another entry was replaced";
  replace_indirect_target(0x1000, 1, 3);
  EXPECT_EQ(entry_of(0x1000), 3u);
  replace_indirect_target(0x1000, 3, 0);
  EXPECT_EQ(entry_of(0x1000), 0u);
  add_indirect_target(0x1000, 4);
  EXPECT_EQ(entry_of(0x1000), 4u);
  replace_indirect_target(0x2000, 0, 5);
  EXPECT_EQ(entry_of(0x2000), 0u) << "a target was added";
}

TEST_F(IndirectTargets, are_forgotten_without_memory_for_more) {
  has_memory = false;
  for (u64 i = 1; i <= 2000; i++) {
    add_indirect_target(i * 4096, i);
    EXPECT_EQ(entry_of(i * 4096), i);
  }
  has_memory = true;
}

TEST(JumpSlots, of_aligned_code_differ) {
  const auto block = std::make_unique<u8[]>(jump_table_at + 8);
  auto* const thread = reinterpret_cast<Thread*>(block.get());
  for (const u64 alignment : {16, 64, 1024, 4096, 65536}) {
    std::set<u64*> slots;
    for (u64 i = 0; i < 4000; i++) slots.insert(&jump_slot(thread, 0x7f12'3456'0000 + i * alignment));
    EXPECT_EQ(slots.size(), 4000u) << alignment;
  }
}

}  // namespace
}  // namespace translate
}  // namespace tally::engine
