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
  std::vector<double> value;  ///< of training pairs, the mean of repeated ones; 0 elsewhere
  std::vector<char> known;    ///< training pairs
  std::vector<double> compound_similarity, target_similarity;  ///< normalised, ones on the diagonal
};

/// Uses the pairs with the role training (including validation pairs, which networks use, too). Similarities are those
/// of the source; if it has none, of k-mers of the texts: 3 and 4 letters of SMILES, 3 of sequences.
PairMatrices matrices_of(const PairTable& table, const std::vector<Role>& roles);

/// Predictions of all pairs, compounds x targets.
struct PairPrediction {
  std::string method;
  std::vector<double> value;
  std::vector<double> without_held = {};  ///< fitted without the held-out pairs; for neighbours and the ridge
};

/// Mean of all training pairs plus an additive effect of each compound and target, shrunk towards 0 by three
/// pseudo-pairs; fitted alternately, 30 times.
std::vector<double> additive_means(const PairMatrices& m);

/// `base` plus the mean residual at the most similar compounds or targets of the training pairs, weighted by the eighth
/// power of the similarity: `nearest` compounds, targets, and the mean of both.
std::vector<PairPrediction> with_neighbours(const PairMatrices& m, const std::vector<double>& base, int nearest);

struct KroneckerChoice {
  double lambda = 1.0;
  int compound_power = 1, target_power = 1;
  std::vector<double> without_held = {};  ///< predictions of the fit without the held-out pairs
};
/// `base` plus kernel ridge regression of its residual, with the product of powers of both similarities as kernel: (K +
/// lambda) x = r over the training pairs, by conjugate gradients. Lambda and powers are those of a small grid with the
/// lowest error on `held` (training pairs, excluded from that fit and the means), returned in `choice`.
std::vector<double> kronecker_ridge(const PairMatrices& m, const std::vector<double>& base,
                                    const std::vector<char>& held, KroneckerChoice& choice);

/// All baselines, in the order of a table: the mean, additive means, neighbours, ridge (omitted if the similarity
/// matrices take more than about a minute). `held` as for kronecker_ridge(); neighbours are also computed without it.
std::vector<PairPrediction> pair_baselines(const PairMatrices& m, const std::vector<char>& held);

}  // namespace cambium::relate
