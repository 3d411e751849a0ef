#include "plugins/md/writers/pair_histogram.hpp"

#include <algorithm>
#include <cmath>

namespace cambium::md {

std::vector<std::int64_t> count_pairs(const Particles& particles, const NeighborList& list, double r_max, int bins,
                                      const Comm& comm) {
  const int species = static_cast<int>(particles.species.size()), size = species_pairs(species) * bins;
  const int n = particles.nlocal;
  // Every chunk of atoms has its own histogram, so that no atomics are needed.
  const int chunks = std::clamp(n, 1, std::min(2048, static_cast<int>(ExecSpace().concurrency())));
  View<int**> partial("rdf: partial histograms", chunks, size);
  const auto x = particles.x;
  const auto offset = list.offset;
  const auto count = list.count;
  const auto index = list.index;
  const double r2_max = r_max * r_max, per_length = bins / r_max;
  Kokkos::parallel_for(
      "rdf: count pairs", Range(0, chunks), KOKKOS_LAMBDA(int chunk) {
        const int begin = static_cast<int>(static_cast<std::int64_t>(n) * chunk / chunks);
        const int end = static_cast<int>(static_cast<std::int64_t>(n) * (chunk + 1) / chunks);
        for (int i = begin; i < end; ++i) {
          const double xi = x(i, 0), yi = x(i, 1), zi = x(i, 2);
          const int type = static_cast<int>(x(i, 3));
          for (int m = 0; m < count(i); ++m) {
            const int j = index(offset(i) + m);
            const double dx = x(j, 0) - xi, dy = x(j, 1) - yi, dz = x(j, 2) - zi;
            const double r2 = dx * dx + dy * dy + dz * dz;
            if (r2 >= r2_max) continue;
            int bin = static_cast<int>(sqrt(r2) * per_length);
            if (bin >= bins) bin = bins - 1;  // r just below r_max may round up
            ++partial(chunk, species_pair(type, static_cast<int>(x(j, 3)), species) * bins + bin);
          }
        }
      });
  View<std::int64_t*> sum("rdf: histogram", size);
  Kokkos::parallel_for(
      "rdf: sum histograms", Range(0, size), KOKKOS_LAMBDA(int k) {
        for (int chunk = 0; chunk < chunks; ++chunk) sum(k) += partial(chunk, k);
      });
  const auto host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), sum);
  std::vector<std::int64_t> counts(host.data(), host.data() + size);
  MPI_Allreduce(MPI_IN_PLACE, counts.data(), size, MPI_INT64_T, MPI_SUM, comm.handle());
  return counts;
}

}  // namespace cambium::md
