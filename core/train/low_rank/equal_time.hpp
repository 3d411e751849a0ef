#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

namespace cambium::train {

/// Index of one candidate per layer.
using Choice = std::vector<std::size_t>;
/// Returns a choice whose predicted time is within `seconds`; empty if there is none.
using Choose = std::function<Choice(double seconds)>;

/// Distinct choices for 0.5 to 1.5 times `seconds`, in steps of a hundredth; measurement decides which of them are fast
/// enough.
std::vector<Choice> choices_around(const Choose& choose, double seconds);

/// Index of a network in a list, and its measured time.
struct Within {
  std::size_t index = 0;
  double time = 0.0;
};
/// The last of `count` networks, sorted from fast to slow, whose measured time is at most `limit`, by bisection; a time
/// within 4 % of the limit is measured twice more, and the median of three is used. None if even the first is too slow.
std::optional<Within> last_within(std::size_t count, double limit, const std::function<double(std::size_t)>& time);

/// Baselines get up to this factor more time than the network they are compared with, so time cannot explain its
/// advantage; a comparison whose times differ by more than `fair_time` is reported as unfair.
constexpr double baselines_time = 1.02, fair_time = 0.03;

}  // namespace cambium::train
