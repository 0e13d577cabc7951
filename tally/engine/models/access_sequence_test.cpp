// Accesses that depend on register values, calculated by hand from the manual.
#include "tally/engine/models/access_sequence.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace tally::models {

std::ostream& operator<<(std::ostream& out, const ElementAccess& element) {
  return out << std::hex << element.address << "+" << std::dec << element.bytes << "/"
             << static_cast<int>(element.what);
}

namespace {

std::vector<ElementAccess> list(const AccessSequence& sequence) {
  return {sequence.accesses, sequence.accesses + sequence.count};
}

const std::uint8_t* bytes_of(const auto& values) { return reinterpret_cast<const std::uint8_t*>(values); }

TEST(AccessSequence, each_element_is_one_access_in_ascending_order) {
  const std::int32_t indices[] = {0, -2, 100, 3};
  AccessSequence all;
  add_elements(all, {.count = 4, .bytes = 4, .index_bytes = 4, .scale = 2, .low = false}, 0x1000, 0xf,
               bytes_of(indices), Access::load);
  EXPECT_EQ(
      list(all),
      (std::vector<ElementAccess>{
          {0x1000, 4, Access::load}, {0xff8, 4, Access::load}, {0x1190, 4, Access::load}, {0x100c, 4, Access::load}}));
  AccessSequence some;
  add_elements(some, {.count = 4, .bytes = 8, .index_bytes = 4, .scale = 3, .low = false}, 0x1000, 0xff6,
               bytes_of(indices), Access::store);
  EXPECT_EQ(list(some), (std::vector<ElementAccess>{{0xff0, 8, Access::store}, {0x1320, 8, Access::store}}));
}

TEST(AccessSequence, indices_of_64_bits_and_addresses_of_32) {
  const std::int64_t indices[] = {-1, std::int64_t{1} << 32};
  AccessSequence sequence;
  add_elements(sequence, {.count = 2, .bytes = 4, .index_bytes = 8, .scale = 0, .low = true}, 0, 3, bytes_of(indices),
               Access::load);
  EXPECT_EQ(list(sequence), (std::vector<ElementAccess>{{0xffffffff, 4, Access::load}, {0, 4, Access::load}}));
}

TEST(AccessSequence, a_masked_move_is_one_access_from_the_first_selected_element_to_the_last) {
  constexpr Elements of{.count = 8, .bytes = 4, .index_bytes = 0, .scale = 0, .low = false};
  AccessSequence sequence;
  add_masked(sequence, of, 0x2000, 0, Access::load);
  EXPECT_EQ(sequence.count, 0U);
  add_masked(sequence, of, 0x2000, 0b01100100, Access::store);
  add_masked(sequence, of, 0x2000, 0xffffff00, Access::store);
  EXPECT_EQ(list(sequence), (std::vector<ElementAccess>{{0x2008, 20, Access::store}}));
}

TEST(AccessSequence, a_mask_is_the_signs_of_a_vector) {
  const std::uint32_t vector[] = {0x80000000, 0x7fffffff, 0xffffffff, 0x80};
  EXPECT_EQ(mask_of_signs({.count = 4, .bytes = 4, .index_bytes = 0, .scale = 0, .low = false}, bytes_of(vector)), 5U);
  EXPECT_EQ(mask_of_signs({.count = 16, .bytes = 1, .index_bytes = 0, .scale = 0, .low = false}, bytes_of(vector)),
            0b0001'1111'0111'1000U);
}

TEST(AccessSequence, enter_pushes_the_previous_frames) {
  AccessSequence sequence;
  add_frames(sequence, 0x7100, 0x7000, 3, 8);
  EXPECT_EQ(list(sequence), (std::vector<ElementAccess>{{0x6ff8, 8, Access::store},
                                                        {0x70f8, 8, Access::load},
                                                        {0x6ff0, 8, Access::store},
                                                        {0x70f0, 8, Access::load},
                                                        {0x6fe8, 8, Access::store},
                                                        {0x6fe0, 8, Access::store}}));
  AccessSequence most;
  add_frames(most, 0x7100, 0x7000, 31, 8);
  EXPECT_EQ(most.count, 62U);
}

/// AVX after the header, a component of 8 bytes, and an aligned one after that.
StateLayout layout() {
  StateLayout made{};
  made.component[2] = {576, 256, false};
  made.component[5] = {832, 8, false};
  made.component[6] = {896, 512, true};
  return made;
}

TEST(AccessSequence, state_has_the_components_that_are_saved) {
  AccessSequence standard;
  add_state(standard, layout(), 0x1000, 0b1000011, 0b1000111, 0, 8, Access::store);
  EXPECT_EQ(list(standard),
            (std::vector<ElementAccess>{
                {0x1000, 416, Access::store}, {0x1200, 8, Access::store}, {0x1380, 512, Access::store}}));
  // MXCSR belongs to AVX; the x87 registers are on both sides of it.
  AccessSequence x87;
  add_state(x87, layout(), 0x1000, 1, 1, 0, 8, Access::store);
  EXPECT_EQ(list(x87), (std::vector<ElementAccess>{
                           {0x1000, 24, Access::store}, {0x1020, 128, Access::store}, {0x1200, 8, Access::store}}));
  AccessSequence avx;
  add_state(avx, layout(), 0x1000, 4, 4, 0, 8, Access::store);
  EXPECT_EQ(list(avx), (std::vector<ElementAccess>{
                           {0x1018, 8, Access::store}, {0x1200, 8, Access::store}, {0x1240, 256, Access::store}}));
}

TEST(AccessSequence, offsets_of_components_depend_on_the_form) {
  EXPECT_EQ(place_of_component(layout(), 0, 2), 576u);
  EXPECT_EQ(place_of_component(layout(), 0, 6), 896u);
  EXPECT_EQ(place_of_component(layout(), compacted | 0b1100100, 6), 896u);
  EXPECT_EQ(place_of_component(layout(), compacted | 0b1100000, 5), 576u);
  EXPECT_EQ(place_of_component(layout(), compacted | 0b1100000, 6), 640u);
  EXPECT_EQ(place_of_component(layout(), compacted | 0b1000000, 6), 576u);
  EXPECT_EQ(place_of_component(layout(), compacted | 0b0100000, 6), 0u);
}

TEST(AccessSequence, compacted_state_omits_components_that_were_not_requested) {
  AccessSequence saved;
  add_state(saved, layout(), 0x1000, 0b1100010, 0b1100010, compacted | 0b1100010, 16, Access::store);
  EXPECT_EQ(list(saved), (std::vector<ElementAccess>{{0x1018, 8, Access::store},
                                                     {0x10a0, 256, Access::store},
                                                     {0x1200, 16, Access::store},
                                                     {0x1240, 8, Access::store},
                                                     {0x1280, 512, Access::store}}));
  AccessSequence restored;
  add_state(restored, layout(), 0x1000, 0b1000100, 0b1100110, compacted | 0b1100110, 64, Access::load);
  EXPECT_EQ(list(restored), (std::vector<ElementAccess>{
                                {0x1200, 64, Access::load}, {0x1240, 256, Access::load}, {0x1380, 512, Access::load}}));
}

}  // namespace
}  // namespace tally::models
