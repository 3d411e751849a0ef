#pragma once
#include <functional>
#include <limits>
#include <span>

#include "core/train/kinds/buffer.hpp"
#include "core/train/kinds/network.hpp"

namespace cambium::train {

/// Runs one pass; s that it took.
using TimedPass = std::function<double()>;

/// Time of a pass by one network, and the share of it that another one takes.
struct PassTimes {
  double seconds = std::numeric_limits<double>::infinity();  ///< of the first, the least
  double share = 1.0;
  double error = 0.0;  ///< of the share: how far the middle half of the turns lies apart, over the root of their number
};

/// Passes in turns, of which now the one and now the other goes first. What else the machine does makes passes longer,
/// never shorter, so shares are of the fastest quarter of either; where turns disagree more of them are run.
PassTimes pass_times(const TimedPass& one, const TimedPass& other);

/// The same for networks that look at these samples.
PassTimes pass_times(Network& one, FlatBuffer& its, Network& other, FlatBuffer& its_own,
                     std::span<const SamplePtr> samples);

}  // namespace cambium::train
