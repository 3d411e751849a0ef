#pragma once
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "core/base/log.hpp"
#include "core/train/low_rank/cost_table.hpp"
#include "core/train/low_rank/pass_times.hpp"

namespace cambium::train {

/// Times a network with these ranks against the full one.
using RankTimer = std::function<PassTimes(std::span<const std::int64_t> ranks)>;

/// Fills in the time that every candidate saves in a pass, measured with only its layer factored; layers of one shape
/// share it. The expected saving follows from the multiplications: a measured saving far beyond the layer's own time is
/// measured again and finally rejected, and noisy savings are drawn towards the expected ones (mean of both with
/// inverse-square-error weights). All are scaled by the joint saving of equal fractions of all layers. On a quiet
/// machine this gives the measured values; on a busy one ranks follow the multiplications.
void measure_times(CostTable& table, const RankTimer& timer, Log& log);

/// Scales all savings such that the prediction matches this measured choice; by a factor of 0.7 to 1.4, so one
/// measurement cannot overturn the table.
void correct_times(CostTable& table, const std::vector<std::size_t>& choice, double measured_seconds);

}  // namespace cambium::train
