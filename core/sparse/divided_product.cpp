#include "core/sparse/divided_product.hpp"

#include <algorithm>

#include "core/base/counts.hpp"
#include "core/base/error.hpp"
#include "core/sparse/entries.hpp"
#include "core/sparse/schemes.hpp"

namespace cambium::sparse {

static void require_shapes(const Csr<double>& own, std::span<const std::int64_t> first, const Comm& comm) {
  if (std::ssize(first) != comm.size() + 1 || first.front() != 0 || !std::is_sorted(first.begin(), first.end()))
    throw InternalError("make_product: ranges of rows that are not those of all ranks");
  if (own.columns != first.back() || own.rows != first[at(comm.rank()) + 1] - first[at(comm.rank())])
    throw InternalError("make_product: the own rows are not those of this rank's range");
}

static bool equal(const Csr<double>& a, const Csr<double>& b) {
  return a.start == b.start && a.column == b.column && a.value == b.value;
}

template <class T>
std::unique_ptr<DividedProduct<T>> make_product(const Csr<double>& own, std::span<const std::int64_t> first,
                                                const LayoutKeys& keys, const Comm& comm) {
  require_ranks(keys, comm.size());
  require_shapes(own, first, comm);
  const Csr<double> turned = transposed_rows(own, first, comm);
  const bool symmetric = comm.min(equal(own, turned) ? 1.0 : 0.0) > 0.0;
  const DividedMatrix matrix{own, symmetric ? nullptr : &turned, first};
  switch (keys.scheme) {
    case Scheme::needed_rows:
      return make_needed_rows<T>(matrix, keys, comm);
    case Scheme::rows:
    case Scheme::rows_1_5d:
      return make_staged_rows<T>(matrix, keys, comm);
    default:
      return make_grid<T>(matrix, keys, comm);
  }
}

template std::unique_ptr<DividedProduct<double>> make_product(const Csr<double>&, std::span<const std::int64_t>,
                                                              const LayoutKeys&, const Comm&);
template std::unique_ptr<DividedProduct<float>> make_product(const Csr<double>&, std::span<const std::int64_t>,
                                                             const LayoutKeys&, const Comm&);

Csr<double> own_rows(const Csr<double>& whole, std::span<const std::int64_t> first, int rank) {
  const std::int64_t begin = first[at(rank)], end = first[at(rank) + 1];
  Csr<double> out;
  out.rows = end - begin;
  out.columns = whole.columns;
  for (std::int64_t i = begin; i < end; ++i) out.start.push_back(whole.start[at(i) + 1] - whole.start[at(begin)]);
  out.column.assign(whole.column.begin() + whole.start[at(begin)], whole.column.begin() + whole.start[at(end)]);
  out.value.assign(whole.value.begin() + whole.start[at(begin)], whole.value.begin() + whole.start[at(end)]);
  return out;
}

std::vector<std::int64_t> equal_ranges(std::int64_t n, int ranks) {
  std::vector<std::int64_t> out;
  for (int r = 0; r <= ranks; ++r) out.push_back(n * r / ranks);
  return out;
}

}  // namespace cambium::sparse
