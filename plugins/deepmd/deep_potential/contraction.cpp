#include "plugins/deepmd/deep_potential/contraction.hpp"

namespace cambium::deepmd {

namespace {

template <class T, class Rows, int components>
void contract(const PairList<T>& list, const Rows& rows, const DescriptorShape& shape, const View<T**>& padding,
              const View<int*>& slots, const Matrix<T>& a) {
  const Pairs<T> pairs = list;
  const int n = packs<T>(shape.channels), ntypes = static_cast<int>(slots.extent(0));
  const T scale = static_cast<T>(shape.scale);
  Kokkos::parallel_for("deep_potential: contract", Range(0, list.atoms * n), KOKKOS_LAMBDA(const int item) {
    const int atom = item / n, pack = item % n;
    const int place = pack * components * lanes<T>;
    Lane<T> sum[components];
    for (int k = 0; k < components; ++k) sum[k] = Lane<T>(T(0));
    for (int t = 0; t < ntypes; ++t) {
      const Lane<T> empty(static_cast<T>(slots(t) - pairs.count(atom, t)));
      for (int k = 0; k < components; ++k) sum[k] += empty * Lane<T>::load(&padding(t, place + k * lanes<T>));
    }
    const int end = pairs.first(atom + 1);
    for (int p = pairs.first(atom); p < end; ++p) {
      const Lane<T> g = rows.value(&pairs.slot(p, 0), pairs.point(p, 0), pack);
      if constexpr (components == 1)
        sum[0] += pairs.index(p) < 0 ? Lane<T>(T(0)) : g;
      else
        for (int k = 0; k < components; ++k) sum[k] += g * Lane<T>(pairs.row(p, k));
    }
    for (int k = 0; k < components; ++k) (sum[k] * Lane<T>(scale)).store(&a(atom, place + k * lanes<T>));
  });
}

/// D[n][c..], or of its adjoint; zero where it is not kept.
template <class T>
CAMBIUM_FN Lane<T> load_kept(const T* row, const DescriptorShape& shape, int n, int c) {
  if (!shape.symmetric) {
    T values[lanes<T>];
    for (int k = 0; k < lanes<T>; ++k) values[k] = c + k < shape.channels ? row[(c + k) * shape.axis + n] : T(0);
    return Lane<T>::load(values);
  }
  const Lane<T> values = Lane<T>::load(row + shape.base(n) + c);
  return c >= n ? values : keep(!Lane<T>::Mask::first(n - c), values);
}

template <class T>
CAMBIUM_FN void store_kept(Lane<T> values, T* row, const DescriptorShape& shape, int n, int c) {
  if (shape.symmetric && c >= n) {
    store_some<T>(values, row + shape.base(n) + c, shape.channels - c);
    return;
  }
  for (int k = 0; k < lanes<T> && c + k < shape.channels; ++k)
    if (!shape.symmetric) row[(c + k) * shape.axis + n] = values[k];
    else if (c + k >= n) row[shape.base(n) + c + k] = values[k];
}

template <class T>
void adjoint_of_rows(int atoms, const Matrix<T>& a, const Matrix<T>& dd, const DescriptorShape& shape,
                     const Matrix<T>& da) {
  const int n = packs<T>(shape.channels), axis = shape.axis;
  const T scale = static_cast<T>(shape.scale);
  Kokkos::parallel_for("deep_potential: adjoint", Range(0, atoms * n), KOKKOS_LAMBDA(const int item) {
    const int atom = item / n, pack = item % n, place = pack * 4 * lanes<T>;
    Lane<T> sum[4];
    for (int k = 0; k < 4; ++k) sum[k] = Lane<T>(T(0));
    for (int q = 0; q < axis && shape.first(q) < (pack + 1) * lanes<T>; ++q) {
      const Lane<T> d = load_kept<T>(&dd(atom, 0), shape, q, pack * lanes<T>);
      const T* column = &a(atom, q / lanes<T> * 4 * lanes<T> + q % lanes<T>);
      for (int k = 0; k < 4; ++k) sum[k] += d * Lane<T>(column[k * lanes<T>]);
    }
    for (int k = 0; k < 4; ++k) (sum[k] * Lane<T>(scale)).store(&da(atom, place + k * lanes<T>));
  });
}

/// Adds the part of the adjoint that the axis channels receive as the second factor of D.
template <class T>
void adjoint_of_axis(int atoms, const Matrix<T>& a, const Matrix<T>& dd, const DescriptorShape& shape,
                     const Matrix<T>& da) {
  const int n = packs<T>(shape.channels), axis = shape.axis;
  const T scale = static_cast<T>(shape.scale);
  Kokkos::parallel_for("deep_potential: axis adjoint", Range(0, atoms * axis), KOKKOS_LAMBDA(const int item) {
    const int atom = item / axis, q = item % axis;
    Lane<T> sums[4];
    for (int k = 0; k < 4; ++k) sums[k] = Lane<T>(T(0));
    for (int pack = shape.first(q) / lanes<T>; pack < n; ++pack) {  // channels beyond the last are zero in a
      const Lane<T> d = load_kept<T>(&dd(atom, 0), shape, q, pack * lanes<T>);
      for (int k = 0; k < 4; ++k) sums[k] += d * Lane<T>::load(&a(atom, (pack * 4 + k) * lanes<T>));
    }
    T* column = &da(atom, q / lanes<T> * 4 * lanes<T> + q % lanes<T>);
    for (int k = 0; k < 4; ++k) column[k * lanes<T>] += scale * sum(sums[k]);
  });
}

/// Pairs whose gradients are finished together, in packs over the pairs.
constexpr int pair_group = lanes<double> > pair_block ? lanes<double> : pair_block;
static_assert(pair_group % pair_block == 0);

/// dE/d(row) of one pair, before normalisation, from the sums over channels.
template <class T>
KOKKOS_INLINE_FUNCTION void row_gradient(const Pairs<T>& pairs, int p, const View<double**>& inverse, T along_network,
                                         const Lane<T>* along_row, double* c) {
  const int type = pairs.owner(p, 1);
  for (int k = 0; k < 4; ++k) c[k] = static_cast<double>(sum(along_row[k])) * inverse(type, k);
  c[0] += static_cast<double>(along_network * pairs.point(p, 1)) * inverse(type, 0);
}

/// Forces of the pairs first..first + n - 1 from their rows' gradients.
template <class T>
KOKKOS_INLINE_FUNCTION void finish_pairs(const Pairs<T>& pairs, int first, int n, const CutOff& cutoff,
                                         const double* row_gradients, const View<double* [3]>& force) {
  using P = Lane<double>;
  for (int begin = 0; begin < n; begin += P::width) {
    int place[P::width], geometry[P::width];
    for (int k = 0; k < P::width; ++k) {
      place[k] = begin + k < n ? begin + k : n - 1;
      geometry[k] = first + place[k];
    }
    const auto g = gather_rows<P>(row_gradients, place);
    const auto x = gather_rows<P>(pairs.geometry.data(), geometry);
    const P d[3] = {x.x, x.y, x.z}, c[4] = {g.x, g.y, g.z, g.type};
    P f[3];
    cutoff.gradient(d, x.type, c, f);
    for (int k = 0; k < P::width && begin + k < n; ++k)
      for (int axis = 0; axis < 3; ++axis) force(first + begin + k, axis) = f[axis][k];
  }
}

/// Gradients of the rows of `pair_block` pairs of one atom, 4 numbers each.
template <class T, class Rows>
KOKKOS_INLINE_FUNCTION void block_gradients(const Pairs<T>& pairs, const Rows& rows, int first, int packs_of_row,
                                            int components, const T* adjoint, const View<double**>& inverse, double* out) {
  constexpr int block = pair_block;
  Lane<T> network[block], row[block][4];
  for (int b = 0; b < block; ++b) {
    network[b] = Lane<T>(T(0));
    for (int k = 0; k < 4; ++k) row[b][k] = Lane<T>(T(0));
  }
  for (int pack = 0; pack < packs_of_row; ++pack, adjoint += components * lanes<T>)
    for (int b = 0; b < block; ++b) {
      Lane<T> g, slope;
      rows.both(&pairs.slot(first + b, 0), pairs.point(first + b, 0), pack, g, slope);
      if (components == 1) {
        network[b] += slope * Lane<T>::load(adjoint);
        continue;
      }
      Lane<T> dg(T(0));
      for (int k = 0; k < 4; ++k) {
        const Lane<T> d = Lane<T>::load(adjoint + k * lanes<T>);
        dg += d * Lane<T>(pairs.row(first + b, k));
        row[b][k] += g * d;
      }
      network[b] += slope * dg;
    }
  for (int b = 0; b < block; ++b) row_gradient(pairs, first + b, inverse, sum(network[b]), row[b], out + 4 * b);
}

}  // namespace

template <class T, class Rows>
void contract_pairs(const PairList<T>& list, const Rows& rows, const DescriptorShape& shape, const View<T**>& padding,
                    const View<int*>& slots, const Matrix<T>& a) {
  if (shape.components == 1) contract<T, Rows, 1>(list, rows, shape, padding, slots, a);
  else contract<T, Rows, 4>(list, rows, shape, padding, slots, a);
}

template <class T>
void make_descriptor(int atoms, const Matrix<T>& a, const DescriptorShape& shape, const Matrix<T>& d) {
  const int n = packs<T>(shape.channels), m = shape.channels, axis = shape.axis, components = shape.components;
  Kokkos::parallel_for("deep_potential: descriptor", Range(0, atoms * n), KOKKOS_LAMBDA(const int item) {
    const int atom = item / n, pack = item % n, c = pack * lanes<T>;
    Lane<T> row[4];
    for (int k = 0; k < components; ++k) row[k] = Lane<T>::load(&a(atom, (pack * components + k) * lanes<T>));
    if (components == 1) {
      store_some<T>(row[0], &d(atom, c), m - c);
      return;
    }
    for (int q = 0; q < axis && shape.first(q) < c + lanes<T>; ++q) {
      const T* column = &a(atom, q / lanes<T> * 4 * lanes<T> + q % lanes<T>);
      Lane<T> sum = row[0] * Lane<T>(column[0]);
      for (int k = 1; k < 4; ++k) sum += row[k] * Lane<T>(column[k * lanes<T>]);
      store_kept<T>(sum, &d(atom, 0), shape, q, c);
    }
  });
}

template <class T>
void descriptor_adjoint(int atoms, const Matrix<T>& a, const Matrix<T>& dd, const DescriptorShape& shape,
                        const Matrix<T>& da) {
  if (shape.components == 4) {
    adjoint_of_rows(atoms, a, dd, shape, da);
    adjoint_of_axis(atoms, a, dd, shape, da);
    return;
  }
  const int n = packs<T>(shape.channels);
  const T scale = static_cast<T>(shape.scale);
  Kokkos::parallel_for("deep_potential: adjoint", Range(0, atoms * n), KOKKOS_LAMBDA(const int item) {
    const int atom = item / n, c = item % n * lanes<T>;
    (Lane<T>::load(&dd(atom, c)) * Lane<T>(scale)).store(&da(atom, c));
  });
}

template <class T, class Rows>
void pair_gradients(const PairList<T>& list, const Rows& rows, const DescriptorShape& shape, const NeighborKinds& kinds,
                    const Matrix<T>& da, const View<double* [3]>& force) {
  const Pairs<T> pairs = list;
  const int n = packs<T>(shape.channels), components = shape.components, all = list.pairs;
  const CutOff cutoff = kinds.cutoff;
  const View<double**> inverse = kinds.inverse_deviation;
  constexpr int group = pair_group;
  Kokkos::parallel_for("deep_potential: pair gradients", Range(0, (all + group - 1) / group), KOKKOS_LAMBDA(const int item) {
    const int first = item * group, end = first + group < all ? first + group : all;
    double c[group * 4];
    for (int p = first; p < end; p += pair_block)
      block_gradients(pairs, rows, p, n, components, &da(pairs.owner(p, 0), 0), inverse, c + 4 * (p - first));
    finish_pairs(pairs, first, end - first, cutoff, c, force);
  });
}

#define CAMBIUM_CONTRACTION(T, Rows)                                                                                  \
  template void contract_pairs(const PairList<T>&, const Rows&, const DescriptorShape&, const View<T**>&,             \
                               const View<int*>&, const Matrix<T>&);                                                  \
  template void pair_gradients(const PairList<T>&, const Rows&, const DescriptorShape&, const NeighborKinds&,         \
                               const Matrix<T>&, const View<double* [3]>&);
CAMBIUM_CONTRACTION(double, NetworkRows<double>)
CAMBIUM_CONTRACTION(double, TableRows<double>)
CAMBIUM_CONTRACTION(float, NetworkRows<float>)
CAMBIUM_CONTRACTION(float, TableRows<float>)
template void make_descriptor(int, const Matrix<double>&, const DescriptorShape&, const Matrix<double>&);
template void make_descriptor(int, const Matrix<float>&, const DescriptorShape&, const Matrix<float>&);
template void descriptor_adjoint(int, const Matrix<double>&, const Matrix<double>&, const DescriptorShape&,
                                 const Matrix<double>&);
template void descriptor_adjoint(int, const Matrix<float>&, const Matrix<float>&, const DescriptorShape&,
                                 const Matrix<float>&);

}  // namespace cambium::deepmd
