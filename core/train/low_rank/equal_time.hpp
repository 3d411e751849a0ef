#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

namespace cambium::train {

/// One candidate of each layer, by its number.
using Choice = std::vector<std::size_t>;
/// A choice whose time is predicted to be within `seconds`; empty where there is none.
using Choose = std::function<Choice(double seconds)>;

/// Choices within 0.5 to 1.5 times `seconds`, in steps of a hundredth, each choice once: what of it really is as fast
/// is for a clock to say.
std::vector<Choice> choices_around(const Choose& choose, double seconds);

/// A network of a list, and the time that was measured for it.
struct Within {
  std::size_t index = 0;
  double time = 0.0;
};
/// The last of `count` networks, faster ones first, whose measured time is at most `limit`, found by halving; a time
/// within 4 % of the limit is measured twice more, and the middle one of three holds. None where not even the first is.
std::optional<Within> last_within(std::size_t count, double limit, const std::function<double(std::size_t)>& time);

/// Baselines get up to this much more time than what they are compared with, so that what beats them did not do so by
/// time; and a comparison whose times are further apart than `fair_time` is said not to be one.
constexpr double baselines_time = 1.02, fair_time = 0.03;

}  // namespace cambium::train
