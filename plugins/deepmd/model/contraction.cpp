#include "plugins/deepmd/model/contraction.hpp"

#include "plugins/deepmd/model/group_contraction.hpp"
#include "plugins/deepmd/model/team_gradients.hpp"

namespace cambium::deepmd {

namespace {

template <class T, class Rows, int components>
void contract(const PairList<T>& list, const Rows& rows, const DescriptorShape& shape, const View<T**>& padding,
              const View<int*>& slots, const Matrix<T>& a) {
  const Pairs<T> pairs = list;
  const int n = packs<T>(shape.channels), ntypes = static_cast<int>(slots.extent(0));
  const T scale = static_cast<T>(shape.scale);
  Kokkos::parallel_for(
      "deep_potential: contract", Range(0, list.atoms * n), KOKKOS_LAMBDA(const int item) {
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

/// D[n][c..] of the adjoint, `row` being that of D[n][0]: lanes of channels below n are zero.
template <class T>
CAMBIUM_FN Lane<T> load_kept(const T* row, int n, int c) {
  const Lane<T> values = Lane<T>::load(row + c);
  return c >= n ? values : keep(!Lane<T>::Mask::first(n - c), values);
}

template <class T>
void adjoint_of_rows(int atoms, const Matrix<T>& a, const Matrix<T>& dd, const DescriptorShape& shape,
                     const Matrix<T>& da) {
  const int n = packs<T>(shape.channels), axis = shape.axis, m = shape.channels;
  const T scale = static_cast<T>(shape.scale);
  Kokkos::parallel_for(
      "deep_potential: adjoint", Range(0, atoms * n), KOKKOS_LAMBDA(const int item) {
        const int atom = item / n, pack = item % n, place = pack * 4 * lanes<T>, c = pack * lanes<T>;
        const int rows = axis < c + lanes<T> ? axis : c + lanes<T>;
        const T* row = &dd(atom, 0);
        Lane<T> sum[4];
        for (int k = 0; k < 4; ++k) sum[k] = Lane<T>(T(0));
        for (int q = 0; q < rows; ++q, row += m - q) {
          const Lane<T> d = load_kept<T>(row, q, c);
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
  Kokkos::parallel_for(
      "deep_potential: axis adjoint", Range(0, atoms * axis), KOKKOS_LAMBDA(const int item) {
        const int atom = item / axis, q = item % axis;
        const T* row = &dd(atom, 0) + shape.base(q);
        const T* other = &a(atom, 0);
        Lane<T> sums[4];
        for (int k = 0; k < 4; ++k) sums[k] = Lane<T>(T(0));
        for (int pack = q / lanes<T>; pack < n; ++pack) {  // channels beyond the last are zero in a
          const Lane<T> d = load_kept<T>(row, q, pack * lanes<T>);
          for (int k = 0; k < 4; ++k) sums[k] += d * Lane<T>::load(other + (pack * 4 + k) * lanes<T>);
        }
        T* column = &da(atom, q / lanes<T> * 4 * lanes<T> + q % lanes<T>);
        for (int k = 0; k < 4; ++k) column[k * lanes<T>] += scale * sum(sums[k]);
      });
}

/// Pairs whose gradients are finished together, in packs over the pairs.
constexpr int pair_group = lanes < double >> pair_block ? lanes<double> : pair_block;
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

/// Gradients of the rows of `pair_block` pairs of one atom, 4 values each.
template <class T, class Rows>
KOKKOS_INLINE_FUNCTION void block_gradients(const Pairs<T>& pairs, const Rows& rows, int first, int packs_of_row,
                                            int components, const T* adjoint, const View<double**>& inverse,
                                            double* out) {
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

/// Four-component descriptor rows on a device: a thread for each channel, so that writes are coalesced.
template <class T>
void spread_descriptor(int atoms, const Matrix<T>& a, const DescriptorShape& shape, const Matrix<T>& d) {
  const int m = shape.channels, axis = shape.axis;
  Kokkos::parallel_for(
      "deep_potential: descriptor", Range(0, atoms * m), KOKKOS_LAMBDA(const int item) {
        const int atom = item / m, c = item % m;
        const auto at = [&](int channel, int k) {
          return a(atom, (channel / lanes<T> * 4 + k) * lanes<T> + channel % lanes<T>);
        };
        const T own[4] = {at(c, 0), at(c, 1), at(c, 2), at(c, 3)};
        for (int q = 0; q < axis && q <= c; ++q) {
          T sum = own[0] * at(q, 0);
          for (int k = 1; k < 4; ++k) sum += own[k] * at(q, k);
          d(atom, shape.base(q) + c) = sum;
        }
      });
}

}  // namespace

template <class T, class Rows>
void contract_pairs(const PairList<T>& list, const Rows& rows, const DescriptorShape& shape, const View<T**>& padding,
                    const View<int*>& slots, const Matrix<T>& a) {
  if (shape.components == 1) {
    contract<T, Rows, 1>(list, rows, shape, padding, slots, a);
    return;
  }
  if constexpr (!device_is_host && std::is_same_v<Rows, TableRows<T>>) {
    const GroupContraction<T> groups{list, rows, shape.channels, static_cast<T>(shape.scale), padding, slots, a};
    groups.run(list.atoms);
  } else {
    contract<T, Rows, 4>(list, rows, shape, padding, slots, a);
  }
}

template <class T>
void make_descriptor(int atoms, const Matrix<T>& a, const DescriptorShape& shape, const Matrix<T>& d) {
  const int n = packs<T>(shape.channels), m = shape.channels, axis = shape.axis;
  if (shape.components == 1) {
    Kokkos::parallel_for(
        "deep_potential: descriptor", Range(0, atoms * n), KOKKOS_LAMBDA(const int item) {
          const int atom = item / n, c = item % n * lanes<T>;
          store_some<T>(Lane<T>::load(&a(atom, c)), &d(atom, c), m - c);
        });
    return;
  }
  if constexpr (!device_is_host) return spread_descriptor(atoms, a, shape, d);
  // A full pack is stored even for channels below q, which overwrites the end of the preceding rows. These are written
  // later, because packs are processed in ascending and rows in descending order.
  Kokkos::parallel_for(
      "deep_potential: descriptor", Range(0, atoms), KOKKOS_LAMBDA(const int atom) {
        const T* const own = &a(atom, 0);
        for (int pack = 0, c = 0; pack < n; ++pack, c += lanes<T>) {
          Lane<T> row[4];
          for (int k = 0; k < 4; ++k) row[k] = Lane<T>::load(own + (pack * 4 + k) * lanes<T>);
          const int rows = axis < c + lanes<T> ? axis : c + lanes<T>;
          T* out = &d(atom, 0) + shape.base(rows - 1) + c;
          for (int q = rows - 1; q >= 0; out -= m - q, --q) {
            const T* column = own + q / lanes<T> * 4 * lanes<T> + q % lanes<T>;
            Lane<T> sum = row[0] * Lane<T>(column[0]);
            for (int k = 1; k < 4; ++k) sum += row[k] * Lane<T>(column[k * lanes<T>]);
            store_some<T>(sum, out, m - c);
          }
        }
      });
}

template <class T>
void copy_columns(int atoms, int columns, const Matrix<T>& from, const Matrix<T>& to) {
  Kokkos::parallel_for(
      "deep_potential: copy columns", Range(0, atoms * columns),
      KOKKOS_LAMBDA(const int item) { to(item / columns, item % columns) = from(item / columns, item % columns); });
}

template <class T>
void expand_descriptor(int atoms, const DescriptorShape& shape, const Matrix<T>& d, const Matrix<T>& whole) {
  const int columns = shape.file_columns(), axis = shape.axis;
  Kokkos::parallel_for(
      "deep_potential: expand", Range(0, atoms * columns), KOKKOS_LAMBDA(const int item) {
        const int atom = item / columns, m = item % columns / axis, n = item % columns % axis;
        whole(atom, item % columns) = d(atom, m < n ? shape.base(m) + n : shape.base(n) + m);
      });
}

template <class T>
void fold_adjoint(int atoms, const DescriptorShape& shape, const Matrix<T>& whole, const Matrix<T>& dd) {
  const int channels = shape.channels, axis = shape.axis;
  Kokkos::parallel_for(
      "deep_potential: fold", Range(0, atoms * axis), KOKKOS_LAMBDA(const int item) {
        const int atom = item / axis, n = item % axis;
        for (int m = n; m < channels; ++m)
          dd(atom, shape.base(n) + m) =
              whole(atom, m * axis + n) + (m < axis && m != n ? whole(atom, n * axis + m) : T(0));
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
  Kokkos::parallel_for(
      "deep_potential: adjoint", Range(0, atoms * n), KOKKOS_LAMBDA(const int item) {
        const int atom = item / n, c = item % n * lanes<T>;
        (Lane<T>::load(&dd(atom, c)) * Lane<T>(scale)).store(&da(atom, c));
      });
}

template <class T, class Rows>
void pair_gradients(const PairList<T>& list, const Rows& rows, const DescriptorShape& shape, const NeighborKinds& kinds,
                    const Matrix<T>& da, const View<double* [3]>& force) {
  if constexpr (!device_is_host) {
    const TeamGradients<T, Rows> teams{
        list, rows, shape.channels, shape.components, kinds.cutoff, kinds.inverse_deviation, da, force};
    teams.run(list.atoms);
    return;
  }
  const Pairs<T> pairs = list;
  const int n = packs<T>(shape.channels), components = shape.components, all = list.pairs;
  const CutOff cutoff = kinds.cutoff;
  const View<double**> inverse = kinds.inverse_deviation;
  constexpr int group = pair_group;
  Kokkos::parallel_for(
      "deep_potential: pair gradients", Range(0, (all + group - 1) / group), KOKKOS_LAMBDA(const int item) {
        const int first = item * group, end = first + group < all ? first + group : all;
        double c[group * 4];
        for (int p = first; p < end; p += pair_block)
          block_gradients(pairs, rows, p, n, components, &da(pairs.owner(p, 0), 0), inverse, c + 4 * (p - first));
        finish_pairs(pairs, first, end - first, cutoff, c, force);
      });
}

#define CAMBIUM_CONTRACTION(T, Rows)                                                                          \
  template void contract_pairs(const PairList<T>&, const Rows&, const DescriptorShape&, const View<T**>&,     \
                               const View<int*>&, const Matrix<T>&);                                          \
  template void pair_gradients(const PairList<T>&, const Rows&, const DescriptorShape&, const NeighborKinds&, \
                               const Matrix<T>&, const View<double* [3]>&);
CAMBIUM_CONTRACTION(double, NetworkRows<double>)
CAMBIUM_CONTRACTION(double, TableRows<double>)
CAMBIUM_CONTRACTION(float, NetworkRows<float>)
CAMBIUM_CONTRACTION(float, TableRows<float>)
template void make_descriptor(int, const Matrix<double>&, const DescriptorShape&, const Matrix<double>&);
template void make_descriptor(int, const Matrix<float>&, const DescriptorShape&, const Matrix<float>&);
#define CAMBIUM_FILE_ORDER(T)                                                                       \
  template void copy_columns(int, int, const Matrix<T>&, const Matrix<T>&);                         \
  template void expand_descriptor(int, const DescriptorShape&, const Matrix<T>&, const Matrix<T>&); \
  template void fold_adjoint(int, const DescriptorShape&, const Matrix<T>&, const Matrix<T>&);
CAMBIUM_FILE_ORDER(double)
CAMBIUM_FILE_ORDER(float)
template void descriptor_adjoint(int, const Matrix<double>&, const Matrix<double>&, const DescriptorShape&,
                                 const Matrix<double>&);
template void descriptor_adjoint(int, const Matrix<float>&, const Matrix<float>&, const DescriptorShape&,
                                 const Matrix<float>&);

}  // namespace cambium::deepmd
