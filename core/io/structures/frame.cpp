#include "core/io/structures/frame.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/base/error.hpp"
#include "core/io/gather.hpp"
#include "core/particles/structure.hpp"
#include "core/particles/tensor_of_view.hpp"

namespace cambium::io {
namespace {

/// place[k]: index by id of the k-th gathered row. Ids are mostly 1..n without a gap, which needs no sorting.
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

/// Collective: rows of a view in the order of `place`, `columns` values per row, on rank 0.
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

/// Rotates rows of three values into the axes in which the cell was given.
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

/// Collective: sum of the ranks' parts of a field; none if the state has no such field or it was not computed.
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

/// Lowest and highest id of all ranks; 1 and 0 without particles.
std::array<std::int64_t, 2> id_range(const Particles& p, const Comm& comm) {
  const OnHost tags(cambium::tensor_of(p.tag, p.nlocal));
  const auto* id = static_cast<const std::int64_t*>(tags.tensor().data);
  double ends[2] = {-1e18, -1e18};  // exact below 2^53
  for (int i = 0; i < p.nlocal; ++i) {
    ends[0] = std::max(ends[0], -static_cast<double>(id[i]));
    ends[1] = std::max(ends[1], static_cast<double>(id[i]));
  }
  comm.max(std::span<double>(ends));
  if (ends[1] == -1e18) return {1, 0};
  return {static_cast<std::int64_t>(-ends[0]), static_cast<std::int64_t>(ends[1])};
}

/// Indices of particles and their arrays as rows of `width` values, in the order of the receiving ranks.
struct SharedRows {
  int width;
  std::vector<double> numbers;
  std::vector<int> counts;
};

SharedRows rows_for_shares(const Particles& p, FrameParts parts, std::int64_t low, std::int64_t total, int shares,
                           int ranks) {
  const OnHost tags(cambium::tensor_of(p.tag, p.nlocal)), images(cambium::tensor_of(p.image, p.nlocal));
  std::vector<OnHost> reals;
  std::vector<int> columns{4};
  reals.emplace_back(cambium::tensor_of(p.x, p.nlocal));
  if (parts.velocity) {
    reals.emplace_back(cambium::tensor_of(p.v, p.nlocal));
    columns.push_back(3);
  }
  if (parts.force) {
    reals.emplace_back(cambium::tensor_of(p.f, p.nlocal));
    columns.push_back(3);
  }
  SharedRows out{1 + 3 + std::accumulate(columns.begin(), columns.end(), 0), {}, std::vector<int>(ranks, 0)};
  const auto* id = static_cast<const std::int64_t*>(tags.tensor().data);
  const auto* image = static_cast<const int*>(images.tensor().data);
  std::vector<std::vector<int>> to(shares);
  for (int i = 0; i < p.nlocal; ++i) to[((id[i] - low + 1) * shares - 1) / total].push_back(i);
  for (int share = 0; share < shares; ++share) {
    out.counts[share] = static_cast<int>(to[share].size());
    for (int i : to[share]) {
      out.numbers.push_back(static_cast<double>(id[i] - low));
      for (int k = 0; k < 3; ++k) out.numbers.push_back(image[3 * std::int64_t{i} + k]);
      for (std::size_t a = 0; a < reals.size(); ++a) {
        const auto* row = static_cast<const double*>(reals[a].tensor().data) + std::int64_t{i} * columns[a];
        out.numbers.insert(out.numbers.end(), row, row + columns[a]);
      }
    }
  }
  return out;
}

/// The rows that all ranks have for this one.
std::vector<double> exchanged(const SharedRows& rows, const Comm& comm) {
  std::vector<int> counts(rows.counts.size());
  MPI_Alltoall(rows.counts.data(), 1, MPI_INT, counts.data(), 1, MPI_INT, comm.handle());
  MPI_Datatype row;
  MPI_Type_contiguous(rows.width, MPI_DOUBLE, &row);
  MPI_Type_commit(&row);
  std::vector<double> in(static_cast<std::size_t>(std::accumulate(counts.begin(), counts.end(), std::int64_t{0})) *
                         static_cast<std::size_t>(rows.width));
  std::vector<MPI_Request> requests;
  constexpr int tag = 73;
  double* to = in.data();
  const double* from = rows.numbers.data();
  for (int k = 0; k < comm.size(); to += std::int64_t{counts[k]} * rows.width, ++k)
    if (counts[k]) MPI_Irecv(to, counts[k], row, k, tag, comm.handle(), &requests.emplace_back());
  for (int k = 0; k < comm.size(); from += std::int64_t{rows.counts[k]} * rows.width, ++k)
    if (rows.counts[k]) MPI_Isend(from, rows.counts[k], row, k, tag, comm.handle(), &requests.emplace_back());
  MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
  MPI_Type_free(&row);
  return in;
}

void place_rows(const std::vector<double>& in, int width, std::int64_t low, FrameParts parts, FrameShare& share) {
  Frame& frame = share.frame;
  const auto n = in.size() / static_cast<std::size_t>(width);
  frame.id.resize(n);
  frame.type.resize(n);
  frame.position.resize(3 * n);
  frame.image.resize(3 * n);
  if (parts.velocity) frame.velocity.resize(3 * n);
  if (parts.force) frame.force.resize(3 * n);
  for (const double* row = in.data(); row != in.data() + in.size(); row += width) {
    const std::int64_t k = static_cast<std::int64_t>(row[0]) - share.first;
    frame.id[k] = low + share.first + k;
    for (int c = 0; c < 3; ++c) frame.image[3 * k + c] = static_cast<int>(row[1 + c]);
    std::copy_n(row + 4, 3, &frame.position[3 * k]);
    frame.type[k] = static_cast<int>(row[7]);
    const double* more = row + 8;
    if (parts.velocity) std::copy_n(more, 3, &frame.velocity[3 * k]), more += 3;
    if (parts.force) std::copy_n(more, 3, &frame.force[3 * k]);
  }
}

/// Properties of a frame that do not belong to a single particle. Collective.
void set_whole(Frame& frame, const State& state, const Comm& comm, FrameParts parts, const GivenAxes& axes) {
  frame.step = state.step;
  frame.time = state.time;
  frame.set_cell(state.particles.box, axes);
  frame.species = state.particles.species;
  if (!parts.totals) return;
  if (const auto energy = summed(state, "energy", comm); !energy.empty()) frame.energy = energy.front();
  if (const auto virial = summed(state, "virial", comm); !virial.empty()) frame.virial = axes.tensor(virial.data());
}

/// Wraps positions into the cell and rotates vectors into the given axes.
void finish_rows(Frame& frame, const Box& box, const GivenAxes& axes) {
  for (std::int64_t k = 0; k < frame.size(); ++k) wrap(box, &frame.position[3 * k], &frame.image[3 * k]);
  for (auto* rows : {&frame.position, &frame.velocity, &frame.force}) turn_back(axes, *rows);
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
  const GivenAxes axes = axes_of(state);
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
  set_whole(frame, state, comm, parts, axes);
  frame.id.resize(tags.size());
  frame.type.resize(tags.size());
  frame.position.resize(3 * tags.size());
  for (std::size_t k = 0; k < tags.size(); ++k) frame.id[place[k]] = tags[k];
  for (std::size_t k = 0; k < tags.size(); ++k) {
    frame.type[k] = static_cast<int>(x[4 * k + 3]);
    std::copy_n(&x[4 * k], 3, &frame.position[3 * k]);
  }
  finish_rows(frame, p.box, axes);
  return frame;
}

FrameShare share_frame(const State& state, const Comm& comm, FrameParts parts, std::int64_t rows) {
  const Particles& p = state.particles;
  FrameShare share;
  share.total = comm.sum(static_cast<std::int64_t>(p.nlocal));
  const auto [low, high] = id_range(p, comm);
  share.shares = static_cast<int>(std::clamp<std::int64_t>(share.total / rows, 1, comm.size()));
  if (high - low + 1 != share.total) share.shares = 1;
  if (share.shares == 1) {
    share.frame = gather_frame(state, comm, parts);
    return share;
  }
  const GivenAxes axes = axes_of(state);
  share.first = even_share(share.total, std::min(comm.rank(), share.shares), share.shares)[0];
  const auto out = rows_for_shares(p, parts, low, share.total, share.shares, comm.size());
  place_rows(exchanged(out, comm), out.width, low, parts, share);
  set_whole(share.frame, state, comm, parts, axes);
  finish_rows(share.frame, p.box, axes);
  return share;
}

}  // namespace cambium::io
