#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "core/train/kinds/tables.hpp"
#include "core/train/tables/table_keys.hpp"

namespace cambium::train {

/// Assignment of rows to ranks. By rows, all rows of all tables are distributed round-robin: rank loads differ by at
/// most one row, and frequently used rows (often neighbours) are spread. Entire tables are assigned, largest first, to
/// the rank with the smallest load.
class TablePlaces {
 public:
  TablePlaces(std::span<const TableInfo> tables, TableKeys::Divide divide, int ranks);

  int ranks() const { return ranks_; }
  bool whole() const { return whole_; }
  int owner(int table, std::int64_t row) const {
    const Table& t = tables_[table];
    return whole_ ? t.owner : static_cast<int>((row + t.turn) % ranks_);
  }
  /// Index of a row among those of its table on its owner.
  std::int64_t index(std::int64_t row) const { return whole_ ? row : row / ranks_; }
  /// First row of a table on a rank; its next ones follow at distance stride().
  std::int64_t first(int table, int rank) const {
    return whole_ ? 0 : ((rank - tables_[table].turn) % ranks_ + ranks_) % ranks_;
  }
  std::int64_t stride() const { return whole_ ? 1 : ranks_; }
  /// Number of a table's rows below `end` on a rank.
  std::int64_t held_below(int table, int rank, std::int64_t end) const;
  std::int64_t held(int table, int rank) const { return held_below(table, rank, tables_[table].rows); }

 private:
  struct Table {
    std::int64_t rows = 0;
    int owner = 0;  ///< of an entire table
    int turn = 0;   ///< of its row 0, in round-robin order
  };
  bool whole_;
  int ranks_;
  std::vector<Table> tables_;
};

}  // namespace cambium::train
