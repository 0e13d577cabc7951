// Phases: groups of vectors that lie together. K-means, its number of clusters chosen by a score, as SimPoint does
// (Hamerly, Perelman, Lau, Calder: SimPoint 3.0, JILP 7, 2005). What a vector holds is the caller's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace tally::phase {

/// Vectors of one length, one behind the other.
struct Vectors {
  std::size_t dimensions = 0;
  std::vector<double> values;
  std::size_t rows() const { return dimensions == 0 ? 0 : values.size() / dimensions; }
};

struct Options {
  std::size_t most = 10;        ///< clusters at most
  std::size_t sample = 10'000;  ///< so many vectors, drawn evenly, find the centres; all are then given to one
  int starts = 4;               ///< the best of so many runs of k-means counts
  std::uint64_t seed = 1;       ///< the same seed finds the same clusters
  double share = 0.9;           ///< the fewest clusters whose score is so far up from the worst to the best: SimPoint's
  double resolution = 0.1;      ///< of a coordinate: what differs by less is the same
};

struct Clusters {
  std::vector<std::vector<double>> centers;
  std::vector<std::size_t> of_row;  ///< each row's, from 0; numbered in the order in which rows first have them
  std::vector<std::size_t> sizes;   ///< rows of each
  std::vector<std::size_t> representatives;  ///< of each, the row nearest to the centre, the first of equals
  std::vector<double> scores;                ///< the Bayesian information criterion for 1, 2, … clusters
};

/// Nothing is found in no rows. Takes time for min(rows, sample) × most² × dimensions × starts, and rows × clusters.
Clusters find_clusters(const Vectors& vectors, const Options& options);

/// Columns brought to one scale, so that none outweighs the others by its unit: each is divided by its standard
/// deviation, one that varies by less than `floor` of its mean by that. Columns that never vary are left out.
Vectors scaled(const Vectors& vectors, double floor = 0.01);

}  // namespace tally::phase
