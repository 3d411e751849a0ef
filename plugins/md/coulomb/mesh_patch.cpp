#include "plugins/md/coulomb/mesh_patch.hpp"

#include <algorithm>

#include "plugins/md/coulomb/mesh_messages.hpp"

namespace cambium::md {

namespace {

/// Shortest range on a ring that contains all marked points, extended by `order` - 1 points before it.
void cover(const int* marked, int n, int order, int& first, int& count) {
  int gap = 0, gap_end = 0, run = 0;
  for (int k = 0; k < 2 * n; ++k) {  // two rounds, for gaps across the end
    run = marked[k % n] ? 0 : run + 1;
    if (run > gap) gap = std::min(run, n), gap_end = k;
  }
  const int places = n - gap;
  count = places == 0 ? 0 : std::min(n, places + order - 1);
  first = count == n ? 0 : ((gap_end + 1 - (order - 1)) % n + n) % n;
}

}  // namespace

void MeshPatch::place(const Particles& particles, const std::array<int, 3>& points, int order, const Comm& comm) {
  rank_ = comm.rank();
  n_ = points;
  MeshBrick own;
  if (comm.size() == 1) {
    std::copy(points.begin(), points.end(), own.count);
    bricks_.assign(1, own);
    return;
  }
  const int nx = points[0], ny = points[1], nz = points[2], longest = std::max({nx, ny, nz});
  const View<int**> marked("coulomb: points of atoms", 3, longest);
  const auto x = particles.x;
  const auto box = particles.box;
  Kokkos::parallel_for(
      "coulomb: mark points", Range(0, particles.nlocal), KOKKOS_LAMBDA(int i) {
        const int n[3] = {nx, ny, nz};
        double s[3], unused;
        box.to_fractional(&x(i, 0), s);
        for (int d = 0; d < 3; ++d) Kokkos::atomic_or(&marked(d, first_point(s[d], n[d], unused)), 1);
      });
  const auto host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), marked);
  for (int d = 0; d < 3; ++d)
    cover(&host(d, 0), points[static_cast<std::size_t>(d)], order, own.first[d], own.count[d]);
  bricks_.resize(static_cast<std::size_t>(comm.size()));
  constexpr int numbers = sizeof(MeshBrick) / sizeof(int);
  MPI_Allgather(&own, numbers, MPI_INT, bricks_.data(), numbers, MPI_INT, comm.handle());
}

template <class F>
void MeshPatch::common_planes(int owner, int holder, const Comm& comm, const F& f) const {
  const MeshBrick& brick = bricks_[static_cast<std::size_t>(owner)];
  const int begin = first_share(n_[0], holder, comm.size()), end = first_share(n_[0], holder + 1, comm.size());
  for (int k = 0; k < brick.count[0]; ++k) {
    const int plane = (brick.first[0] + k) % n_[0];
    if (plane >= begin && plane < end) f(k, plane);
  }
}

std::int64_t MeshPatch::common_values(int owner, int holder, const Comm& comm) const {
  const MeshBrick& brick = bricks_[static_cast<std::size_t>(owner)];
  std::int64_t planes = 0;
  common_planes(owner, holder, comm, [&](int, int) { ++planes; });
  return planes * brick.count[1] * brick.count[2];
}

void MeshPatch::add_up(const View<const double*>& patch, const MeshWaves& waves, const View<double*>& slab,
                       const Comm& comm) const {
  const auto in = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), patch);
  const auto out = Kokkos::create_mirror_view(Kokkos::HostSpace(), slab);
  const std::int64_t plane_size = std::int64_t{brick().count[1]} * brick().count[2];
  RankBuffers send(static_cast<std::size_t>(comm.size()));
  std::vector<std::int64_t> count;
  for (int r = 0; r < comm.size(); ++r) {
    auto& values = send[static_cast<std::size_t>(r)];
    common_planes(rank_, r, comm, [&](int k, int) {
      values.insert(values.end(), in.data() + k * plane_size, in.data() + (k + 1) * plane_size);
    });
    count.push_back(common_values(r, rank_, comm));
  }
  const RankBuffers received = exchange(std::move(send), count, comm);
  std::fill_n(out.data(), waves.values(), 0.0);
  for (int r = 0; r < comm.size(); ++r) {
    const MeshBrick& from = bricks_[static_cast<std::size_t>(r)];
    const double* next = received[static_cast<std::size_t>(r)].data();
    common_planes(r, rank_, comm, [&](int, int plane) {
      for (int b = 0; b < from.count[1]; ++b) {
        const int y = (from.first[1] + b) % n_[1];
        double* row = out.data() + (std::int64_t{plane - waves.first_plane()} * n_[1] + y) * n_[2];
        for (int c = 0; c < from.count[2]; ++c) row[(from.first[2] + c) % n_[2]] += *next++;
      }
    });
  }
  Kokkos::deep_copy(slab, out);
}

void MeshPatch::fetch(const View<const double*>& slab, const MeshWaves& waves, const View<double*>& patch,
                      const Comm& comm) const {
  const auto in = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), slab);
  const auto out = Kokkos::create_mirror_view(Kokkos::HostSpace(), patch);
  const std::int64_t plane_size = std::int64_t{brick().count[1]} * brick().count[2];
  RankBuffers send(static_cast<std::size_t>(comm.size()));
  std::vector<std::int64_t> count;
  for (int r = 0; r < comm.size(); ++r) {
    const MeshBrick& to = bricks_[static_cast<std::size_t>(r)];
    auto& values = send[static_cast<std::size_t>(r)];
    common_planes(r, rank_, comm, [&](int, int plane) {
      for (int b = 0; b < to.count[1]; ++b) {
        const int y = (to.first[1] + b) % n_[1];
        const double* row = in.data() + (std::int64_t{plane - waves.first_plane()} * n_[1] + y) * n_[2];
        for (int c = 0; c < to.count[2]; ++c) values.push_back(row[(to.first[2] + c) % n_[2]]);
      }
    });
    count.push_back(common_values(rank_, r, comm));
  }
  const RankBuffers received = exchange(std::move(send), count, comm);
  for (int r = 0; r < comm.size(); ++r) {
    const double* next = received[static_cast<std::size_t>(r)].data();
    common_planes(rank_, r, comm, [&](int k, int) {
      std::copy_n(next, plane_size, out.data() + k * plane_size);
      next += plane_size;
    });
  }
  Kokkos::deep_copy(patch, out);
}

}  // namespace cambium::md
