#pragma once
#include <cstddef>
#include <span>

namespace cambium::train {

/// What a sample (the anchor) sees of all others: sums over j other than `self` of e^(d_j - shift) and of that times
/// d_j, with d_j = (s_j - s_self) / temperature and the shift the greatest d_j or 0. `self` alone: sums are 0.
struct AnchorSums {
  double shift = 0.0, sum = 0.0, weighted = 0.0;
};

/// `similarities`: of the anchor with all samples; `own`: with its partner.
AnchorSums anchor_sums(std::span<const double> similarities, std::size_t self, double own, double temperature);

/// out[j] += scale e^((s_j - own) / temperature - weight) for all j: the anchor's derivatives by its similarities.
void add_anchor(std::span<const double> similarities, double own, double temperature, double weight, double scale,
                std::span<double> out);

/// out[j] += scale[j] e^((s_j - own[j]) inverse_temperature[j] - weight[j]): the same where each j is an anchor, and
/// this sample one of those that it sees.
void add_seen(std::span<const double> similarities, std::span<const double> own,
              std::span<const double> inverse_temperature, std::span<const double> weight,
              std::span<const double> scale, std::span<double> out);

}  // namespace cambium::train
