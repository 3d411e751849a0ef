#include "plugins/deepmd/model/pair_list.hpp"

#include <algorithm>

#include "plugins/deepmd/model/grow.hpp"

namespace cambium::deepmd {

namespace {

template <class M>
CAMBIUM_FN int number_of(M truths) {
  return count(truths);
}

/// Prefetch distance in entries of the Verlet list: in large systems the positions reside in the last-level cache, and
/// hardware cannot predict the order of neighbours.
constexpr int pairs_ahead = 4 * lanes<double>;

CAMBIUM_FN void prefetch_rows(const double* x, const int* j, const int* end) {
#if defined(__GNUC__) && !defined(CAMBIUM_SCALAR_PACKS_ONLY) && !defined(CAMBIUM_DEVICE_COMPILER)
  for (int k = 0; k < lanes<double> && j + k < end; ++k) __builtin_prefetch(x + 4 * static_cast<std::int64_t>(j[k]));
#endif
}

/// Finds the neighbours of each atom of a chunk: hits(a, :) are their particle rows, count(a, t) their number by type.
struct Search {
  const double* x;  ///< rows (x, y, z, type)
  View<std::int64_t*> offset;
  View<int*> length;
  const int* entries;
  View<int*> rows, model_type;
  View<char*> hidden;
  double limit, close;  ///< squared distances
  int first_row, ntypes;
  View<int**> count, hits;

  using P = Lane<double>;

  KOKKOS_INLINE_FUNCTION void operator()(const int atom, int& too_close, double& closest) const {
    const int i = rows(first_row + atom);
    const double* xi = x + 4 * static_cast<std::int64_t>(i);
    const P px(xi[0]), py(xi[1]), pz(xi[2]), cut(limit), near_cut(close);
    const int* j = entries + offset(i);
    const int* const end = j + length(i);
    int* out = &hits(atom, 0);
    P nearest(limit);
    for (; j < end; j += P::width) {  // rows are padded with a distant particle
      if (device_is_host) prefetch_rows(x, j + pairs_ahead, end);
      const auto other = gather_rows<P>(x, j);
      const P dx = other.x - px, dy = other.y - py, dz = other.z - pz;
      const P rr = fma(dx, dx, fma(dy, dy, dz * dz));
      nearest = min(nearest, rr);
      out += compress_store(out, j, rr < cut);
      too_close += number_of(rr < near_cut);
    }
    for (int k = 0; k < P::width; ++k) closest = nearest[k] < closest ? nearest[k] : closest;
    sort_out(atom, static_cast<int>(out - &hits(atom, 0)));
  }

  /// Counts the hits by type and drops those of types hidden from this centre.
  KOKKOS_INLINE_FUNCTION void sort_out(int atom, int n) const {
    for (int t = 0; t < ntypes; ++t) count(atom, t) = 0;
    int kept = 0;
    for (int k = 0; k < n; ++k) {
      const int j = hits(atom, k), type = model_type(static_cast<int>(x[4 * static_cast<std::int64_t>(j) + 3]));
      if (hidden(type)) continue;
      ++count(atom, type);
      hits(atom, kept++) = j;
    }
  }
};

/// first(a): pairs of the atoms before a, each atom's rounded up to full blocks. Returns the total.
int scan_atoms(int atoms, const View<int**>& count, const View<int*>& first) {
  const int ntypes = static_cast<int>(count.extent(1));
  int total = 0;
  Kokkos::parallel_scan(
      "pair_list: scan atoms", Range(0, atoms + 1),
      KOKKOS_LAMBDA(const int atom, int& sum, const bool final) {
        if (final) first(atom) = sum;
        if (atom == atoms) return;
        int n = 0;
        for (int t = 0; t < ntypes; ++t) n += count(atom, t);
        sum += (n + pair_block - 1) / pair_block * pair_block;
      },
      total);
  return total;
}

/// start(a, t): neighbours of type t of the atoms before a, plus all neighbours of lower types.
std::vector<int> scan_types(int atoms, const View<int**>& count, const View<int**>& start) {
  const int ntypes = static_cast<int>(count.extent(1));
  std::vector<int> first(static_cast<std::size_t>(ntypes) + 1, 0);
  for (int t = 0; t < ntypes; ++t) {
    const int base = first[t];
    int total = 0;
    Kokkos::parallel_scan(
        "pair_list: scan types", Range(0, atoms),
        KOKKOS_LAMBDA(const int atom, int& sum, const bool final) {
          if (final) start(atom, t) = base + sum;
          sum += count(atom, t);
        },
        total);
    first[static_cast<std::size_t>(t) + 1] = base + total;
  }
  return first;
}

/// Position of an input in its network's table, or its rows in the networks' output.
template <class T>
struct Placement {
  bool tables = false;
  TableSet<T> table;
  int centre_type = 0;
  View<int**> start;  ///< network: next input of (atom, type); counted up while filling
  View<int*> block;   ///< network: by type, first input and number of inputs
  View<T*> input;
};

template <class T>
KOKKOS_INLINE_FUNCTION void place(const Placement<T>& where, int atom, int type, double x, T* point, int* slot) {
  if (where.tables) {
    double t, inverse;
    where.table.grid(where.centre_type, type).locate(x, slot[0], t, inverse);
    slot[1] = 0;
    point[0] = static_cast<T>(t);
    point[1] = static_cast<T>(inverse);
    return;
  }
  // On a device the order of an atom's pairs is arbitrary; each has its own storage, so results do not depend on it.
  const int k = device_is_host ? where.start(atom, type)++ : Kokkos::atomic_fetch_add(&where.start(atom, type), 1);
  const int base = where.block(2 * type), n = where.block(2 * type + 1);
  where.input(k) = static_cast<T>(x);
  slot[0] = base + k;  // the networks write 2 n rows per type: values from 2 * base, then derivatives
  slot[1] = base + k + n;
  point[0] = static_cast<T>(x);
  point[1] = T(1);
}

/// Writes the data of the pairs of an atom: sequentially on the host, by the lanes of a warp on a device.
template <class T>
struct Fill {
  using Policy = Kokkos::TeamPolicy<ExecSpace>;

  Search search;
  Pairs<T> list;
  CutOff cutoff;
  View<double**> mean, inverse;
  int components;
  Placement<T> where;

  KOKKOS_INLINE_FUNCTION void write(int atom, int h, int p) const {
    const int j = search.hits(atom, h);
    const double* xi = search.x + 4 * static_cast<std::int64_t>(search.rows(search.first_row + atom));
    const double* xj = search.x + 4 * static_cast<std::int64_t>(j);
    const int type = search.model_type(static_cast<int>(xj[3]));
    const double d[3] = {xj[0] - xi[0], xj[1] - xi[1], xj[2] - xi[2]};
    const double r = std::sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]);
    double row[4];
    cutoff.row(d, r, row);
    for (int k = 0; k < 4; ++k) row[k] = k < components ? (row[k] - mean(type, k)) * inverse(type, k) : 0.0;
    list.index(p) = j;
    list.owner(p, 0) = atom;
    list.owner(p, 1) = type;
    for (int k = 0; k < 3; ++k) list.geometry(p, k) = d[k];
    list.geometry(p, 3) = r;
    for (int k = 0; k < 4; ++k) list.row(p, k) = static_cast<T>(row[k]);
    place(where, atom, type, row[0], &list.point(p, 0), &list.slot(p, 0));
  }

  KOKKOS_INLINE_FUNCTION void write_empty(int atom, int p) const {
    list.index(p) = -1;
    list.owner(p, 0) = atom;
    list.owner(p, 1) = 0;
    for (int k = 0; k < 4; ++k) {
      list.geometry(p, k) = 1.0;
      list.row(p, k) = T(0);
    }
    for (int k = 0; k < 2; ++k) {
      list.point(p, k) = T(0);
      list.slot(p, k) = 0;
    }
  }

  KOKKOS_INLINE_FUNCTION int neighbours(int atom) const {
    int n = 0;
    for (int t = 0; t < search.ntypes; ++t) n += list.count(atom, t);
    return n;
  }

  KOKKOS_INLINE_FUNCTION void operator()(const int atom) const {
    int p = list.first(atom);
    const int n = neighbours(atom);
    for (int h = 0; h < n; ++h, ++p) write(atom, h, p);
    for (; p < list.first(atom + 1); ++p) write_empty(atom, p);
  }

  KOKKOS_INLINE_FUNCTION void operator()(const typename Policy::member_type& team) const {
    const int atom = team.league_rank(), first = list.first(atom), n = neighbours(atom);
    Kokkos::parallel_for(Kokkos::TeamVectorRange(team, list.first(atom + 1) - first), [&](const int h) {
      if (h < n)
        write(atom, h, first + h);
      else
        write_empty(atom, first + h);
    });
  }
};

template <class T>
void fill_pairs(const Search& search, int atoms, const Pairs<T>& list, const NeighborKinds& kinds,
                const Placement<T>& where) {
  const Fill<T> fill{search, list, kinds.cutoff, kinds.mean, kinds.inverse_deviation, kinds.components, where};
  if constexpr (device_is_host)
    Kokkos::parallel_for("pair_list: fill", Range(0, atoms), fill);
  else
    Kokkos::parallel_for("pair_list: fill", typename Fill<T>::Policy(atoms, 2, 32), fill);
}

int longest_row(const NeighborList& list, const View<int*>& rows, int first_row, int atoms) {
  const View<int*> length = list.count;
  int longest = 0;
  Kokkos::parallel_reduce(
      "pair_list: longest", Range(0, atoms),
      KOKKOS_LAMBDA(const int atom, int& most) {
        const int n = length(rows(first_row + atom));
        most = n > most ? n : most;
      },
      Kokkos::Max<int>(longest));
  return longest;
}

}  // namespace

template <class T>
void PairList<T>::reserve(int n, bool inputs) {
  const auto size = static_cast<std::size_t>(n);
  grow(this->index, "pair_list: index", size);
  grow(this->owner, "pair_list: owner", size);
  grow(this->geometry, "pair_list: geometry", size);
  grow(this->row, "pair_list: row", size);
  grow(this->point, "pair_list: point", size);
  grow(this->slot, "pair_list: slot", size);
  if (inputs) grow(input, "pair_list: input", size);
}

template <class T>
std::size_t PairList<T>::bytes() const {
  return this->first.size() * 4 + this->count.size() * 4 + this->index.extent(0) * 12 + hits_.size() * 4 +
         this->geometry.extent(0) * 32 + this->slot.extent(0) * 8 +
         (this->row.size() + this->point.size() + input.size()) * sizeof(T);
}

template <class T>
void PairList<T>::build(const Particles& particles, const NeighborList& list, const View<int*>& rows, int first_row,
                        int natoms, const View<int*>& model_type, const NeighborKinds& kinds, const TableSet<T>* tables,
                        int centre_type, double close_limit) {
  atoms = natoms;
  grow(this->first, "pair_list: first", static_cast<std::size_t>(atoms) + 1);
  if (this->count.extent(0) < static_cast<std::size_t>(atoms) ||
      this->count.extent(1) != static_cast<std::size_t>(kinds.ntypes))
    this->count =
        View<int**>("pair_list: count", static_cast<std::size_t>(atoms), static_cast<std::size_t>(kinds.ntypes));
  const int longest = longest_row(list, rows, first_row, atoms) + NeighborList::row_padding;
  if (hits_.extent(0) < static_cast<std::size_t>(atoms) || hits_.extent(1) < static_cast<std::size_t>(longest))
    hits_ = View<int**>("pair_list: hits", std::max(hits_.extent(0), static_cast<std::size_t>(atoms)),
                        static_cast<std::size_t>(longest) * 9 / 8);
  const double cut = kinds.cutoff.rc;
  const Search search{particles.x.data(), list.offset,  list.count, list.index.data(),         rows,
                      model_type,         kinds.hidden, cut * cut,  close_limit * close_limit, first_row,
                      kinds.ntypes,       this->count,  hits_};
  double closest_squared = 0.0;
  Kokkos::parallel_reduce("pair_list: find", Range(0, atoms), search, Kokkos::Sum<int>(too_close),
                          Kokkos::Min<double>(closest_squared));
  closest = std::sqrt(closest_squared);
  pairs = scan_atoms(atoms, this->count, this->first);
  reserve(std::max(pairs, 1), tables == nullptr);
  Placement<T> where;
  where.centre_type = centre_type;
  if (tables) {
    where.tables = true;
    where.table = *tables;
  } else {
    where.start =
        View<int**>("pair_list: start", static_cast<std::size_t>(atoms), static_cast<std::size_t>(kinds.ntypes));
    type_first = scan_types(atoms, this->count, where.start);
    where.block = View<int*>("pair_list: block", 2 * static_cast<std::size_t>(kinds.ntypes));
    auto block = Kokkos::create_mirror_view(where.block);
    for (int t = 0; t < kinds.ntypes; ++t) {
      block(2 * t) = type_first[t];
      block(2 * t + 1) = type_first[static_cast<std::size_t>(t) + 1] - type_first[t];
    }
    Kokkos::deep_copy(where.block, block);
    where.input = input;
  }
  fill_pairs<T>(search, atoms, *this, kinds, where);
}

template struct PairList<double>;
template struct PairList<float>;

}  // namespace cambium::deepmd
