#include "core/train/low_rank/equal_time.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace cambium::train {

std::vector<Choice> choices_around(const Choose& choose, double seconds) {
  std::vector<Choice> out;
  for (int percent = 50; percent <= 150; ++percent) {
    auto choice = choose(0.01 * percent * seconds);
    if (!choice.empty() && (out.empty() || out.back() != choice)) out.push_back(std::move(choice));
  }
  return out;
}

std::optional<Within> last_within(std::size_t count, double limit, const std::function<double(std::size_t)>& time) {
  constexpr double near = 0.04;
  const auto careful = [&](std::size_t index) {
    const double first = time(index);
    if (std::abs(first / limit - 1.0) > near) return first;
    std::array times{first, time(index), time(index)};
    std::sort(times.begin(), times.end());
    return times[1];
  };
  std::optional<Within> best;
  std::size_t low = 0, high = count;  // all before low are within the limit; high and all after it are not
  while (low < high) {
    const std::size_t middle = low + (high - low) / 2;
    if (const double its = careful(middle); its <= limit) {
      best = Within{middle, its};
      low = middle + 1;
    } else
      high = middle;
  }
  return best;
}

}  // namespace cambium::train
