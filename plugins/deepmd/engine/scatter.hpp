#pragma once
#include "plugins/deepmd/model/pair_list.hpp"

namespace cambium::deepmd {

/// f_i += g and f_j -= g for every pair (i, j) of the chunk, where g = dE_i/dr_j (eV/Å). `rows` are the particle rows
/// of the atoms; j may be a ghost.
template <class T>
void scatter_forces(const PairList<T>& list, const View<int*>& rows, int first_row, const View<double* [3]>& gradient,
                    const View<double* [3]>& f);

/// virial[3 a + b] -= sum of g_a d_b over the chunk's pairs, d = r_j - r_i.
template <class T>
void add_virial(const PairList<T>& list, const View<double* [3]>& gradient, double virial[9]);

/// The same, assigned to the neighbour j of each pair.
template <class T>
void scatter_virials(const PairList<T>& list, const View<double* [3]>& gradient, const View<double* [9]>& atom_virial);

}  // namespace cambium::deepmd
