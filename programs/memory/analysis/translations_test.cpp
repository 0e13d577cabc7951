// Tests of the report on translation buffers, from hit counts.
#include "programs/memory/analysis/translations.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace tally::memory {
namespace {

using result::Grade;

const TranslationWitness how{4096, 2 << 20, "--mappings 10"};

// Hit counts of a fully associative buffer with 72 entries at six pitches.
TlbHits any_of_72(std::uint64_t granule = 4096) {
  TlbHits all;
  for (unsigned k = 0; k < 6; ++k) {
    const std::uint64_t pitch = (std::uint64_t{4096} << k) + 64;
    all.hits.push_back({pitch, 72 * std::max<std::uint64_t>(1, granule / pitch)});
  }
  all.penalty_ns = 1.9;
  all.pages_got = "thp";
  return all;
}

TEST(Translations, that_agree_everywhere_are_graded_high) {
  const auto rows = translation_rows(any_of_72(), any_of_72(), "thp", how);
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].grade, Grade::high);
  EXPECT_EQ(rows[0].entries, 72);
  EXPECT_EQ(rows[0].ways, 72);
  EXPECT_EQ(rows[0].sets, 1);
  EXPECT_TRUE(rows[0].because.ends_with("; thp pages (thp) are translated by 4.000 KiB")) << rows[0].because;
  EXPECT_EQ(translation_rows(any_of_72(), {}, "4k", how)[0].grade, Grade::medium) << "huge pages were not measured";
}

TEST(Translations, have_the_reach_of_their_pages) {
  EXPECT_EQ(first_translations(any_of_72(), {}, how), (FirstTranslations{72 * 4096, 1.9}));
  EXPECT_EQ(first_translations(any_of_72(), any_of_72(), how), (FirstTranslations{72 * 4096, 1.9}))
      << "huge pages that a host splits";
  EXPECT_GT(first_translations(any_of_72(), any_of_72(2 << 20), how).reach_bytes, 64.0 * (2 << 20));
  EXPECT_EQ(first_translations(any_of_72(), any_of_72(2 << 20), how).miss_ns, 0) << "not measured with huge pages";
  TlbHits flat = any_of_72();
  flat.penalty_ns = 0;
  EXPECT_EQ(first_translations(flat, {}, how), FirstTranslations{}) << "none was seen";
  EXPECT_EQ(first_translations({}, {}, how), FirstTranslations{});
}

TEST(Translations, with_low_grade_have_no_ways) {
  TlbHits once = any_of_72();
  once.again = false;
  const auto rows = translation_rows(once, once, "thp", how);
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].grade, Grade::low);
  EXPECT_EQ(rows[0].entries, 72);
  EXPECT_FALSE(rows[0].ways);
  EXPECT_FALSE(rows[0].sets);
  EXPECT_NE(rows[0].because.find("but not the same number in any two mappings; --mappings 10 measures more often"),
            std::string::npos)
      << rows[0].because;
}

TEST(Translations, without_cost_are_unseen) {
  TlbHits flat = any_of_72();
  for (HitCount& one : flat.hits) one.lines = 2048;
  flat.penalty_ns = 0;
  auto rows = translation_rows(flat, flat, "thp", how);
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_TRUE(rows[0].unseen);
  EXPECT_EQ(rows[0].entries, 0) << "2048 is what was tried";
  EXPECT_EQ(rows[0].because, "not seen: 2048 lines in separate pages are as fast as adjacent ones");
  flat.hits[0].lines = 0;
  rows = translation_rows(flat, flat, "thp", how);
  EXPECT_TRUE(rows[0].unseen);
  EXPECT_TRUE(rows[0].because.ends_with("; --mappings 10 measures more often")) << rows[0].because;
  EXPECT_TRUE(translation_rows({}, {}, "thp", how).empty()) << "nothing was measured";
}

TEST(Translations, of_huge_pages_are_reported) {
  const auto rows = translation_rows(any_of_72(), any_of_72(2 << 20), "2m", how);
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].granule_bytes, 4096);
  EXPECT_EQ(rows[0].grade, Grade::high);
  EXPECT_TRUE(rows[0].because.ends_with("; 2m pages (thp) are translated by 2.000 MiB")) << rows[0].because;
}

TEST(Translations, of_the_second_buffer_are_graded_low) {
  TlbHits both = any_of_72();
  both.second_entries = 2048;
  both.second_penalty_ns = 11;
  const auto rows = translation_rows(both, {}, "4k", how);
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[1].name, "second DTLB");
  EXPECT_EQ(rows[1].grade, Grade::low);
  EXPECT_FALSE(rows[1].ways);
}

}  // namespace
}  // namespace tally::memory
