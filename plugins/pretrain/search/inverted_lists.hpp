#pragma once
#include "core/numerics/byte_dots.hpp"
#include "core/parallel/comm.hpp"
#include "plugins/pretrain/search/float_rows.hpp"
#include "plugins/pretrain/search/row_products.hpp"

namespace cambium::pretrain {

/// Amount of work per query.
struct Effort {
  std::int64_t probes = 1;  ///< lists with the nearest centres
  std::int64_t kept = 1;    ///< best rows of them, by their bytes, that are compared again in single precision
};

/// Approximate search by cosine with an inverted file (IVF; Jégou, Douze, Schmid 2011): rows are in lists around
/// centres (spherical k-means), and a query scans only the lists with the nearest centres, first in bytes: q·x is q·c,
/// known from the choice of the list, plus q·(x - c) with both factors rounded to 8 bits. With all lists and all rows
/// kept, the search is exact.
class InvertedLists {
 public:
  /// Content of a file in addition to the rows.
  struct Parts {
    FloatRows rows, centres;
    std::vector<std::int64_t> start;   ///< offset of each list, and the end; lists start at blocks of bytes
    std::vector<std::int64_t> number;  ///< row index at each position; -1 in the padding of a block
    std::vector<float> unit;           ///< of each list's bytes
    ByteRows bytes;                    ///< x - c at each position
  };
  /// Collective. `rows`: of length 1, at least one. `lists`: 0 for the default number, usual_lists().
  InvertedLists(FloatRows rows, std::int64_t lists, const Comm& comm);
  explicit InvertedLists(Parts parts);

  static std::int64_t usual_lists(std::int64_t rows);
  std::int64_t lists() const { return parts_.centres.rows; }
  const FloatRows& rows() const { return parts_.rows; }
  const Parts& parts() const { return parts_; }

  /// The `count` most similar rows found for the queries [from, to). `queries`: of length 1, with the same columns.
  Entries nearest(const FloatRows& queries, std::int64_t from, std::int64_t to, std::int64_t count,
                  const Effort& effort) const;

 private:
  struct Query;
  std::int64_t scan(std::int64_t list, const Query& query, std::vector<std::int32_t>& dots, MostSimilar& kept) const;

  Parts parts_;
  RowProducts centre_products_;
};

}  // namespace cambium::pretrain
