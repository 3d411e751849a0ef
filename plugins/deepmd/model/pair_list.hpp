#pragma once
#include "core/particles/neighbors.hpp"
#include "plugins/deepmd/model/environment.hpp"
#include "plugins/deepmd/model/lanes.hpp"
#include "plugins/deepmd/model/table.hpp"

namespace cambium::deepmd {

/// Pairs that the gradient kernel processes together, so that it loads an atom's row once for all of them.
constexpr int pair_block = device_is_host ? 2 : 1;

/// Descriptor of the neighbours of one centre type: cut-off, statistics and visibility by neighbour type.
struct NeighborKinds {
  CutOff cutoff;
  int ntypes = 0, components = 4;
  View<double**> mean, inverse_deviation;  ///< [neighbour type][component] of the environment row
  View<char*> hidden;                      ///< by neighbour type: ignored by this centre
};

/// Neighbours within the cut-off of a chunk of atoms of one type, as passed to kernels. The pairs of atom a are
/// first(a) <= p < first(a + 1), padded to full blocks with pairs of index -1 and a zero environment row, which
/// contribute nothing.
template <class T>
struct Pairs {
  View<int*> first;            ///< atoms + 1 values
  View<int**> count;           ///< [atom][type]: number of neighbours, without hidden ones
  View<int*> index;            ///< particle row of the neighbour, or -1
  View<int* [2]> owner;        ///< atom of the chunk, type of the neighbour
  View<double* [4]> geometry;  ///< r_j - r_i and the distance, Å
  View<T* [4]> row;            ///< normalised environment row
  View<T* [2]> point;          ///< table: position within the interval, 1 / interval; network: the input, 1
  View<int* [2]> slot;         ///< table: interval, unused; network: rows of value and derivative
};

/// Builds Pairs from a Verlet list, leaving out its skin and hidden pairs.
template <class T>
struct PairList : Pairs<T> {
  int atoms = 0, pairs = 0;     ///< of this chunk; pairs with padding
  View<T*> input;               ///< network: inputs in the order of the slots, grouped by neighbour type
  std::vector<int> type_first;  ///< network: first input of each neighbour type; ntypes + 1 values
  double closest = 0.0;         ///< Å, over this chunk
  int too_close = 0;            ///< pairs (counted from both sides) below the limit passed to build()

  /// `rows` are the particle rows of the chunk's atoms, `model_type` maps deck types to model types. With `tables`
  /// (not null) the slots are table intervals.
  void build(const Particles& particles, const NeighborList& list, const View<int*>& rows, int first_row, int atoms,
             const View<int*>& model_type, const NeighborKinds& kinds, const TableSet<T>* tables, int centre_type,
             double close_limit);
  std::size_t bytes() const;

 private:
  void reserve(int pairs, bool inputs);
  View<int**> hits_;  ///< [atom]: particle rows of its neighbours
};

}  // namespace cambium::deepmd
