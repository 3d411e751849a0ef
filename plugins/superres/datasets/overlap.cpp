#include "plugins/superres/datasets/overlap.hpp"

namespace cambium::superres {

std::array<double, plume_classes> overlaps(std::span<const std::uint8_t> found, std::span<const std::uint8_t> truth) {
  std::array<std::int64_t, plume_classes> both{}, either{};
  for (std::size_t k = 0; k < truth.size(); ++k) {
    ++either[truth[k]];
    if (found[k] == truth[k])
      ++both[truth[k]];
    else
      ++either[found[k]];
  }
  std::array<double, plume_classes> out{};
  for (std::size_t c = 0; c < out.size(); ++c)
    out[c] = either[c] == 0 ? 1.0 : static_cast<double>(both[c]) / static_cast<double>(either[c]);
  return out;
}

double mean_overlap(std::span<const std::uint8_t> found, std::span<const std::uint8_t> truth) {
  double sum = 0.0;
  for (const double o : overlaps(found, truth)) sum += o;
  return sum / plume_classes;
}

}  // namespace cambium::superres
