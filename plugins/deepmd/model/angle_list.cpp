#include "plugins/deepmd/model/angle_list.hpp"

#include "plugins/deepmd/model/grow.hpp"

namespace cambium::deepmd {

namespace {

template <class T>
KOKKOS_INLINE_FUNCTION int neighbours_of(const Pairs<T>& pairs, int atom, int ntypes) {
  int n = 0;
  for (int t = 0; t < ntypes; ++t) n += pairs.count(atom, t);
  return n;
}

template <class T>
int scan_angles(const PairList<T>& list, const View<int*>& first) {
  const Pairs<T> pairs = list;
  const int atoms = list.atoms, ntypes = static_cast<int>(pairs.count.extent(1));
  int total = 0;
  Kokkos::parallel_scan(
      "angle_list: scan", Range(0, atoms + 1),
      KOKKOS_LAMBDA(const int atom, int& sum, const bool final) {
        if (final) first(atom) = sum;
        if (atom == atoms) return;
        const int n = neighbours_of(pairs, atom, ntypes);
        sum += n * (n + 1) / 2;
      },
      total);
  return total;
}

/// Number of inputs of each network, [lower type + higher type * ntypes].
template <class T>
std::vector<int> inputs_by_network(const PairList<T>& list) {
  const Pairs<T> pairs = list;
  const int ntypes = static_cast<int>(pairs.count.extent(1));
  std::vector<int> out;
  for (int b = 0; b < ntypes; ++b)
    for (int a = 0; a < ntypes; ++a) {
      int sum = 0;
      if (a <= b)
        Kokkos::parallel_reduce(
            "angle_list: count", Range(0, list.atoms),
            KOKKOS_LAMBDA(const int atom, int& n) {
              const int na = pairs.count(atom, a), nb = pairs.count(atom, b);
              n += a == b ? na * (na + 1) / 2 : na * nb;
            },
            sum);
      out.push_back(sum);
    }
  return out;
}

/// Storage of the networks' inputs, or the tables to look up.
template <class T>
struct AnglePlacement {
  bool tables = false;
  TableSet<T> table;
  View<int*> next;   ///< network: of the next input
  View<int*> block;  ///< network: first input, number of inputs
  View<T*> input;
};

/// Writes the data of the angles (p, q) of one pair p.
template <class T>
struct FillAngles {
  Pairs<T> pairs;
  Angles<T> angles;
  View<double*> inverse_sel;
  int ntypes;
  AnglePlacement<T> where;

  KOKKOS_INLINE_FUNCTION void place(int k, int a, int b, T x) const {
    if (where.tables) {
      const TableGrid& grid = where.table.grid(a, b);
      int interval;
      double t, inverse;
      grid.locate(static_cast<double>(x), interval, t, inverse);
      const bool below = static_cast<double>(x) < grid.lower;  // close encounters: constant continuation of the network
      angles.slot(k, 0) = interval;
      angles.slot(k, 1) = 0;
      angles.point(k, 0) = below ? T(0) : static_cast<T>(t);
      angles.point(k, 1) = below ? T(0) : static_cast<T>(inverse);
      return;
    }
    const int net = a < b ? a + b * ntypes : b + a * ntypes;
    // The order of the angles is arbitrary; each has its own storage, so results do not depend on it.
    const int own = Kokkos::atomic_fetch_add(&where.next(net), 1), base = where.block(2 * net);
    where.input(own) = x;
    angles.slot(k, 0) = base + own;  // a network writes its values from 2 * base, then its derivatives
    angles.slot(k, 1) = base + own + where.block(2 * net + 1);
    angles.point(k, 0) = x;
    angles.point(k, 1) = T(1);
  }

  KOKKOS_INLINE_FUNCTION void operator()(const int p) const {
    if (pairs.index(p) < 0) return;
    const int atom = pairs.owner(p, 0), from = pairs.first(atom), n = neighbours_of(pairs, atom, ntypes);
    const int a = pairs.owner(p, 1);
    for (int q = p; q < from + n; ++q) {
      const int b = pairs.owner(q, 1), k = angles.first(atom) + Angles<T>::place(p - from, q - from, n);
      T x(0);
      for (int c = 1; c < 4; ++c) x += pairs.row(p, c) * pairs.row(q, c);
      angles.product(k) = x;
      angles.weight(k) = static_cast<T>((a == b && p != q ? 2.0 : 1.0) * inverse_sel(a) * inverse_sel(b));
      place(k, a, b, x);
    }
  }
};

/// dE/d(product) of every angle.
template <class T, class Rows>
void along_angles(int atoms, const Angles<T>& angles, const Rows& rows, int channels, const Matrix<T>& dd,
                  const View<double*>& along) {
  const int n = packs<T>(channels);
  Kokkos::parallel_for(
      "deep_potential: angles", Range(0, atoms), KOKKOS_LAMBDA(const int atom) {
        for (int k = angles.first(atom); k < angles.first(atom + 1); ++k) {
          const Lane<T> x(angles.product(k) * angles.point(k, 1));
          Lane<T> total(T(0));
          for (int pack = 0; pack < n; ++pack) {
            Lane<T> g, slope;
            rows.both(&angles.slot(k, 0), angles.point(k, 0), pack, g, slope);
            total += (g + x * slope) * Lane<T>::load(&dd(atom, pack * lanes<T>));
          }
          along(k) = static_cast<double>(angles.weight(k) * sum(total));
        }
      });
}

}  // namespace

template <class T>
void AngleList<T>::reserve(int n, bool inputs) {
  const auto size = static_cast<std::size_t>(n);
  grow(this->product, "angle_list: product", size);
  grow(this->weight, "angle_list: weight", size);
  grow(this->point, "angle_list: point", size);
  grow(this->slot, "angle_list: slot", size);
  if (inputs) grow(input, "angle_list: input", size);
}

template <class T>
std::size_t AngleList<T>::bytes() const {
  return (this->first.size() + this->slot.size()) * sizeof(int) +
         (this->product.size() + this->weight.size() + this->point.size() + input.size()) * sizeof(T);
}

template <class T>
void AngleList<T>::build(const PairList<T>& pairs, const View<double*>& inverse_sel, const TableSet<T>* tables) {
  grow(this->first, "angle_list: first", static_cast<std::size_t>(pairs.atoms) + 1);
  angles = scan_angles(pairs, this->first);
  reserve(std::max(angles, 1), tables == nullptr);
  const int ntypes = static_cast<int>(inverse_sel.extent(0));
  AnglePlacement<T> where;
  if (tables) {
    where.tables = true;
    where.table = *tables;
  } else {
    const std::vector<int> counts = inputs_by_network(pairs);
    net_first.assign(1, 0);
    for (int n : counts) net_first.push_back(net_first.back() + n);
    where.next = View<int*>("angle_list: next", counts.size());
    where.block = View<int*>("angle_list: block", 2 * counts.size());
    auto next = Kokkos::create_mirror_view(where.next);
    auto block = Kokkos::create_mirror_view(where.block);
    for (std::size_t net = 0; net < counts.size(); ++net) {
      next(net) = block(2 * net) = net_first[net];
      block(2 * net + 1) = counts[net];
    }
    Kokkos::deep_copy(where.next, next);
    Kokkos::deep_copy(where.block, block);
    where.input = input;
  }
  const FillAngles<T> fill{pairs, *this, inverse_sel, ntypes, where};
  Kokkos::parallel_for("angle_list: fill", Range(0, pairs.pairs), fill);
}

template <class T, class Rows>
void contract_angles(int atoms, const Angles<T>& angles, const Rows& rows, int channels, const Matrix<T>& d) {
  const int n = packs<T>(channels);
  Kokkos::parallel_for(
      "deep_potential: contract angles", Range(0, atoms * n), KOKKOS_LAMBDA(const int item) {
        const int atom = item / n, pack = item % n;
        Lane<T> total(T(0));
        for (int k = angles.first(atom); k < angles.first(atom + 1); ++k)
          total +=
              rows.value(&angles.slot(k, 0), angles.point(k, 0), pack) * Lane<T>(angles.weight(k) * angles.product(k));
        store_some<T>(total, &d(atom, pack * lanes<T>), channels - pack * lanes<T>);
      });
}

template <class T, class Rows>
void angle_gradients(const PairList<T>& list, const Angles<T>& angles, const Rows& rows, int channels,
                     const NeighborKinds& kinds, const Matrix<T>& dd, const View<double*>& along,
                     const View<double* [3]>& force) {
  along_angles(list.atoms, angles, rows, channels, dd, along);
  const Pairs<T> pairs = list;
  const CutOff cutoff = kinds.cutoff;
  const View<double**> inverse = kinds.inverse_deviation;
  const int ntypes = kinds.ntypes;
  Kokkos::parallel_for(
      "deep_potential: angle gradients", Range(0, list.pairs), KOKKOS_LAMBDA(const int p) {
        for (int k = 0; k < 3; ++k) force(p, k) = 0.0;
        if (pairs.index(p) < 0) return;
        using P = Pack<double, 1>;
        const int atom = pairs.owner(p, 0), from = pairs.first(atom), n = neighbours_of(pairs, atom, ntypes);
        const int first = angles.first(atom), own = p - from, type = pairs.owner(p, 1);
        double row[3] = {0.0, 0.0, 0.0};
        for (int q = 0; q < n; ++q) {
          const int k = first + (q < own ? Angles<T>::place(q, own, n) : Angles<T>::place(own, q, n));
          const double factor = q == own ? 2.0 * along(k) : along(k);
          for (int c = 0; c < 3; ++c) row[c] += factor * static_cast<double>(pairs.row(from + q, c + 1));
        }
        P d[3], g[3], c[4] = {P(0.0), P(0.0), P(0.0), P(0.0)};
        for (int k = 0; k < 3; ++k) {
          d[k] = P(pairs.geometry(p, k));
          c[k + 1] = P(row[k] * inverse(type, k + 1));
        }
        cutoff.gradient(d, P(pairs.geometry(p, 3)), c, g);
        for (int k = 0; k < 3; ++k) force(p, k) = g[k][0];
      });
}

#define CAMBIUM_ANGLES(T, Rows)                                                                               \
  template void contract_angles(int, const Angles<T>&, const Rows&, int, const Matrix<T>&);                   \
  template void angle_gradients(const PairList<T>&, const Angles<T>&, const Rows&, int, const NeighborKinds&, \
                                const Matrix<T>&, const View<double*>&, const View<double* [3]>&);
CAMBIUM_ANGLES(double, NetworkRows<double>)
CAMBIUM_ANGLES(double, TableRows<double>)
CAMBIUM_ANGLES(float, NetworkRows<float>)
CAMBIUM_ANGLES(float, TableRows<float>)
template struct AngleList<double>;
template struct AngleList<float>;

}  // namespace cambium::deepmd
