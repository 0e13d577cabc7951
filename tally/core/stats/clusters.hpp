// Finds phases by clustering similar vectors with k-means. A score chooses the number of clusters, as in SimPoint
// (Hamerly, Perelman, Lau, Calder: SimPoint 3.0, JILP 7, 2005). The caller defines what the vectors contain.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace tally::phase {

/// Vectors of equal length, stored row after row.
struct Vectors {
  std::size_t dimensions = 0;
  std::vector<double> values;
  std::size_t rows() const { return dimensions == 0 ? 0 : values.size() / dimensions; }
};

struct Options {
  std::size_t most = 10;        ///< maximum number of clusters
  std::size_t sample = 10'000;  ///< find the centres from N evenly drawn vectors; then assign all vectors
  int starts = 4;               ///< run k-means N times and keep the best result
  std::uint64_t seed = 1;       ///< the same seed finds the same clusters
  double share = 0.9;           ///< SimPoint: the fewest clusters whose score is this far from worst to best
  double resolution = 0.1;      ///< coordinates that differ by less are equal
};

struct Clusters {
  std::vector<std::vector<double>> centers;
  std::vector<std::size_t> of_row;           ///< the cluster of each row, from 0; numbered in order of first appearance
  std::vector<std::size_t> sizes;            ///< rows of each
  std::vector<std::size_t> representatives;  ///< the row nearest to each centre; the first if equal
  std::vector<double> scores;                ///< the Bayesian information criterion for 1, 2, … clusters
};

/// Finds clusters; no rows have none. Cost: min(rows, sample) × most² × dimensions × starts, plus rows × clusters.
Clusters find_clusters(const Vectors& vectors, const Options& options);

/// Scales the columns so that no unit outweighs the others: divides each by its standard deviation, or by `least_share`
/// times its mean if it varies less than that. Drops columns that never vary.
Vectors scaled(const Vectors& vectors, double least_share = 0.01);

}  // namespace tally::phase
