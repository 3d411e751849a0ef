#pragma once
#include <cstdint>
#include <span>

#include "plugins/pretrain/contrastive/contrastive_keys.hpp"

namespace cambium::train {

/// State of a sample as an anchor, one for each of its two views: the estimate u e^bound of the mean of e^((s_j -
/// s_self) / temperature) over the others; with v2 also its own temperature and Adam's two moments. Zero before the
/// first estimate.
struct AnchorState {
  double u = 0.0, bound = 0.0, temperature = 0.0, moment = 0.0, square = 0.0;
  /// Values of a row for both views: two estimates, and with v2 all five of each.
  static int columns(ContrastiveScheme scheme) { return scheme == ContrastiveScheme::v2 ? 10 : 2; }
  static AnchorState read(ContrastiveScheme scheme, std::span<const double> row, int view);
  void write(ContrastiveScheme scheme, std::span<double> row, int view) const;
};

/// u <- (1 - inner) u + inner g, g the mean of the batch. With v2 `bound` is first raised to that of the batch. Without
/// a previous estimate (u below 1e-35 or NaN), u becomes g.
void update_estimate(const ContrastiveKeys& keys, double inner, double batch_bound, double batch_mean,
                     AnchorState& state);

/// One step of a sample's own temperature by the derivative log(u + epsilon) + bound + rho - D, D the sum over j of
/// e^(d_j - bound) d_j / ((u + epsilon) others), clipped to +-5: Adam with epochs as steps, without memory in the first
/// epoch.
void step_temperature(const ContrastiveKeys& keys, double d_mean, std::int64_t epoch, AnchorState& state);

}  // namespace cambium::train
