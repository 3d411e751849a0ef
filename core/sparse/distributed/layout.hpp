#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "core/base/citation.hpp"
#include "core/deck/describe.hpp"
#include "core/lowp/wire/message.hpp"
#include "core/parallel/context.hpp"

namespace cambium::sparse {

/// How a sparse matrix and the dense ones that it meets are divided among ranks.
enum class Scheme {
  rows,         ///< rows of both; every rank receives all rows of the dense matrix, range by range
  needed_rows,  ///< the same, but only rows come that the own rows of the sparse matrix have entries for
  rows_1_5d,    ///< P / c ranges of rows, each on c ranks, which share the work of a product (1.5D)
  grid_2d,      ///< blocks of rows and columns on q x q ranks (SUMMA)
  grid_3d,      ///< q layers of q x q ranks, each with its own rows of the dense matrix (Split-3D)
};

/// A layout as make_product() takes it.
struct LayoutKeys {
  Scheme scheme = Scheme::needed_rows;
  int copies = 1;                                 ///< of rows_1_5d
  lowp::WireCodec codec = lowp::WireCodec::none;  ///< of rows of dense matrices on their way
  bool ordered = false;                           ///< of rows and needed_rows: the bits of one rank
};

/// As decks write it: needed_rows, rows_1_5d, ...
std::string name_of(Scheme scheme);

/// InputError naming the nearest numbers of ranks that this layout can use, and the layouts that can use this number.
void require_ranks(const LayoutKeys& keys, int ranks);

/// Kind of the types that a deck names as `layout`:
/// layout: rows | needed_rows | {type: rows_1_5d, copies: 2} | grid_2d | grid_3d
class Layout {
 public:
  using Kind = Layout;
  static constexpr std::string_view kind = "layout";
  virtual ~Layout() = default;
  virtual LayoutKeys keys() const = 0;
  virtual std::vector<Citation> citations() const { return {}; }
};

}  // namespace cambium::sparse
