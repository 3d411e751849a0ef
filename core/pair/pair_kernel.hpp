#pragma once
#include "core/pair/lanes.hpp"
#include "core/particles/neighbors.hpp"

namespace cambium {

/// Sum over the full neighbour list of a function of distance and the two atoms. Row i is written by thread i only.
/// `Model` has a nested `Row` and
///   Row row(int i, int type) const;  // terms that depend on the central atom
///   template <bool energies, class P>
///   void pair(const Row&, P r2, const int* j, P type_j, P& f_over_r, P& energy) const;
/// where f_over_r = -(dE/dr)/r and energy is that of the pair; both exactly 0 beyond the cut-off.
template <class P, class Model, Outputs outputs>
struct PairKernel {
  Model model;
  const double* x;
  const std::int64_t* offset;
  const int* count;
  const int* index;
  double* f;
  double* atom_energy;
  double* atom_virial;

  PairKernel(const Model& m, const Particles& particles, const NeighborList& list, const ForceOutput& out)
      : model(m), x(particles.x.data()), offset(list.offset.data()), count(list.count.data()), index(list.index.data()),
        f(out.f.data()), atom_energy(out.atom_energy.data()), atom_virial(out.atom_virial.data()) {}

  KOKKOS_FUNCTION void operator()(int i) const {
    PairSums unused;
    row(i, unused);
  }
  KOKKOS_FUNCTION void operator()(int i, PairSums& sums) const { row(i, sums); }

 private:
  CAMBIUM_FN void row(int i, PairSums& sums) const {
    const double* xi = x + 4 * static_cast<std::int64_t>(i);
    const P px = xi[0], py = xi[1], pz = xi[2];
    const auto center = model.row(i, static_cast<int>(xi[3]));
    const int* j = index + offset[i];
    const int* const end = j + count[i];
    P fx = 0.0, fy = 0.0, fz = 0.0, e = 0.0, v[6] = {0.0, 0.0, 0.0, 0.0, 0.0, 0.0};
    for (; j < end; j += P::width) {
      const auto other = gather_rows<P>(x, j);
      const P dx = px - other.x, dy = py - other.y, dz = pz - other.z;
      const P r2 = fma(dx, dx, fma(dy, dy, dz * dz));
      P s, energy;
      model.template pair<outputs != Outputs::forces>(center, r2, j, other.type, s, energy);
      const P sx = s * dx, sy = s * dy, sz = s * dz;
      fx += sx;
      fy += sy;
      fz += sz;
      if constexpr (outputs != Outputs::forces) {
        e += energy;
        v[0] = fma(sx, dx, v[0]);
        v[1] = fma(sy, dy, v[1]);
        v[2] = fma(sz, dz, v[2]);
        v[3] = fma(sx, dy, v[3]);
        v[4] = fma(sx, dz, v[4]);
        v[5] = fma(sy, dz, v[5]);
      }
    }
    double* fi = f + 3 * static_cast<std::int64_t>(i);
    fi[0] += sum(fx);
    fi[1] += sum(fy);
    fi[2] += sum(fz);
    if constexpr (outputs != Outputs::forces) add_sums(i, e, v, sums);
  }

  CAMBIUM_FN void add_sums(int i, P e, const P* v, PairSums& sums) const {
    const double energy = 0.5 * sum(e);  // the other half belongs to the neighbour's row
    sums.v[0] += energy;
    double w[6];
    for (int k = 0; k < 6; ++k) {
      w[k] = 0.5 * sum(v[k]);
      sums.v[1 + k] += w[k];
    }
    if constexpr (outputs == Outputs::per_atom) {
      atom_energy[i] += energy;
      add_symmetric(atom_virial + 9 * static_cast<std::int64_t>(i), w);
    }
  }
};

/// Runs the kernel of a pair model with the requested outputs.
template <class Model>
void compute_pairs(const char* label, const Model& model, const Particles& particles, const NeighborList& list,
                   const ForceRequest& request, ForceOutput& out) {
  dispatch(request, [&]<Outputs outputs>() {
    run_atoms<outputs>(label, particles.nlocal, PairKernel<KernelPack, Model, outputs>(model, particles, list, out),
                       out);
  });
}

}  // namespace cambium
