#include "plugins/md/coulomb/mesh_waves.hpp"

#include <algorithm>

#include "plugins/md/coulomb/mesh_messages.hpp"

namespace cambium::md {
namespace {

using Rows = View<const double**>;

/// to[column][row] = from[row][column], by tiles, so that full cache lines are read and written.
void transpose(const View<double*>& from_view, const View<double*>& to_view, int rows, int columns) {
  constexpr int block = 16;
  const double* from = from_view.data();
  double* to = to_view.data();
  const int across = (columns + block - 1) / block, down = (rows + block - 1) / block;
  Kokkos::parallel_for(
      "coulomb: transpose", Range(0, across * down), KOKKOS_LAMBDA(int tile) {
        const int r0 = tile / across * block, c0 = tile % across * block;
        const int r1 = r0 + block < rows ? r0 + block : rows, c1 = c0 + block < columns ? c0 + block : columns;
        for (int c = c0; c < c1; ++c)
          for (int r = r0; r < r1; ++r)
            to[static_cast<std::int64_t>(c) * rows + r] = from[static_cast<std::int64_t>(r) * columns + c];
      });
}

}  // namespace

MeshWaves::MeshWaves(const std::array<int, 3>& points, const Comm& comm)
    : n_(points), x_(points[0]), y_(points[1]), z_(points[2]) {
  for (int end = 0; end < 2; ++end) {
    plane_[end] = first_share(n_[0], comm.rank() + end, comm.size());
    mode_[end] = first_share(n_[1] / 2 + 1, comm.rank() + end, comm.size());
  }
  const std::int64_t slab = std::int64_t{planes()} * (n_[1] + 2) * (n_[2] + 2);
  for (auto& work : work_) work = View<double*>("coulomb: work", std::max(slab, waves()));
}

std::int64_t MeshWaves::bytes() const {
  return static_cast<std::int64_t>((work_[0].extent(0) + work_[1].extent(0)) * sizeof(double));
}

void MeshWaves::to_waves(const View<double*>& from, const View<double*>& to, const Comm& comm) const {
  const int ranks = comm.size(), half = n_[1] / 2 + 1, nx = n_[0];
  const std::int64_t cz = n_[2] + 2, column = cz * planes();
  const auto in = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), from);
  const auto out = Kokkos::create_mirror_view(Kokkos::HostSpace(), to);
  RankBuffers send(static_cast<std::size_t>(ranks));
  std::vector<std::int64_t> count;
  for (int r = 0; r < ranks; ++r) {
    const int first = first_share(half, r, ranks), last = first_share(half, r + 1, ranks);
    for (const int offset : {0, half})
      send[static_cast<std::size_t>(r)].insert(send[static_cast<std::size_t>(r)].end(),
                                               in.data() + (offset + first) * column,
                                               in.data() + (offset + last) * column);
    count.push_back(2 * modes() * cz * (first_share(nx, r + 1, ranks) - first_share(nx, r, ranks)));
  }
  const RankBuffers received = exchange(std::move(send), count, comm);
  for (int r = 0; r < ranks; ++r) {
    const int first = first_share(nx, r, ranks), width = first_share(nx, r + 1, ranks) - first;
    const double* next = received[static_cast<std::size_t>(r)].data();
    for (std::int64_t row = 0; row < 2 * modes() * cz; ++row, next += width)
      std::copy_n(next, width, out.data() + row * nx + first);
  }
  Kokkos::deep_copy(to, out);
}

void MeshWaves::to_planes(const View<double*>& from, const View<double*>& to, const Comm& comm) const {
  const int ranks = comm.size(), half = n_[1] / 2 + 1, nx = n_[0];
  const std::int64_t cz = n_[2] + 2, column = cz * planes();
  const auto in = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), from);
  const auto out = Kokkos::create_mirror_view(Kokkos::HostSpace(), to);
  RankBuffers send(static_cast<std::size_t>(ranks));
  std::vector<std::int64_t> count;
  for (int r = 0; r < ranks; ++r) {
    const int first = first_share(nx, r, ranks), last = first_share(nx, r + 1, ranks);
    for (std::int64_t row = 0; row < 2 * modes() * cz; ++row)
      send[static_cast<std::size_t>(r)].insert(send[static_cast<std::size_t>(r)].end(), in.data() + row * nx + first,
                                               in.data() + row * nx + last);
    count.push_back(2 * column * (first_share(half, r + 1, ranks) - first_share(half, r, ranks)));
  }
  const RankBuffers received = exchange(std::move(send), count, comm);
  for (int r = 0; r < ranks; ++r) {
    const int first = first_share(half, r, ranks);
    const std::int64_t part = count[static_cast<std::size_t>(r)] / 2;
    const double* next = received[static_cast<std::size_t>(r)].data();
    for (const int offset : {0, half}) {
      std::copy_n(next, part, out.data() + (offset + first) * column);
      next += part;
    }
  }
  Kokkos::deep_copy(to, out);
}

void MeshWaves::forward(const View<const double*>& values, const View<double*>& waves, const Comm& comm) const {
  const auto [nx, ny, nz] = n_;
  const int cx = nx + 2, cy = ny + 2, cz = nz + 2, own = planes(), rows = 2 * modes() * cz;
  double *const a = work_[0].data(), *const b = work_[1].data();
  if (own > 0) {
    z_.forward(Rows(values.data(), own * ny, nz), 0, View<double**>(a, own * ny, cz), nz / 2 + 1, own * ny);
    transpose(work_[0], work_[1], own * ny, cz);
    y_.forward(Rows(b, cz * own, ny), 0, View<double**>(a, cz * own, cy), ny / 2 + 1, cz * own);
    transpose(work_[0], work_[1], cz * own, cy);
  }
  const bool alone = comm.size() == 1;
  if (!alone) to_waves(work_[1], work_[0], comm);
  if (rows > 0) x_.forward(Rows(alone ? b : a, rows, nx), 0, View<double**>(waves.data(), rows, cx), nx / 2 + 1, rows);
}

void MeshWaves::backward(const View<const double*>& waves, const View<double*>& values, const Comm& comm) const {
  const auto [nx, ny, nz] = n_;
  const int cx = nx + 2, cy = ny + 2, cz = nz + 2, own = planes(), rows = 2 * modes() * cz;
  double *const a = work_[0].data(), *const b = work_[1].data();
  const bool alone = comm.size() == 1;
  if (rows > 0) x_.backward(Rows(waves.data(), rows, cx), nx / 2 + 1, View<double**>(alone ? a : b, rows, nx), 0, rows);
  if (!alone) to_planes(work_[1], work_[0], comm);
  if (own == 0) return;
  transpose(work_[0], work_[1], cy, cz * own);
  y_.backward(Rows(b, cz * own, cy), ny / 2 + 1, View<double**>(a, cz * own, ny), 0, cz * own);
  transpose(work_[0], work_[1], cz, own * ny);
  z_.backward(Rows(b, own * ny, cz), nz / 2 + 1, View<double**>(values.data(), own * ny, nz), 0, own * ny);
}

}  // namespace cambium::md
