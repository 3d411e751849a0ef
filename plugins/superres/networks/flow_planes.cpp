#include "plugins/superres/networks/flow_planes.hpp"

#include <algorithm>

#include "core/base/error.hpp"
#include "core/train/networks/mlp/field.hpp"
#include "plugins/superres/samples/window.hpp"

namespace cambium::superres {
namespace {

/// Coordinates of one axis of a sample.
std::vector<double> axis_of(const train::Sample& sample, const char* name) {
  const TensorRef& row = train::field_of(sample, name);
  std::vector<double> out(static_cast<std::size_t>(row.elements()));
  train::read_numbers(row, out.data());
  return out;
}

DecoderQuery<double> located(const LatentCells& cells, const train::Sample& sample) {
  static const JetBasis value({});
  const auto points = axis_of(sample, "points");
  return locate<double>(cells, points.data(), std::ssize(points) / 3, Blend::trilinear, value);
}

}  // namespace

std::array<std::int64_t, 3> refined_nodes(const std::array<std::int64_t, 3>& grid,
                                          const std::array<std::int64_t, 3>& ratio, bool wraps) {
  std::array<std::int64_t, 3> out{};
  for (int a = 0; a < 3; ++a) out[a] = a == 1 && wraps ? grid[a] * ratio[a] : (grid[a] - 1) * ratio[a] + 1;
  return out;
}

LatentCells refined(const LatentCells& coarse, const std::array<std::int64_t, 3>& ratio) {
  LatentCells out;
  out.wraps = coarse.wraps;
  for (int a = 0; a < 3; ++a) {
    const auto r = ratio[a];
    const auto& x = coarse.axis[a];
    for (std::size_t k = 0; k + 1 < x.size(); ++k)
      for (std::int64_t j = 0; j < r; ++j)
        out.axis[a].push_back(x[k] + (x[k + 1] - x[k]) * static_cast<double>(j) / static_cast<double>(r));
    out.axis[a].push_back(x.back());
  }
  return out;
}

const char* other_ends_of_x(bool wraps) {
  return wraps
             ? "the model was trained on windows that are as wide as a periodic x, and x of these ends: train it on "
               "windows that are narrower than the period"
             : "the model was trained on windows that end along x, and these are as wide as a periodic x: train it on "
               "such, or give data with more points along x";
}

LatentCells cells_of(const train::Sample& sample, const FlowScaling& scaling) {
  LatentCells out;
  out.wraps = scaling.wraps;
  out.axis = {axis_of(sample, "t"), axis_of(sample, "x"), axis_of(sample, "z")};
  if (std::ssize(out.axis[1]) != scaling.grid[1] + (scaling.wraps ? 1 : 0))
    throw InputError(other_ends_of_x(scaling.wraps));
  return out;
}

template <class T>
void append_enlarged(std::span<const double> planes, const std::array<std::int64_t, 2>& n,
                     const std::array<std::int64_t, 2>& ratio, bool wraps, std::vector<T>& out) {
  const std::int64_t nx = wraps ? n[0] * ratio[0] : (n[0] - 1) * ratio[0] + 1, nz = (n[1] - 1) * ratio[1] + 1;
  for (std::size_t first = 0; first < planes.size(); first += static_cast<std::size_t>(n[0] * n[1])) {
    const double* const plane = planes.data() + first;
    for (std::int64_t x = 0; x < nx; ++x) {
      const double *const low = plane + x / ratio[0] * n[1], *const high = plane + (wraps ? (x / ratio[0] + 1) % n[0]
                                                                                          : std::min(x / ratio[0] + 1,
                                                                                                     n[0] - 1)) *
                                                                                       n[1];
      const double right = static_cast<double>(x % ratio[0]) / static_cast<double>(ratio[0]);
      for (std::int64_t z = 0; z < nz; ++z) {
        const std::int64_t below = z / ratio[1], above = std::min(below + 1, n[1] - 1);
        const double up = static_cast<double>(z % ratio[1]) / static_cast<double>(ratio[1]);
        const double left_value = low[below] + up * (low[above] - low[below]),
                     right_value = high[below] + up * (high[above] - high[below]);
        out.push_back(static_cast<T>(left_value + right * (right_value - left_value)));
      }
    }
  }
}

template <class T>
void append_heights(const train::Sample& sample, const std::array<int, 2>& points, std::vector<T>& out) {
  const auto coarse = axis_of(sample, "z");
  const double middle = 0.5 * (coarse.front() + coarse.back()), half = 0.5 * (coarse.back() - coarse.front());
  const auto cells = std::ssize(coarse) - 1, ratio = (points[1] - 1) / cells;
  std::vector<T> row;
  for (std::int64_t z = 0; z < points[1]; ++z) {
    const std::int64_t below = std::min(z / ratio, cells - 1);
    const double up = static_cast<double>(z - below * ratio) / static_cast<double>(ratio);
    row.push_back(static_cast<T>((coarse[below] + up * (coarse[below + 1] - coarse[below]) - middle) / half));
  }
  for (int x = 0; x < points[0]; ++x) out.insert(out.end(), row.begin(), row.end());
}

template <class T>
std::vector<double> at_points(const LatentCells& cells, const train::Sample& sample, std::span<const T> nodes) {
  const auto q = located(cells, sample);
  const std::size_t fields = flow_fields.size(), of_field = nodes.size() / fields;
  std::vector<double> out;
  for (std::int64_t p = 0; p < q.points; ++p)
    for (std::size_t f = 0; f < fields; ++f) {
      double sum = 0.0;
      for (std::int64_t c = 8 * p; c < 8 * (p + 1); ++c)
        sum += q.weight[c] * static_cast<double>(nodes[f * of_field + static_cast<std::size_t>(q.node[c])]);
      out.push_back(sum);
    }
  return out;
}

template <class T>
void spread_from_points(const LatentCells& cells, const train::Sample& sample, std::span<const double> by_value,
                        std::span<T> by_node) {
  const auto q = located(cells, sample);
  const std::size_t fields = flow_fields.size(), of_field = by_node.size() / fields;
  for (std::int64_t p = 0; p < q.points; ++p)
    for (std::size_t f = 0; f < fields; ++f)
      for (std::int64_t c = 8 * p; c < 8 * (p + 1); ++c)
        by_node[f * of_field + static_cast<std::size_t>(q.node[c])] +=
            static_cast<T>(q.weight[c] * by_value[static_cast<std::size_t>(p) * fields + f]);
}

void advance_frames(std::span<double> frames, std::span<const double> next) {
  const std::size_t fields = flow_fields.size(), each = frames.size() / fields, nodes = next.size() / fields;
  for (std::size_t f = 0; f < fields; ++f) {
    const auto own = frames.subspan(f * each, each);
    std::copy(own.begin() + static_cast<std::ptrdiff_t>(nodes), own.end(), own.begin());
    std::copy_n(next.begin() + static_cast<std::ptrdiff_t>(f * nodes), nodes,
                own.end() - static_cast<std::ptrdiff_t>(nodes));
  }
}

void write_fields_of(std::span<const double> scaled, const FlowScaling& scaling, const TensorRef& out,
                     std::int64_t sample) {
  const auto fields = static_cast<std::int64_t>(flow_fields.size());
  auto* const to = static_cast<double*>(out.data) + sample * out.stride[0];
  const std::int64_t each = std::ssize(scaled) / fields;
  for (std::int64_t k = 0; k < std::ssize(scaled); ++k) {
    const std::int64_t f = scaling.forecasts ? k / each : k % fields;
    const double value = scaled[static_cast<std::size_t>(k)] * scaling.deviation[static_cast<std::size_t>(f)] +
                         scaling.mean[static_cast<std::size_t>(f)];
    if (scaling.forecasts) {
      const std::int64_t node = k % each, nz = out.shape[3];
      to[f * out.stride[1] + node / nz * out.stride[2] + node % nz * out.stride[3]] = value;
    } else {
      to[k / fields * out.stride[1] + f * out.stride[2]] = value;
    }
  }
}

#define CAMBIUM_INSTANTIATE(T)                                                                             \
  template void append_heights<T>(const train::Sample&, const std::array<int, 2>&, std::vector<T>&);       \
  template void append_enlarged<T>(std::span<const double>, const std::array<std::int64_t, 2>&,            \
                                   const std::array<std::int64_t, 2>&, bool, std::vector<T>&);             \
  template std::vector<double> at_points<T>(const LatentCells&, const train::Sample&, std::span<const T>); \
  template void spread_from_points<T>(const LatentCells&, const train::Sample&, std::span<const double>, std::span<T>);
CAMBIUM_INSTANTIATE(double)
CAMBIUM_INSTANTIATE(float)
#undef CAMBIUM_INSTANTIATE

}  // namespace cambium::superres
