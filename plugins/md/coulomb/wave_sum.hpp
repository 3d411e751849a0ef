#pragma once
#include "core/pair/forces.hpp"
#include "core/parallel/comm.hpp"
#include "core/particles/particles.hpp"

namespace cambium::md {

/// Adds the reciprocal part of an Ewald sum, wave by wave: P. P. Ewald, Ann. Phys. 369, 253 (1921),
///   E = 2 pi C / V sum_k exp(-k^2/(4 alpha^2)) / k^2 |sum_i q_i exp(i k r_i)|^2,  0 < |k| <= k_max.
/// Forces of owned atoms and the requested outputs. charge (e): of every owned row. The cost is atoms times waves, on
/// the host. Collective.
void add_wave_sum(const Particles& particles, const View<const double*>& charge, double alpha, double k_max,
                  const ForceRequest& request, ForceOutput& out, const Comm& comm);

/// Number of waves of a cell with 0 < |k| <= k_max, where k and -k count once.
std::int64_t count_waves(const Box& box, double k_max);

}  // namespace cambium::md
