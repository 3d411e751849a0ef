#pragma once
#include "core/numerics/byte_dots.hpp"
#include "core/parallel/comm.hpp"
#include "plugins/pretrain/search/float_rows.hpp"
#include "plugins/pretrain/search/row_products.hpp"

namespace cambium::pretrain {

/// How much a query looks at.
struct Effort {
  std::int64_t probes = 1;  ///< lists whose centres are nearest to it
  std::int64_t kept = 1;    ///< rows of them, the best by their bytes, that are compared again in single precision
};

/// An approximate search by cosine: rows lie in lists around centres (k-means on the sphere), a query looks only at the
/// lists whose centres are nearest to it (an inverted file: Jégou, Douze, Schmid 2011), and there first at bytes: q·x
/// is q·c, known from choosing the list, plus q·(x - c), of which both factors are rounded to 8 bits. Looking at all
/// lists and keeping all rows is the exact search.
class InvertedLists {
 public:
  /// Content of a file in addition to the rows.
  struct Parts {
    FloatRows rows, centres;
    std::vector<std::int64_t> start;   ///< of each list, and the end; lists begin at blocks of bytes
    std::vector<std::int64_t> number;  ///< of the row at each place; -1 where a block is filled up
    std::vector<float> unit;           ///< of each list's bytes
    ByteRows bytes;                    ///< x - c at each place
  };
  /// Collective. `rows`: of length 1, at least one. `lists`: 0 for the usual number, usual_lists().
  InvertedLists(FloatRows rows, std::int64_t lists, const Comm& comm);
  explicit InvertedLists(Parts parts);

  static std::int64_t usual_lists(std::int64_t rows);
  std::int64_t lists() const { return parts_.centres.rows; }
  const FloatRows& rows() const { return parts_.rows; }
  const Parts& parts() const { return parts_; }

  /// The `count` most similar rows that the queries [from, to) find. `queries`: of length 1, of the same columns.
  Entries nearest(const FloatRows& queries, std::int64_t from, std::int64_t to, std::int64_t count,
                  const Effort& effort) const;

 private:
  struct Query;
  std::int64_t scan(std::int64_t list, const Query& query, std::vector<std::int32_t>& dots, MostSimilar& kept) const;

  Parts parts_;
  RowProducts centre_products_;
};

}  // namespace cambium::pretrain
