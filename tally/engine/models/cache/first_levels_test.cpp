// Compares FirstLevels on filtered notes with a whole hierarchy that processes every access.
#include "tally/engine/models/cache/first_levels.hpp"

#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "tally/engine/models/table_memory.hpp"

namespace tally::models {
namespace {

constexpr std::uint64_t line_bytes = 64;

/// A filter like that of generated code: keeps the last line of every set and notes other accesses.
class Filter {
 public:
  explicit Filter(const HierarchyShape& shape)
      : shape_(shape),
        tables_(FirstLevels::words(shape)),
        l2_(table_words(shape.l2)),
        llc_(table_words(shape.llc)),
        first_(shape, tables_.data()),
        lower_(shape, l2_.data(), llc_.data()),
        last_i_(shape.l1i.sets),
        last_d_(shape.l1d.sets) {}

  void access(std::uint64_t address, std::uint64_t bytes, Access access) {
    bool noted = false;
    for (std::uint64_t line = address / line_bytes; line <= (address + bytes - 1) / line_bytes; ++line) {
      const bool is_first = line == address / line_bytes;
      auto& lasts = access == Access::fetch ? last_i_ : last_d_;
      std::uint64_t& last = lasts[line % lasts.size()];
      if (!is_first && access != Access::fetch) {
        counts.l1d_across.loads += access != Access::store;
        counts.l1d_across.stores += access != Access::load;
      }
      if (last == line + 1) continue;
      last = line + 1;
      const bool joins = noted && access != Access::fetch;
      notes_.push_back(note_of(line * line_bytes, access) | (joins ? same_access : 0));
      noted = true;
      if (notes_.size() == 100) drain();
    }
  }

  void drain() {
    const std::uint32_t missed = first_.access_all(notes_.data(), static_cast<std::uint32_t>(notes_.size()), counts);
    lower_.request_all(notes_.data(), missed, counts);
    notes_.clear();
  }

  HierarchyCounts counts;

 private:
  HierarchyShape shape_;
  std::vector<std::uint64_t> tables_, l2_, llc_;
  FirstLevels first_;
  LowerLevels lower_;
  std::vector<std::uint64_t> last_i_, last_d_;
  std::vector<Note> notes_;
};

/// References of first levels that hit are not compared here.
void forget_hits(HierarchyCounts& counts) { counts.l1i.fetches = counts.l1d.loads = counts.l1d.stores = 0; }

class FirstLevelsTest : public ::testing::TestWithParam<std::uint32_t> {};

TEST_P(FirstLevelsTest, count_the_same_as_the_whole_hierarchy) {
  HierarchyShape shape;
  shape.l1i = {.sets = 8, .ways = 2};
  shape.l1d = {.sets = 16, .ways = GetParam()};
  shape.l2 = {.sets = 64, .ways = 8};
  shape.llc = {.sets = 96, .ways = 16};
  std::vector<std::uint64_t> own(private_words(shape)), shared(shared_words(shape));
  Hierarchy whole(shape, tables_in(shape, own.data(), shared.data()));
  Filter filter(shape);
  std::mt19937_64 random(7);
  std::uint64_t at = 0;
  for (int i = 0; i < 200'000; ++i) {
    const auto access = static_cast<Access>(random() % 4);
    // Near the last one, in a working set of some first levels, or anywhere.
    at = random() % 3 != 0 ? at + random() % 80 : random() % (random() % 4 != 0 ? 20'000 : 2'000'000);
    const std::uint64_t bytes = random() % 50 == 0 ? 200 : 1 + random() % 32;
    whole.access(at, bytes, access);
    filter.access(at, bytes, access);
  }
  filter.drain();
  HierarchyCounts expected = whole.counts();
  forget_hits(expected);
  EXPECT_EQ(filter.counts, expected);
  EXPECT_GT(expected.l1d_across.load_misses, 100u);
  EXPECT_GT(expected.llc.load_misses, 100u);
}
INSTANTIATE_TEST_SUITE_P(ways, FirstLevelsTest, ::testing::Values(1, 2, 8, 12, 16));

}  // namespace
}  // namespace tally::models
