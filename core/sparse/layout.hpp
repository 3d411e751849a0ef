#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "core/base/citation.hpp"
#include "core/deck/describe.hpp"
#include "core/lowp/message.hpp"
#include "core/parallel/context.hpp"

namespace cambium::sparse {

/// Distribution of a sparse matrix and its dense operands over ranks.
enum class Scheme {
  rows,         ///< rows of both; every rank receives all rows of the dense matrix, range by range
  needed_rows,  ///< the same, but only those dense rows are received for which the own sparse rows have entries
  rows_1_5d,    ///< P / c ranges of rows, each on c ranks, which split the work of a product (1.5D)
  grid_2d,      ///< blocks of rows and columns on q x q ranks (SUMMA)
  grid_3d,      ///< q layers of q x q ranks, each with its own rows of the dense matrix (Split-3D)
};

/// Layout parameters of make_product().
struct LayoutKeys {
  Scheme scheme = Scheme::needed_rows;
  int copies = 1;                                 ///< of rows_1_5d
  lowp::WireCodec codec = lowp::WireCodec::none;  ///< of rows of dense matrices on their way
  bool ordered = false;                           ///< of rows and needed_rows: the bits of one rank
};

/// As decks write it: needed_rows, rows_1_5d, ...
std::string name_of(Scheme scheme);

/// True when these keys can divide a matrix among this many ranks: any number for rows and needed_rows; a multiple of
/// `copies`, at least copies^2, for rows_1_5d; a square for grid_2d; a cube for grid_3d.
bool fits(const LayoutKeys& keys, int ranks);

/// InputError naming the nearest suitable numbers of ranks.
void require_ranks(const LayoutKeys& keys, int ranks);

/// Kind of the types that a deck names as `layout`:
/// layout: rows | needed_rows | {type: rows_1_5d, copies: 2} | grid_2d | grid_3d
class Layout {
 public:
  using Kind = Layout;
  static constexpr std::string_view kind = "layout";
  virtual ~Layout() = default;
  const LayoutKeys& keys() const { return keys_; }
  /// Works that the layout rests on.
  std::vector<Citation> citations() const;

 protected:
  explicit Layout(const LayoutKeys& keys) : keys_(keys) {}

 private:
  LayoutKeys keys_;
};

/// Layouts by rows, with all rows or the needed ones.
struct RowLayoutParams {
  lowp::WireCodec codec = lowp::WireCodec::none;
  bool ordered = false;
  static void describe(deck::Describe<RowLayoutParams>& d);
};

class RowsLayout : public Layout {
 public:
  using Params = RowLayoutParams;
  RowsLayout(const Params& params, Context& context);
};

class NeededRowsLayout : public Layout {
 public:
  using Params = RowLayoutParams;
  NeededRowsLayout(const Params& params, Context& context);
};

class CopiedRowsLayout : public Layout {
 public:
  struct Params {
    int copies = 2;
    lowp::WireCodec codec = lowp::WireCodec::none;
    static void describe(deck::Describe<Params>& d);
  };
  CopiedRowsLayout(const Params& params, Context& context);
};

/// Params of both grids.
struct GridLayoutParams {
  lowp::WireCodec codec = lowp::WireCodec::none;
  static void describe(deck::Describe<GridLayoutParams>& d);
};

class Grid2dLayout : public Layout {
 public:
  using Params = GridLayoutParams;
  Grid2dLayout(const Params& params, Context& context);
};

class Grid3dLayout : public Layout {
 public:
  using Params = GridLayoutParams;
  Grid3dLayout(const Params& params, Context& context);
};

}  // namespace cambium::sparse
