#pragma once
#include <memory>
#include <span>
#include <string>

#include "core/parallel/comm.hpp"
#include "core/sparse/csr.hpp"
#include "core/sparse/layout.hpp"
#include "core/sparse/products.hpp"
#include "core/sparse/share.hpp"

namespace cambium::sparse {

/// A square sparse matrix distributed over the ranks of a communicator, times dense matrices distributed alike: every
/// rank holds share() of them, in memory of its own, row k of its part being row share().rows.begin + k. All functions
/// but the constant ones are collective: every rank calls them in the same order, with the same global width. T: double
/// or float.
template <class T>
class DividedProduct {
 public:
  virtual ~DividedProduct() = default;
  virtual Share share() const = 0;
  /// Rows of the global matrix.
  virtual std::int64_t nodes() const = 0;
  virtual const LayoutKeys& keys() const = 0;

  /// out = A h. `h` and `out` are this rank's parts of matrices of `width` columns: share().rows.size() rows of
  /// share().columns(width).size() values. They may not overlap.
  virtual void apply(std::int64_t width, Rows<const T> h, Rows<T> out) = 0;
  /// out = A^T h.
  virtual void apply_transposed(std::int64_t width, Rows<const T> h, Rows<T> out) = 0;

  /// All columns of this rank's rows: `h` itself if columns are not distributed, else a matrix inside this object that
  /// stays valid until the next call. Small dense products H W need it (dense.hpp).
  virtual Rows<const T> whole_rows(std::int64_t width, Rows<const T> h) = 0;
  /// In place: one value per own row becomes the sum (the maximum) over the parts of that row.
  virtual void sum_parts(std::span<T> of_rows) = 0;
  virtual void max_parts(std::span<T> of_rows) = 0;

  /// Called before each training step, on every rank: state of the stochastic rounding of messages (codec int8).
  virtual void begin_step(std::uint64_t seed, std::int64_t step) = 0;
  virtual const Comm& comm() const = 0;
  virtual const Words& words() const = 0;
};

/// Collective. `own`: rows [first[rank], first[rank + 1]) of the matrix, with global column indices; `first`: ranks + 1
/// ascending row offsets from 0 to the number of rows, the same on every rank. Ranges may be empty. Layouts with fewer
/// ranges of rows unite neighbouring ones. InputError of require_ranks(); InternalError for ranges or columns that do
/// not fit.
template <class T>
std::unique_ptr<DividedProduct<T>> make_product(const Csr<double>& own, std::span<const std::int64_t> first,
                                                const LayoutKeys& keys, const Comm& comm);

/// The rows of one rank of a replicated matrix.
Csr<double> own_rows(const Csr<double>& whole, std::span<const std::int64_t> first, int rank);

/// Ranges of n rows for `ranks` ranks, as equal as can be.
std::vector<std::int64_t> equal_ranges(std::int64_t n, int ranks);

}  // namespace cambium::sparse
