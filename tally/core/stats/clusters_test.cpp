#include "tally/core/stats/clusters.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>

namespace tally::phase {
namespace {

// Clouds of `each` points around the given centres, cloud after cloud.
Vectors clouds(const std::vector<std::pair<double, double>>& centers_of_clouds, std::size_t each, double width,
               unsigned seed = 3) {
  std::mt19937 random(seed);
  Vectors made{2, {}};
  for (const auto& [x, y] : centers_of_clouds) {
    for (std::size_t i = 0; i < each; ++i) {
      // The sum of four uniform numbers is close enough to a normal distribution.
      const auto off = [&] {
        double sum = 0;
        for (int k = 0; k < 4; ++k) sum += static_cast<double>(random()) / 4294967296.0 - 0.5;
        return sum * width;
      };
      made.values.push_back(x + off());
      made.values.push_back(y + off());
    }
  }
  return made;
}

TEST(Clusters, finds_one_cluster_per_cloud) {
  const std::vector<std::pair<double, double>> centers_of_clouds{{0, 0}, {10, 0}, {0, 10}, {10, 10}, {5, 20}, {20, 5}};
  for (std::size_t count = 2; count <= centers_of_clouds.size(); ++count) {
    for (std::uint64_t seed = 1; seed <= 5; ++seed) {
      const std::vector<std::pair<double, double>> some(centers_of_clouds.begin(),
                                                        centers_of_clouds.begin() + static_cast<std::ptrdiff_t>(count));
      Options options;
      options.seed = seed;
      const Clusters found = find_clusters(clouds(some, 200, 0.5), options);
      ASSERT_EQ(found.centers.size(), count) << "seed " << seed;
      for (std::size_t row = 0; row < found.of_row.size(); ++row)
        ASSERT_EQ(found.of_row[row], row / 200) << "numbered as they come";
      EXPECT_EQ(found.sizes, std::vector<std::size_t>(count, 200));
    }
  }
}

TEST(Clusters, one_cloud_is_one_cluster) { EXPECT_EQ(find_clusters(clouds({{3, 4}}, 500, 1), {}).centers.size(), 1u); }

TEST(Clusters, identical_rows_form_one_cluster_and_two_kinds_form_two) {
  EXPECT_EQ(find_clusters(clouds({{3, 4}}, 500, 0), {}).centers.size(), 1u);
  const Clusters two = find_clusters(clouds({{3, 4}, {3, 5}}, 500, 0), {});
  EXPECT_EQ(two.centers.size(), 2u);
  EXPECT_EQ(two.scores.size(), 2u) << "more centres than kinds cannot be";
  EXPECT_EQ(two.representatives, (std::vector<std::size_t>{0, 500})) << "the first of equals";
}

TEST(Clusters, no_rows_have_no_clusters) {
  EXPECT_TRUE(find_clusters({2, {}}, {}).centers.empty());
  EXPECT_TRUE(find_clusters({}, {}).of_row.empty());
  EXPECT_EQ(find_clusters({1, {7}}, {}).sizes, std::vector<std::size_t>{1});
}

TEST(Clusters, the_same_seed_finds_the_same) {
  const Vectors vectors = clouds({{0, 0}, {1, 0}, {0, 1}}, 300, 1.5);
  const Clusters one = find_clusters(vectors, {}), other = find_clusters(vectors, {});
  EXPECT_EQ(one.of_row, other.of_row);
  EXPECT_EQ(one.scores, other.scores);
  EXPECT_EQ(one.representatives, other.representatives);
}

TEST(Clusters, a_representative_is_the_row_nearest_to_its_centre) {
  const Vectors vectors = clouds({{0, 0}, {10, 10}}, 100, 1);
  const Clusters found = find_clusters(vectors, {});
  for (std::size_t cluster = 0; cluster < 2; ++cluster) {
    const auto far = [&](std::size_t row) {
      const double x = vectors.values[2 * row] - found.centers[cluster][0],
                   y = vectors.values[2 * row + 1] - found.centers[cluster][1];
      return x * x + y * y;
    };
    for (std::size_t row = 0; row < vectors.rows(); ++row)
      if (found.of_row[row] == cluster) EXPECT_LE(far(found.representatives[cluster]), far(row));
  }
}

TEST(Clusters, a_sample_of_many_rows_finds_the_same_clusters) {
  Options options;
  options.sample = 100;
  const Clusters found = find_clusters(clouds({{0, 0}, {10, 0}, {0, 10}}, 5000, 0.5), options);
  ASSERT_EQ(found.centers.size(), 3u);
  EXPECT_EQ(found.sizes, std::vector<std::size_t>(3, 5000));
}

TEST(Scaled, no_column_outweighs_another_by_its_unit_and_constant_ones_are_dropped) {
  Vectors vectors{4, {}};
  for (int i = 0; i < 100; ++i) {
    const double side = i % 2;
    vectors.values.insert(vectors.values.end(), {1000 * side, 0.001 * side, 0.1, 5 + 1e-6 * side});
  }
  const Vectors made = scaled(vectors);
  ASSERT_EQ(made.dimensions, 3u);
  EXPECT_NEAR(made.values[3] - made.values[0], 2, 1e-9);
  EXPECT_NEAR(made.values[4] - made.values[1], 2, 1e-9);
  EXPECT_NEAR(made.values[5] - made.values[2], 1e-6 / 0.05, 1e-6) << "a trifle stays one";
}

}  // namespace
}  // namespace tally::phase
