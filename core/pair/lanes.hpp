#pragma once
#include <cstdint>
#include <type_traits>

#include "core/numerics/width.hpp"
#include "core/pair/forces.hpp"
#include "core/parallel/sums.hpp"

namespace cambium {

/// Lanes of a force kernel: those of the host's registers, or 1 where each thread of a device is a lane.
constexpr int kernel_lanes = width_of<ExecSpace, double>;
using KernelPack = Pack<double, kernel_lanes>;

/// Outputs of a kernel in addition to forces.
enum class Outputs { forces, totals, per_atom };

/// Energy, then the virial in the order xx, yy, zz, xy, xz, yz.
using PairSums = Sums<7>;

/// True if kernels never run concurrently.
#if defined(KOKKOS_ENABLE_SERIAL)
constexpr bool one_thread = std::is_same_v<ExecSpace, Kokkos::Serial>;
#else
constexpr bool one_thread = false;
#endif

/// *p += value, atomic if there are several threads.
CAMBIUM_FN void add_to(double* p, double value) {
  if constexpr (one_thread)
    *p += value;
  else
    Kokkos::atomic_add(p, value);
}

/// Adds the symmetric tensor (xx, yy, zz, xy, xz, yz) to nine values in row-major order.
CAMBIUM_FN void add_symmetric(double* to, const double* w) {
  to[0] += w[0];
  to[1] += w[3];
  to[2] += w[4];
  to[3] += w[3];
  to[4] += w[1];
  to[5] += w[5];
  to[6] += w[4];
  to[7] += w[5];
  to[8] += w[2];
}

/// Calls run.operator()<outputs>() for the requested outputs.
template <class Run>
void dispatch(const ForceRequest& request, Run run) {
  if (request.per_atom)
    run.template operator()<Outputs::per_atom>();
  else if (request.totals)
    run.template operator()<Outputs::totals>();
  else
    run.template operator()<Outputs::forces>();
}

/// Runs a kernel with operator()(int) and operator()(int, PairSums&) over the owned atoms; adds its sums to `out`.
template <Outputs outputs, class Kernel>
void run_atoms(const char* label, int atoms, const Kernel& kernel, ForceOutput& out) {
  if constexpr (outputs == Outputs::forces) {
    Kokkos::parallel_for(label, Range(0, atoms), kernel);
  } else {
    PairSums sums;
    Kokkos::parallel_reduce(label, Range(0, atoms), kernel, Kokkos::Sum<PairSums>(sums));
    out.energy += sums.v[0];
    add_symmetric(out.virial, sums.v + 1);
  }
}

}  // namespace cambium
