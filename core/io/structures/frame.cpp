#include "core/io/structures/frame.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/base/error.hpp"
#include "core/io/gather.hpp"
#include "core/state/tensor_of_view.hpp"

namespace cambium::io {
namespace {

/// place[k]: position by id of the k-th gathered row. Ids are mostly 1..n without a gap, then nothing need be sorted.
std::vector<std::int64_t> places(const std::vector<std::int64_t>& tags) {
  const auto [low, high] = std::minmax_element(tags.begin(), tags.end());
  if (!tags.empty() && *high - *low + 1 == std::ssize(tags)) {
    std::vector<std::int64_t> place;
    for (std::int64_t tag : tags) place.push_back(tag - *low);
    return place;
  }
  std::vector<std::int64_t> order(tags.size()), place(tags.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](auto a, auto b) { return tags[a] < tags[b]; });
  for (std::size_t k = 0; k < order.size(); ++k) place[order[k]] = static_cast<std::int64_t>(k);
  return place;
}

/// Collective: rows of a view at their places, `columns` values per row, on rank 0.
template <class T>
std::vector<T> gather_placed(const Comm& comm, const TensorRef& rows, const std::vector<std::int64_t>& place,
                             int columns) {
  std::vector<T> all(place.size() * columns);
  gather_rows(comm, rows, [&](std::int64_t first, const TensorRef& piece) {
    const T* from = static_cast<const T*>(piece.data);
    for (std::int64_t row = 0; row < piece.shape[0]; ++row)
      std::copy_n(from + row * columns, columns, all.data() + place[first + row] * columns);
  });
  return all;
}

/// Between two rebuilds of the neighbour list atoms leave the cell a little; here they are brought back.
void wrap(const Box& box, double* x, int* image) {
  double s[3];
  box.to_fractional(x, s);
  for (int r = 0; r < 3; ++r) {
    const double crossed = std::floor(s[r]);
    if (crossed == 0.0) continue;
    image[r] += static_cast<int>(crossed);
    for (int k = 0; k < 3; ++k) x[k] -= crossed * box.h[r][k];
  }
}

/// Rows of three numbers, turned into the axes in which the cell was given.
void turn_back(const GivenAxes& axes, std::vector<double>& rows) {
  if (!axes.turned()) return;
  for (std::size_t k = 0; k < rows.size(); k += 3) {
    const auto given = axes.vector(&rows[k]);
    std::copy(given.begin(), given.end(), rows.begin() + static_cast<std::ptrdiff_t>(k));
  }
}

/// Those of a state's particles: its field "axes" (3 x 3, on the host), which physics of particles declare.
GivenAxes axes_of(const State& state) {
  const FieldSpec* field = state.find("axes");
  GivenAxes out;
  if (field) std::copy_n(static_cast<const double*>(field->tensor().data), 9, &out.q[0][0]);
  return out;
}

/// Collective: the ranks' shares of a field summed; none where the state has no such field or it was not computed.
std::vector<double> summed(const State& state, const char* name, const Comm& comm) {
  const FieldSpec* field = state.find(name);
  const TensorRef tensor = field ? field->tensor() : TensorRef{};
  if (!tensor.data) return {};
  std::int64_t count = 1;
  for (int k = 0; k < tensor.rank; ++k) count *= tensor.shape[k];
  const auto* first = static_cast<const double*>(tensor.data);
  std::vector<double> out(first, first + count);
  comm.sum(out);
  return out;
}

}  // namespace

double Frame::volume() const {
  const auto& c = cell;
  return std::abs(c[0] * (c[4] * c[8] - c[5] * c[7]) - c[1] * (c[3] * c[8] - c[5] * c[6]) +
                  c[2] * (c[3] * c[7] - c[4] * c[6]));
}

void Frame::set_cell(const Box& box, const GivenAxes& axes) {
  cell = axes.cell(box);
  origin = axes.vector(box.origin);
}

Frame gather_frame(const State& state, const Comm& comm, FrameParts parts) {
  const Particles& p = state.particles;
  Frame frame;
  frame.step = state.step;
  frame.time = state.time;
  const GivenAxes axes = axes_of(state);
  frame.set_cell(p.box, axes);
  frame.species = p.species;
  std::vector<std::int64_t> tags;
  gather_rows(comm, cambium::tensor_of(p.tag, p.nlocal), [&](std::int64_t, const TensorRef& piece) {
    const auto* from = static_cast<const std::int64_t*>(piece.data);
    tags.insert(tags.end(), from, from + piece.shape[0]);
  });
  const auto place = places(tags);
  const auto x = gather_placed<double>(comm, cambium::tensor_of(p.x, p.nlocal), place, 4);
  frame.image = gather_placed<int>(comm, cambium::tensor_of(p.image, p.nlocal), place, 3);
  if (parts.velocity) frame.velocity = gather_placed<double>(comm, cambium::tensor_of(p.v, p.nlocal), place, 3);
  if (parts.force) frame.force = gather_placed<double>(comm, cambium::tensor_of(p.f, p.nlocal), place, 3);
  if (parts.totals) {
    if (const auto energy = summed(state, "energy", comm); !energy.empty()) frame.energy = energy.front();
    if (const auto virial = summed(state, "virial", comm); !virial.empty()) frame.virial = axes.tensor(virial.data());
  }
  frame.id.resize(tags.size());
  frame.type.resize(tags.size());
  frame.position.resize(3 * tags.size());
  for (std::size_t k = 0; k < tags.size(); ++k) frame.id[place[k]] = tags[k];
  for (std::size_t k = 0; k < tags.size(); ++k) {
    frame.type[k] = static_cast<int>(x[4 * k + 3]);
    std::copy_n(&x[4 * k], 3, &frame.position[3 * k]);
    wrap(p.box, &frame.position[3 * k], &frame.image[3 * k]);
  }
  for (auto* rows : {&frame.position, &frame.velocity, &frame.force}) turn_back(axes, *rows);
  return frame;
}

}  // namespace cambium::io
