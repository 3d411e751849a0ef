#pragma once
#include <functional>
#include <string>
#include <vector>

#include "plugins/relate/datasets/pair_table.hpp"
#include "plugins/relate/datasets/roles.hpp"

namespace cambium::relate {

/// A table of pairs as matrices of compounds x targets, row by row.
struct PairMatrices {
  std::int64_t compounds = 0, targets = 0;
  std::vector<double> value;  ///< of training pairs, the mean where one stands twice; 0 elsewhere
  std::vector<char> known;    ///< training pairs
  std::vector<double> compound_similarity, target_similarity;  ///< normalised, ones on the diagonal
};

/// For the pairs whose role is training (validation pairs are learned from, too, as networks saw them). Similarities
/// are the source's; where it has none, those of pieces of texts: 3 and 4 letters of SMILES, 3 of sequences.
PairMatrices matrices_of(const PairTable& table, const std::vector<Role>& roles);

/// Predictions of all pairs, compounds x targets.
struct PairPrediction {
  std::string method;
  std::vector<double> value;
  std::vector<double> without_held = {};  ///< learned without the held pairs; of neighbours and the ridge
};

/// The mean of all training pairs, and for each compound and target what it adds to it, shrunk towards 0 by three
/// pairs; by turns, 30 times.
std::vector<double> additive_means(const PairMatrices& m);

/// `base` and the mean of what it left at the most similar things of the training pairs, weighed by the eighth power of
/// their similarity: `nearest` compounds, targets, and the mean of both.
std::vector<PairPrediction> with_neighbours(const PairMatrices& m, const std::vector<double>& base, int nearest);

struct KroneckerChoice {
  double lambda = 1.0;
  int compound_power = 1, target_power = 1;
  std::vector<double> without_held = {};  ///< predictions before the held pairs were learned, too
};
/// `base` and kernel ridge regression of what it left, with the product of the powers of both similarities as kernel:
/// (K + lambda) x = r over the training pairs, by conjugate gradients. Lambda and powers are those of a small grid that
/// err least on `held` (pairs of training, left out for that and from the means), returned in `choice`.
std::vector<double> kronecker_ridge(const PairMatrices& m, const std::vector<double>& base,
                                    const std::vector<char>& held, KroneckerChoice& choice);

/// All of them, in the order of a table: the mean, additive means, neighbours, ridge (left out where matrices of
/// similarities are too large for a minute). `held` as kronecker_ridge() has it; neighbours are made without it, too.
std::vector<PairPrediction> pair_baselines(const PairMatrices& m, const std::vector<char>& held);

}  // namespace cambium::relate
