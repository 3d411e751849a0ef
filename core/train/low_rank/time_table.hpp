#pragma once
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "core/base/log.hpp"
#include "core/train/low_rank/cost_table.hpp"
#include "core/train/low_rank/pass_times.hpp"

namespace cambium::train {

/// Times a network with these ranks beside the whole one.
using RankTimer = std::function<PassTimes(std::span<const std::int64_t> ranks)>;

/// Fills in what every candidate saves of the time of a pass, measured with its layer alone being a product; layers of
/// one shape share it. Besides there is what its multiplications lead to expect: a saving beyond what a layer could
/// take by far is measured again and in the end not believed, and the less turns agree, the nearer a saving comes to
/// what is expected (the mean of both, each by its inverse square error). All are scaled by what equal shares of all
/// layers save together. On a quiet machine that is what was measured; on a busy one ranks follow the multiplications.
void measure_times(CostTable& table, const RankTimer& timer, Log& log);

/// Scales all savings so that this choice, which was measured, would have been predicted right; by 0.7 to 1.4, since
/// one measurement is not to overthrow a table.
void correct_times(CostTable& table, const std::vector<std::size_t>& choice, double measured_seconds);

}  // namespace cambium::train
