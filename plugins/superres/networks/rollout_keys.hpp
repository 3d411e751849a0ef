#pragma once
#include <cstdint>
#include <span>

#include "core/deck/describe.hpp"
#include "core/train/kinds/dataset.hpp"
#include "plugins/superres/networks/flow_scaling.hpp"

namespace cambium::superres {

/// Stabilisation of a forecasting network over many steps: its inputs in training have noise (Sanchez-Gonzalez et al.
/// 2020, arXiv:2002.09405), or are own forecasts without gradient (Brandstetter et al. 2022, arXiv:2202.03376).
struct RolloutKeys {
  double noise = 0.0;
  int push_forward = 0;
};

/// Declares those keys for a Params that derives from them.
template <class P>
void describe_forecast_training(deck::Describe<P>& d) {
  d("noise", &RolloutKeys::noise,
    "snapshots: standard deviation of Gaussian noise added to the input frames in training, in standard deviations of "
    "each field; it makes repeated forecasts more stable")
      .non_negative()
      .def(0.0);
  d("push_forward", &RolloutKeys::push_forward,
    "snapshots: largest number of own forecasts that make a sample's input in training (push-forward); the number is "
    "drawn for each sample. The data set needs 'ahead' of one frame more")
      .range(0, 16)
      .def(0);
}

/// InputError if the keys require forecasts and the data set has none, or too few frames after its windows.
void require_forecasts(const RolloutKeys& keys, const FlowScaling& scaling, train::Dataset& training);

/// A training step; its random values are addressed by both members.
struct Moment {
  std::uint64_t seed = 0;
  std::int64_t step = 0;
};

/// Adds normal noise of standard deviation `noise` to the scaled frames of one sample, a function of (seed, step,
/// sample, element).
void add_noise(const Moment& moment, std::int64_t sample, double noise, std::span<double> frames);

/// Number of own forecasts applied to a sample's input, 0 to `most`, equally likely.
int forecasts_before(const Moment& moment, std::int64_t sample, int most);

}  // namespace cambium::superres
