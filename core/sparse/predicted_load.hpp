#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "core/sparse/csr.hpp"
#include "core/sparse/layout.hpp"
#include "core/sparse/share.hpp"

namespace cambium::sparse {

/// Work of one rank in one product of `width` columns.
struct Load {
  Words received;               ///< as counted by DividedProduct::words(), without a codec; bytes of 8-byte values
  std::int64_t multiplied = 0;  ///< entries times columns: half the operations
  std::int64_t rows = 0;        ///< of dense matrices that it holds
};

/// Loads of all ranks for a global square matrix whose rows are divided by `first` (ranks + 1 ascending offsets), in a
/// product A h with `width` columns. Involves no messages, so it works for any number of ranks. InputError of
/// require_ranks().
std::vector<Load> predicted_loads(const Csr<double>& whole, std::span<const std::int64_t> first, const LayoutKeys& keys,
                                  std::int64_t width);

}  // namespace cambium::sparse
