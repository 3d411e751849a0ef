#include "plugins/submatrix/c/csr.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "core/base/error.hpp"
#include "core/parallel/agree.hpp"
#include "plugins/submatrix/columns/block_exchange.hpp"
#include "plugins/submatrix/columns/principal.hpp"

namespace cambium::submatrix {

namespace {

std::vector<int> checked_sizes(const cambium_blocks& blocks) {
  if (blocks.blocks < 1 || !blocks.functions)
    throw InputError("the matrix has no blocks; give the number of functions of every atom or molecule");
  for (int b = 0; b < blocks.blocks; ++b)
    if (blocks.functions[b] < 1)
      throw InputError(
          fmt::format("block {} (counted from 0) has {} functions; give 1 or more", b, blocks.functions[b]));
  return {blocks.functions, blocks.functions + blocks.blocks};
}

/// Calls visit(row, column, entry) for every element of this rank, counted from 0.
template <class Visit>
void each_element(const cambium_csr& csr, const CallerBlocks& blocks, int rank, Visit visit) {
  const auto first = blocks.layout->offset(blocks.ranges.begin(rank)),
             last = blocks.layout->offset(blocks.ranges.end(rank));
  for (auto row = first; row < last; ++row)
    for (auto e = csr.row_start[row - first]; e < csr.row_start[row - first + 1]; ++e)
      visit(static_cast<int>(row), csr.column[e - csr.base] - csr.base, e - csr.base);
}

void check_elements(const std::string& what, const cambium_csr& csr, const CallerBlocks& blocks, int rank) {
  if (csr.base != 0 && csr.base != 1)
    throw InputError(fmt::format("{}: base is {}; indices are counted from 0 or 1", what, csr.base));
  const auto n = blocks.layout->dimension();
  each_element(csr, blocks, rank, [&](int row, int column, std::int64_t e) {
    if (column < 0 || column >= n)
      throw InputError(fmt::format("{}: row {} has an element in column {} (counted from 0), but there are {} columns",
                                   what, row, column, n));
    if (!std::isfinite(csr.value[e]))
      throw InputError(fmt::format("{}: the element at row {}, column {} is {}; every element must be finite", what,
                                   row, column, csr.value[e]));
  });
}

/// Symmetric matrices are their own mirror images: block column c is the transpose of the caller's block row c.
BlockColumns columns_of(const cambium_csr& csr, const CallerBlocks& blocks, int rank) {
  const BlockLayout& layout = *blocks.layout;
  BlockColumns out(blocks.layout);
  const auto first = layout.offset(blocks.ranges.begin(rank));
  for (int c = blocks.ranges.begin(rank); c < blocks.ranges.end(rank); ++c) {
    std::set<int> rows = {c};
    const auto begin = csr.row_start[layout.offset(c) - first] - csr.base,
               end = csr.row_start[layout.offset(c) + layout.size(c) - first] - csr.base;
    for (auto e = begin; e < end; ++e) rows.insert(blocks.block_of[csr.column[e] - csr.base]);
    out.start_column(c);
    for (int r : rows) {
      double* block = out.add_block(r);
      for (int j = 0; j < layout.size(c); ++j)
        for (auto e = csr.row_start[layout.offset(c) + j - first] - csr.base;
             e < csr.row_start[layout.offset(c) + j + 1 - first] - csr.base; ++e) {
          const auto i = csr.column[e] - csr.base - layout.offset(r);
          if (i >= 0 && i < layout.size(r)) block[i * layout.size(c) + j] += csr.value[e];
        }
    }
  }
  out.finish();
  return out;
}

void check_symmetry(const std::string& what, const BlockColumns& matrix, const ColumnSet& all) {
  const BlockLayout& layout = matrix.layout();
  for (int c : matrix.columns()) {
    const BlockColumn a = matrix.column(c);
    for (std::size_t e = 0; e < a.rows.size(); ++e) {
      const int r = a.rows[e], width = layout.size(c), height = layout.size(r);
      const BlockColumn other = all(r);
      const auto found = std::lower_bound(other.rows.begin(), other.rows.end(), c);
      const bool there = found != other.rows.end() && *found == c;
      const double* image = there ? other.block(static_cast<std::size_t>(found - other.rows.begin())) : nullptr;
      for (int i = 0; i < height; ++i)
        for (int j = 0; j < width; ++j) {
          const double value = a.block(e)[i * width + j], mirror = image ? image[j * height + i] : 0.0;
          if (std::abs(value - mirror) <= 1e-8) continue;
          // Block columns hold the caller's rows.
          throw InputError(
              fmt::format("{}: not symmetric: {:.6g} at row {}, column {} (counted from 0), but {:.6g} at the mirrored "
                          "position; both triangles are needed",
                          what, value, layout.offset(c) + j, layout.offset(r) + i, mirror));
        }
    }
  }
}

}  // namespace

CallerBlocks::CallerBlocks(const cambium_blocks& blocks, const Comm& comm) {
  io::on_every_rank(comm, [&] { layout = std::make_shared<const BlockLayout>(checked_sizes(blocks)); });
  const auto first = comm.all_gather(blocks.first_block), own = comm.all_gather(blocks.own_blocks);
  std::int64_t next = 0;
  ranges.first.clear();
  for (std::size_t r = 0; r < first.size(); ++r) {
    if (own[r] < 0 || (own[r] > 0 && first[r] != next))
      throw InputError(
          fmt::format("rank {} has {} blocks from {} on (counted from 0), but block {} is next; ranks hold complete "
                      "blocks in ascending order",
                      r, own[r], first[r], next));
    ranges.first.push_back(static_cast<int>(next));
    next += own[r];
  }
  ranges.first.push_back(static_cast<int>(next));
  if (next != layout->blocks())
    throw InputError(
        fmt::format("the ranks bring {} of {} blocks; every row must be on one rank", next, layout->blocks()));
  for (int b = 0; b < layout->blocks(); ++b)
    block_of.insert(block_of.end(), static_cast<std::size_t>(layout->size(b)), b);
}

BlockColumns from_csr(const std::string& what, const cambium_csr& csr, const CallerBlocks& blocks, const Comm& comm) {
  io::on_every_rank(comm, [&] { check_elements(what, csr, blocks, comm.rank()); });
  BlockColumns out = columns_of(csr, blocks, comm.rank());
  std::int64_t bytes = 0;
  const ColumnSet all =
      fetch_columns(out, blocks.ranges, columns_needed(out, 0.0), WantedRows::among_wanted, comm, bytes);
  io::on_every_rank(comm, [&] { check_symmetry(what, out, all); });
  return out;
}

void to_csr(const BlockColumns& matrix, const cambium_csr& places, const CallerBlocks& blocks, const Comm& comm,
            double* out) {
  const BlockLayout& layout = *blocks.layout;
  each_element(places, blocks, comm.rank(), [&](int row, int column, std::int64_t e) {
    const int c = blocks.block_of[row], r = blocks.block_of[column];
    const double* block = matrix.block(r, c);
    out[e] = block ? block[(column - layout.offset(r)) * layout.size(c) + (row - layout.offset(c))] : 0.0;
  });
}

}  // namespace cambium::submatrix
