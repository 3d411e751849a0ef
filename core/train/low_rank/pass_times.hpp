#pragma once
#include <functional>
#include <limits>
#include <span>

#include "core/train/kinds/buffer.hpp"
#include "core/train/kinds/network.hpp"

namespace cambium::train {

/// Runs one pass and returns its time in s.
using TimedPass = std::function<double()>;

/// Time of a pass by one network, and the relative time of another one.
struct PassTimes {
  double seconds = std::numeric_limits<double>::infinity();  ///< minimum over passes of the first
  double share = 1.0;
  double error = 0.0;  ///< of the share: interquartile range over runs, divided by the square root of their number
};

/// Interleaved passes, with alternating order. Other load on the machine only makes passes longer, so the ratio uses
/// the fastest quarter of either; if runs disagree, more are made.
PassTimes pass_times(const TimedPass& one, const TimedPass& other);

/// The same for networks that evaluate these samples, in the way of simulations where that is another one
/// (HasFactors::simulation_pass).
PassTimes pass_times(Network& one, FlatBuffer& its, Network& other, FlatBuffer& its_own,
                     std::span<const SamplePtr> samples);

}  // namespace cambium::train
