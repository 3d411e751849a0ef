#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "core/parallel/comm.hpp"
#include "core/train/kinds/keeps_numbers.hpp"
#include "core/train/reduce/traffic.hpp"
#include "plugins/pretrain/contrastive/contrastive_keys.hpp"
#include "plugins/pretrain/contrastive/gathered.hpp"
#include "plugins/pretrain/contrastive/own_temperatures.hpp"
#include "plugins/pretrain/contrastive/sample_rows.hpp"

namespace cambium::train {

/// Two views of each of this rank's samples: contiguous rows of `width` values, normalised to length 1.
template <class T>
struct TwoViews {
  std::span<const T> first, second;
  std::int64_t width = 0;
  std::span<const std::int64_t> ids;  ///< indices of the samples in the data set
  std::int64_t samples() const { return std::ssize(ids); }
};

/// Terms of this rank's samples: for means over all ranks, divide the sums by `batch`.
template <class T>
struct ContrastiveResult {
  double infonce = 0.0;           ///< sum of the InfoNCE loss of this batch, for any scheme
  double objective = 0.0;         ///< sum of the scheme's objective with its estimates
  std::vector<T> first, second;   ///< (samples, width): derivatives of the sum over all samples of all ranks
  double temperature = 0.0;       ///< this rank's part of the derivative of that sum by the common temperature
  double mean_temperature = 0.0;  ///< of this rank's samples, summed
  std::int64_t batch = 0;         ///< samples of all ranks
};

/// Contrastive losses that attract the two views of a sample and repel those of others, over the samples of all ranks.
/// With s_ij the dot product of the first view of i and the second of j, and B samples,
///   infonce  mean_i -log softmax_j(s_ij / t)_i and the same for s_ji, halved (van den Oord, Li, Vinyals 2018)
///   g1_i = mean_{j != i} e^((s_ij - s_ii) / t),  g2_i the same with s_ji,  u <- (1 - gamma) u + gamma g for each
///   v0  mean_i (log(u1 + e) + log(u2 + e)) / 2          v1  t times that, t constant
///   v2  mean_i (t1 (log(u1 + e) + rho) + t2 (log(u2 + e) + rho)) / 2, temperatures of each sample
///   v3  t (mean_i (log(u1 + e) + log(u2 + e)) / 2 + rho), t learnt
/// (Wei et al., FastCLIP, arXiv 2407.01445; estimates: Yuan et al., SogCLR, ICML 2022). Derivatives use g / (u + e) for
/// log(u + e), with u constant: for gamma = 1 they are those of the objective.
///
/// All-gathers the features of all ranks, then two values per sample (v2: six); each rank then computes the derivatives
/// of its own features. The only other messages are rows of estimates to and from the ranks that store them.
class ContrastiveLoss {
 public:
  /// `samples`: size of the data set, which defines epochs. The communicator must outlive this.
  ContrastiveLoss(const ContrastiveKeys& keys, std::int64_t samples, const Comm& comm);

  /// Collective; a rank may have no samples. T: double or float. `temperature`: common to all samples (v2 has its own).
  /// Updates the estimates. A batch of one sample has no negatives: returns zeros and updates nothing.
  template <class T>
  ContrastiveResult<T> compute(const TwoViews<T>& views, double temperature);

  std::int64_t epoch() const { return samples_ > 0 ? seen_ / samples_ : 0; }
  double inner_rate() const { return keys_.inner_rate.at(epoch()); }
  const Traffic& traffic() const { return traffic_; }

  /// Collective: "estimates" (rows by sample id) and "seen", for a checkpoint.
  KeptNumbers kept() const;
  /// Restores them, on any number of ranks. InputError for estimates of another scheme.
  void take(const KeptNumbers& kept);

 private:
  struct Anchors;  ///< values of the samples of one view
  template <class T>
  struct Batch;
  template <class T>
  void look(Batch<T>& batch, double temperature, ContrastiveResult<T>& out) const;
  void update(std::span<const std::int64_t> ids, std::int64_t others, std::span<Anchors> views);
  template <class T>
  void exchange(Batch<T>& batch, double temperature);
  template <class T>
  void add_values(const Batch<T>& batch, double temperature, ContrastiveResult<T>& out) const;
  template <class T>
  double self_derivative(const Batch<T>& batch, std::size_t k) const;
  template <class T>
  void differentiate(const Batch<T>& batch, ContrastiveResult<T>& out) const;

  ContrastiveKeys keys_;
  std::int64_t samples_, seen_ = 0;
  const Comm& comm_;
  SampleRows rows_;
  Traffic traffic_;
};

}  // namespace cambium::train
