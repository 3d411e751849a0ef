#include "plugins/superres/samples/resampling.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "plugins/superres/equations/mask.hpp"
#include "plugins/superres/equations/stencil.hpp"

namespace cambium::superres {

std::vector<double> coarse_places(const std::vector<double>& places, int count, bool periodic) {
  const int n = static_cast<int>(places.size());
  std::vector<double> out;
  for (int k = 0; k < count; ++k) {
    const double index = periodic     ? static_cast<double>(k) * n / count
                         : count == 1 ? 0.0
                                      : static_cast<double>(k) * (n - 1) / (count - 1);
    const int low = std::min(static_cast<int>(index), n - 1), high = std::min(low + 1, n - 1);
    out.push_back(places[low] + (index - low) * (places[high] - places[low]));
  }
  return out;
}

namespace {

/// Source points of a value, from `first`, wrapped around, and their weights.
struct Source {
  int first;
  std::vector<double> weights;
};

Source source_of(double place, const std::vector<double>& places, double period, int points) {
  const int n = static_cast<int>(places.size()), count = std::min(points, n);
  const int above = static_cast<int>(std::upper_bound(places.begin(), places.end(), place) - places.begin());
  int first = above - (count + 1) / 2;
  if (period == 0.0) first = std::clamp(first, 0, n - count);
  std::vector<double> nodes;
  for (int j = first; j < first + count; ++j) {
    const int turns = j < 0 ? -1 : j >= n ? 1 : 0;
    nodes.push_back(places[j - turns * n] + turns * period);
  }
  return {first, derivative_weights(place, nodes, 0)};
}

}  // namespace

FieldData resampled(const FieldData& data, int axis, const std::vector<double>& places, int points) {
  FieldData out = data;
  out.axis[axis] = places;
  out.hidden = hidden_at(data, out.axis);
  std::vector<Source> sources;
  for (double place : places)
    sources.push_back(source_of(place, data.axis[axis], axis == 1 ? data.period : 0.0, points));
  std::size_t before = 1, after = 1;
  for (int a = 0; a < axis; ++a) before *= data.axis[a].size();
  for (int a = axis + 1; a < 3; ++a) after *= data.axis[a].size();
  const auto n = static_cast<int>(data.axis[axis].size());
  for (std::size_t f = 0; f < data.values.size(); ++f) {
    out.values[f].assign(before * places.size() * after, 0.0);
    for (std::size_t o = 0; o < before; ++o)
      for (std::size_t k = 0; k < places.size(); ++k) {
        double* to = &out.values[f][(o * places.size() + k) * after];
        for (std::size_t j = 0; j < sources[k].weights.size(); ++j) {
          const int at = (sources[k].first + static_cast<int>(j) + n) % n;
          const double* from = &data.values[f][(o * n + at) * after];
          for (std::size_t i = 0; i < after; ++i) to[i] += sources[k].weights[j] * from[i];
        }
      }
  }
  return out;
}

int coarse_count(std::size_t n, double ratio, bool periodic) {
  const auto points = static_cast<double>(n);
  return std::max(2, static_cast<int>(std::lround(periodic ? points / ratio : (points - 1.0) / ratio + 1.0)));
}

FieldData coarsened(const FieldData& data, const std::array<double, 3>& ratio) {
  FieldData out = data;
  for (int axis = 0; axis < 3; ++axis) {
    const bool periodic = axis == 1 && data.period > 0.0;
    const int count = coarse_count(data.axis[axis].size(), ratio[axis], periodic);
    out = resampled(out, axis, coarse_places(data.axis[axis], count, periodic), 2);
  }
  return out;
}

std::array<double, 3> spacing(const FieldData& fine, const FieldData& coarse) {
  std::array<double, 3> out{};
  for (int axis = 0; axis < 3; ++axis) {
    const auto n = static_cast<double>(fine.axis[axis].size()), m = static_cast<double>(coarse.axis[axis].size());
    out[axis] = axis == 1 && fine.period > 0.0 ? n / m : (n - 1.0) / (m - 1.0);
  }
  return out;
}

std::string spacing_words(const FieldData& fine, const FieldData& coarse) {
  const auto apart = spacing(fine, coarse);
  return fmt::format("{:.3g} frames and {:.3g} x {:.3g} points apart", apart[0], apart[1], apart[2]);
}

}  // namespace cambium::superres
