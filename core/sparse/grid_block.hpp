#pragma once
#include <cstddef>
#include <vector>

#include "core/sparse/csr.hpp"
#include "core/sparse/messages.hpp"

namespace cambium::sparse {

/// The blocks of a sparse matrix that the ranks of one row of a grid have, all with the same rows: each sends its own
/// to the others. A message is the lengths of the rows, the columns (4 bytes each) and the values.
template <class T>
class GridBlocks {
 public:
  /// Collective over `row`, which must outlive this.
  GridBlocks(Csr<T> own, const Comm& row);

  /// Starts sending block m, that of rank m of the row; `bytes` must stay until messages.wait().
  void broadcast(int m, std::vector<std::byte>& bytes, Messages& messages) const;
  /// Block m; if it is another rank's, decoded from the bytes of broadcast() into `into`.
  const Csr<T>& received(int m, std::int64_t columns, const std::vector<std::byte>& bytes, Csr<T>& into) const;

 private:
  std::int64_t bytes_of(std::int64_t entries) const {
    return 4 * own_.rows + entries * (4 + static_cast<std::int64_t>(sizeof(T)));
  }

  Csr<T> own_;
  const Comm& row_;
  std::vector<std::int64_t> entries_;  ///< of every block
};

}  // namespace cambium::sparse
