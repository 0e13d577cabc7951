// Tests that each flavour touches exactly the lines that its name promises, and leaves the right values in them.
#include "programs/memory/kernels/flavours.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <set>
#include <vector>

namespace tally::memory {
namespace {

constexpr std::size_t region_bytes = 64 * 64;

struct Region {
  alignas(64) std::byte bytes[region_bytes + 128];
};

std::uint64_t word_at(const Region& region, std::uint64_t offset) {
  std::uint64_t word = 0;
  std::memcpy(&word, region.bytes + offset, sizeof word);
  return word;
}

// Blocks of `lines` lines at strides that leave gaps.
struct Case {
  std::vector<std::uint32_t> order;
  std::uint64_t stride, lines;
};
const Case cases[] = {{{0, 3, 1, 2, 0}, 64, 1}, {{0, 2, 1, 0}, 192, 1}, {{0, 4, 2, 1, 3, 0}, 256, 4}, {{0, 0}, 64, 1}};

Chain chain_of(Region& region, const Case& one) {
  return {region.bytes, one.order.data(), Blocks{one.order.size() - 1}, Bytes{one.stride}, Lines{one.lines}};
}

// The expected words of the region after a write: the first word of each line of a block is the next offset.
void expect_written(const Region& region, const Case& one, std::string_view name) {
  std::set<std::uint64_t> touched;
  for (std::size_t k = 0; k + 1 < one.order.size(); ++k) {
    for (std::uint64_t line = 0; line < one.lines; ++line) {
      const std::uint64_t at = one.order[k] * one.stride + 64 * line;
      EXPECT_EQ(word_at(region, at), one.order[k + 1] * one.stride) << name;
      for (std::uint64_t word = 0; word < 64; word += 8) {
        EXPECT_NE(word_at(region, at + word), 0xAAAA'AAAA'AAAA'AAAA) << name << ": a part of the line is left";
      }
      touched.insert(at);
    }
  }
  for (std::uint64_t at = 0; at < sizeof region.bytes; at += 64) {
    if (touched.contains(at)) continue;
    for (std::uint64_t i = 0; i < 64; ++i) EXPECT_EQ(region.bytes[at + i], std::byte{0xAA}) << name << " " << at;
  }
}

// Each flavour is a test of its own, and is skipped if the processor lacks its instructions.
template <class Flavour>
class OfFlavour : public testing::TestWithParam<Flavour> {
 protected:
  void SetUp() override {
    const Flavour& flavour = this->GetParam();
    if (!flavour.present()) GTEST_SKIP() << flavour.name << " needs " << flavour.needs << ", which is missing here";
  }
};
template <class Flavour>
std::string name_of(const testing::TestParamInfo<Flavour>& info) {
  std::string name(info.param.name);
  std::replace(name.begin(), name.end(), '+', '_');
  return name;
}
class Stores : public OfFlavour<Store> {};
class Loads : public OfFlavour<Load> {};
INSTANTIATE_TEST_SUITE_P(Each, Stores, testing::ValuesIn(stores().begin(), stores().end()), name_of<Store>);
INSTANTIATE_TEST_SUITE_P(Each, Loads, testing::ValuesIn(loads().begin(), loads().end()), name_of<Load>);

TEST_P(Stores, write_every_line_of_each_block_and_no_others) {
  const Store& store = GetParam();
  for (const Case& one : cases) {
    const auto region = std::make_unique<Region>();
    std::memset(region->bytes, 0xAA, sizeof region->bytes);
    store.write(chain_of(*region, one));
    usual_fence().wait();
    expect_written(*region, one, store.name);
  }
}

// A chain whose order spans two pages. The second page is unreadable at first; its fault handler counts the blocks that
// were already written.
struct WatchedOrder {
  static constexpr std::size_t page = 4096;
  static constexpr std::size_t entries = 2 * page / sizeof(std::uint32_t);
  std::byte* pages = nullptr;
  Chain chain;
  std::size_t written_before = 0;

  static WatchedOrder* current;
  static void asked(int, siginfo_t*, void*) {
    WatchedOrder& self = *current;
    while (self.written_before < entries && self.chain.base[self.written_before * 64] != std::byte{0xAA}) {
      ++self.written_before;
    }
    mprotect(self.pages + page, page, PROT_READ | PROT_WRITE);
  }
};
WatchedOrder* WatchedOrder::current = nullptr;

// B13: stores took their order from an array of eight bytes per block, in the order of the blocks, so its misses were
// timed.
TEST_P(Stores, B13_read_only_the_order_sequentially) {
  static_assert(sizeof(*Chain{}.order) == 4);
  const Store& store = GetParam();
  WatchedOrder watched;
  WatchedOrder::current = &watched;
  watched.pages = static_cast<std::byte*>(
      mmap(nullptr, 2 * WatchedOrder::page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  auto* const order = reinterpret_cast<std::uint32_t*>(watched.pages);
  for (std::uint32_t k = 0; k < WatchedOrder::entries; ++k) order[k] = k;
  void* const memory = std::aligned_alloc(64, WatchedOrder::entries * 64);
  std::memset(memory, 0xAA, WatchedOrder::entries * 64);
  watched.chain = {static_cast<std::byte*>(memory), order, Blocks{WatchedOrder::entries - 1}, Bytes{64}, Lines{1}};
  mprotect(watched.pages + WatchedOrder::page, WatchedOrder::page, PROT_NONE);
  struct sigaction asked = {};
  struct sigaction before = {};
  asked.sa_sigaction = WatchedOrder::asked;
  asked.sa_flags = SA_SIGINFO;
  sigaction(SIGSEGV, &asked, &before);
  store.write(watched.chain);
  sigaction(SIGSEGV, &before, nullptr);
  // The last block of the first page is followed by the first entry of the second page.
  EXPECT_EQ(watched.written_before, WatchedOrder::entries / 2 - 1);
  munmap(watched.pages, 2 * WatchedOrder::page);
  std::free(memory);
}

TEST_P(Loads, B1_visit_exactly_the_blocks_and_preserve_memory) {
  const Load& load = GetParam();
  for (const Case& one : cases) {
    const auto region = std::make_unique<Region>();
    std::memset(region->bytes, 0xAA, sizeof region->bytes);
    stores().front().write(chain_of(*region, one));
    // The last line of a block contains the next offset; the others may contain anything.
    for (std::size_t k = 0; k + 1 < one.order.size(); ++k) {
      for (std::uint64_t line = 0; line + 1 < one.lines; ++line)
        region->bytes[one.order[k] * one.stride + 64 * line] ^= std::byte{64};
    }
    const auto before = std::make_unique<Region>(*region);
    Chain chain = chain_of(*region, one);
    EXPECT_EQ(load.read(chain, 0), 0u) << "once around";
    // Single steps visit each block once, in order.
    chain.blocks = Blocks{1};
    std::uint64_t offset = 0;
    for (std::size_t k = 0; k + 1 < one.order.size(); ++k) {
      EXPECT_EQ(offset, one.order[k] * one.stride);
      offset = load.read(chain, offset);
    }
    EXPECT_EQ(offset, 0u);
    EXPECT_EQ(std::memcmp(region->bytes, before->bytes, sizeof region->bytes), 0);
  }
}

// Pages that are unreadable until their first access, and the order of these accesses.
struct WatchedPages {
  static constexpr std::size_t page = 4096, count = 16;
  std::byte* pages = nullptr;
  std::vector<std::size_t> asked_for;

  static WatchedPages* current;
  static void asked(int, siginfo_t* info, void*) {
    WatchedPages& self = *current;
    const auto number = static_cast<std::size_t>(static_cast<std::byte*>(info->si_addr) - self.pages) / page;
    if (number >= count) std::abort();
    self.asked_for.push_back(number);
    mprotect(self.pages + number * page, page, PROT_READ);
  }
};
WatchedPages* WatchedPages::current = nullptr;

// Blocks of 65 lines reach into a second page. A block is loaded from its end or from its beginning, so the order of
// its two pages is not fixed.
TEST_P(Loads, touch_every_block_in_chain_order) {
  WatchedPages watched;
  WatchedPages::current = &watched;
  watched.asked_for.reserve(WatchedPages::count);
  watched.pages = static_cast<std::byte*>(
      mmap(nullptr, WatchedPages::count * WatchedPages::page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  const std::vector<std::uint32_t> order = {0, 3, 1, 2, 0};
  struct sigaction asked = {};
  struct sigaction before = {};
  asked.sa_sigaction = WatchedPages::asked;
  asked.sa_flags = SA_SIGINFO;
  sigaction(SIGSEGV, &asked, &before);
  GetParam().touch({watched.pages, order.data(), Blocks{4}, Bytes{3 * WatchedPages::page}, Lines{65}});
  sigaction(SIGSEGV, &before, nullptr);
  for (std::size_t i = 0; i + 1 < watched.asked_for.size(); i += 2)
    std::sort(watched.asked_for.begin() + static_cast<std::ptrdiff_t>(i),
              watched.asked_for.begin() + static_cast<std::ptrdiff_t>(i) + 2);
  EXPECT_EQ(watched.asked_for, (std::vector<std::size_t>{0, 1, 9, 10, 3, 4, 6, 7}));
  munmap(watched.pages, WatchedPages::count * WatchedPages::page);
}

TEST_P(Loads, touch_changes_nothing) {
  for (const Case& one : cases) {
    const auto region = std::make_unique<Region>();
    std::memset(region->bytes, 0xAA, sizeof region->bytes);
    const auto before = std::make_unique<Region>(*region);
    // The lines contain no valid offset: a walk that used them would leave the region.
    GetParam().touch(chain_of(*region, one));
    EXPECT_EQ(std::memcmp(region->bytes, before->bytes, sizeof region->bytes), 0);
  }
}

TEST(Rings, each_is_followed_separately) {
  Region region;
  // 0 → 64 → 128 → 192 → 0
  for (std::uint64_t at = 0; at < 256; at += 64) {
    const std::uint64_t next = (at + 64) % 256;
    std::memcpy(region.bytes + at, &next, sizeof next);
  }
  for (int rings = 1; rings <= most_rings; ++rings) {
    std::vector<std::uint64_t> offsets(most_rings, 999);
    for (int i = 0; i < rings; ++i) offsets[static_cast<std::size_t>(i)] = static_cast<std::uint64_t>(i % 4) * 64;
    chase_together(region.bytes, offsets.data(), rings, 5);
    for (int i = 0; i < most_rings; ++i) {
      EXPECT_EQ(offsets[static_cast<std::size_t>(i)], i < rings ? static_cast<std::uint64_t>((i + 5) % 4) * 64 : 999);
    }
  }
}

TEST(StoreAndLoad, loads_what_was_stored_at_the_same_address) {
  Region region;
  std::memset(region.bytes, 0xAA, sizeof region.bytes);
  EXPECT_EQ(store_and_load(region.bytes, 8, 8, 3).offset, 0u);
  EXPECT_EQ(store_and_load(region.bytes, 16, 24, 1).offset, 0xAAAA'AAAA'AAAA'AAAA);
  EXPECT_EQ(word_at(region, 16), 0u) << "the first store is of 0";
}

// Two names for one kernel would be compared as if they differed.
TEST(B5, every_name_has_its_own_kernel) {
  std::set<std::string_view> names;
  std::set<const void*> kernels;
  for (const Store& one : stores()) {
    EXPECT_TRUE(names.insert(one.name).second) << one.name;
    EXPECT_TRUE(kernels.insert(reinterpret_cast<const void*>(one.write)).second) << one.name;
  }
  names.clear();
  for (const Load& one : loads()) {
    EXPECT_TRUE(names.insert(one.name).second) << one.name;
    EXPECT_TRUE(kernels.insert(reinterpret_cast<const void*>(one.read)).second) << one.name;
  }
  for (const Fence& one : fences())
    EXPECT_TRUE(kernels.insert(reinterpret_cast<const void*>(one.wait)).second) << one.name;
}

TEST(Flavours, the_defaults_are_present) {
  EXPECT_TRUE(usual_store().present());
  EXPECT_TRUE(usual_load().present());
  EXPECT_TRUE(usual_fence().present());
}

}  // namespace
}  // namespace tally::memory
