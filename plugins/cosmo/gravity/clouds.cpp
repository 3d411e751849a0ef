#include "plugins/cosmo/gravity/clouds.hpp"

#include <mpi.h>

namespace cambium::cosmo {
namespace {

template <int Order>
void add_clouds(const View<const double**>& positions, double scale, int n, const View<std::int64_t*>& mass) {
  const int rows = static_cast<int>(positions.extent(0));
  Kokkos::parallel_for(
      "clouds: assign", Range(0, rows), KOKKOS_LAMBDA(int i) {
        const double place[3] = {positions(i, 0) * scale, positions(i, 1) * scale, positions(i, 2) * scale};
        const Cloud<Order> cloud(place, n);
        for (int k = 0; k < cloud.size; ++k) Kokkos::atomic_add(&mass(cloud.cell[k]), cloud.weight[k]);
      });
}

template <int Order>
void gather(const VectorField& field, int n, const View<const double**>& positions, double scale,
            const View<double**>& to) {
  const int rows = static_cast<int>(positions.extent(0));
  const double unit = 1.0 / static_cast<double>(whole_particle);
  const View<const double*> fx = field.component[0], fy = field.component[1], fz = field.component[2];
  Kokkos::parallel_for(
      "clouds: interpolate", Range(0, rows), KOKKOS_LAMBDA(int i) {
        const double place[3] = {positions(i, 0) * scale, positions(i, 1) * scale, positions(i, 2) * scale};
        const Cloud<Order> cloud(place, n);
        double x = 0.0, y = 0.0, z = 0.0;
        for (int k = 0; k < cloud.size; ++k) {
          const double share = static_cast<double>(cloud.weight[k]);
          const int at = cloud.cell[k];
          x += share * fx(at);
          y += share * fy(at);
          z += share * fz(at);
        }
        to(i, 0) = unit * x;
        to(i, 1) = unit * y;
        to(i, 2) = unit * z;
      });
}

}  // namespace

void assign_clouds(Clouds clouds, const View<const double**>& positions, double box, int n,
                   const View<std::int64_t*>& mass, const Comm& comm) {
  Kokkos::deep_copy(mass, std::int64_t{0});
  if (clouds == Clouds::cloud_in_cell)
    add_clouds<2>(positions, n / box, n, mass);
  else
    add_clouds<3>(positions, n / box, n, mass);
  if (comm.size() == 1) return;
  const auto host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), mass);
  MPI_Allreduce(MPI_IN_PLACE, host.data(), static_cast<int>(host.extent(0)), MPI_INT64_T, MPI_SUM, comm.handle());
  Kokkos::deep_copy(mass, host);
}

void contrast(const View<const std::int64_t*>& mass, std::int64_t particles, const View<double*>& delta) {
  const int cells = static_cast<int>(mass.extent(0));
  const double scale =
      static_cast<double>(cells) / (static_cast<double>(particles) * static_cast<double>(whole_particle));
  Kokkos::parallel_for(
      "clouds: contrast", Range(0, cells),
      KOKKOS_LAMBDA(int i) { delta(i) = static_cast<double>(mass(i)) * scale - 1.0; });
}

void interpolate(Clouds clouds, const VectorField& field, int n, const View<const double**>& positions, double box,
                 const View<double**>& to) {
  if (clouds == Clouds::cloud_in_cell)
    gather<2>(field, n, positions, n / box, to);
  else
    gather<3>(field, n, positions, n / box, to);
}

}  // namespace cambium::cosmo
