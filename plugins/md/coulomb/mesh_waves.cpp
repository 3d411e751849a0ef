#include "plugins/md/coulomb/mesh_waves.hpp"

namespace cambium::md {
namespace {

using Rows = View<const double**>;

/// to[column][row] = from[row][column], by tiles, so that lines of a cache are read and written whole.
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

MeshWaves::MeshWaves(const std::array<int, 3>& points) : n_(points), x_(points[0]), y_(points[1]), z_(points[2]) {
  for (auto& work : work_) work = View<double*>("coulomb: work", waves());
}

void MeshWaves::forward(const View<const double*>& values, const View<double*>& waves) const {
  const auto [nx, ny, nz] = n_;
  const int cx = nx + 2, cy = ny + 2, cz = nz + 2;
  double *const a = work_[0].data(), *const b = work_[1].data();
  z_.forward(Rows(values.data(), nx * ny, nz), 0, View<double**>(a, nx * ny, cz), nz / 2 + 1, nx * ny);
  transpose(work_[0], work_[1], nx * ny, cz);
  y_.forward(Rows(b, cz * nx, ny), 0, View<double**>(a, cz * nx, cy), ny / 2 + 1, cz * nx);
  transpose(work_[0], work_[1], cz * nx, cy);
  x_.forward(Rows(b, cy * cz, nx), 0, View<double**>(waves.data(), cy * cz, cx), nx / 2 + 1, cy * cz);
}

void MeshWaves::backward(const View<const double*>& waves, const View<double*>& values) const {
  const auto [nx, ny, nz] = n_;
  const int cx = nx + 2, cy = ny + 2, cz = nz + 2;
  double *const a = work_[0].data(), *const b = work_[1].data();
  x_.backward(Rows(waves.data(), cy * cz, cx), nx / 2 + 1, View<double**>(a, cy * cz, nx), 0, cy * cz);
  transpose(work_[0], work_[1], cy, cz * nx);
  y_.backward(Rows(b, cz * nx, cy), ny / 2 + 1, View<double**>(a, cz * nx, ny), 0, cz * nx);
  transpose(work_[0], work_[1], cz, nx * ny);
  z_.backward(Rows(b, nx * ny, cz), nz / 2 + 1, View<double**>(values.data(), nx * ny, nz), 0, nx * ny);
}

}  // namespace cambium::md
