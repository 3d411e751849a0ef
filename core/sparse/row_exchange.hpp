#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/lowp/message.hpp"
#include "core/parallel/comm.hpp"
#include "core/sparse/csr.hpp"
#include "core/sparse/products.hpp"
#include "core/sparse/share.hpp"

namespace cambium::sparse {

/// The own rows of a sparse matrix with columns in the order in which a rank holds rows of dense matrices: first its
/// own, then those of other ranks that it needs, ascending.
template <class T>
struct LocalRows {
  Csr<T> matrix;                     ///< columns: own rows + wanted.size()
  std::vector<std::int32_t> wanted;  ///< ascending rows of other ranks
};
/// `own`: rows [first[rank], first[rank + 1]), with global column indices. The entries of a row keep their global
/// column order only within own and within other columns.
template <class T>
LocalRows<T> local_rows(const Csr<T>& own, std::span<const std::int64_t> first, int rank);

/// Fetches rows of dense matrices from the ranks that own them, repeatedly the same ones, and returns sums for them.
/// Networks whose messages are not a product A H (attention, edges with features) use only this. T: double or float.
template <class T>
class RowExchange {
 public:
  /// Collective. `wanted`: ascending rows of other ranks; rank r owns rows [first[r], first[r + 1]).
  RowExchange(std::span<const std::int64_t> first, std::span<const std::int32_t> wanted, lowp::WireCodec codec,
              const Comm& comm);
  ~RowExchange();
  RowExchange(const RowExchange&) = delete;
  RowExchange& operator=(const RowExchange&) = delete;

  std::int64_t own_rows() const;
  std::int64_t wanted_rows() const;

  /// Starts sending the rows of `own` that others require; `own` and `wanted` must not be touched until finish(). Both
  /// have the same width on every rank.
  void begin(Rows<const T> own, Rows<T> wanted);
  /// Waits until `wanted` (wanted_rows() rows, as ordered as the constructor's) is filled.
  void finish();
  /// The adjoint: starts sending the wanted rows to their owners, who add them to their rows of `own` in rank order.
  /// Not encoded.
  void begin_back(Rows<const T> wanted, Rows<T> own);
  void finish_back();

  /// Inputs of rounding at random.
  void begin_step(std::uint64_t seed, std::int64_t step);
  const Words& words() const;
  /// Memory of its lists and messages.
  std::int64_t bytes() const;

 private:
  struct Work;
  std::unique_ptr<Work> work_;
};

}  // namespace cambium::sparse
