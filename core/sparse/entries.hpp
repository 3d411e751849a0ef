#pragma once
#include <functional>
#include <span>
#include <vector>

#include "core/parallel/comm.hpp"
#include "core/sparse/csr.hpp"
#include "core/sparse/share.hpp"

namespace cambium::sparse {

/// Rank that is to hold an entry.
using OwnerOf = std::function<int(std::int64_t row, std::int64_t column)>;

/// Collective. The entries of all ranks' rows that `owner_of` gives to this one, in the order of ranks. `first_row`:
/// the number of the first of `own`.
std::vector<Entry> sent_to_owners(const Csr<double>& own, std::int64_t first_row, const OwnerOf& owner_of,
                                  const Comm& comm);

/// Collective. The same for entries not yet sorted into rows; those of one rank keep their order.
std::vector<Entry> sent_to_owners(std::span<const Entry> own, const OwnerOf& owner_of, const Comm& comm);

/// Collective. This rank's rows of the transpose.
Csr<double> transposed_rows(const Csr<double>& own, std::span<const std::int64_t> first, const Comm& comm);

/// Range k of a division of rows that holds this row.
int range_of(std::span<const std::int64_t> first, std::int64_t row);

/// Extracts the entries within a block, as a matrix of that block.
Csr<double> block_of(std::span<const Entry> entries, Range rows, Range columns);

}  // namespace cambium::sparse
