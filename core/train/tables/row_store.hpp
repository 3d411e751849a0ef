#pragma once
#include <span>
#include <vector>

#include "core/numerics/huge_pages.hpp"
#include "core/train/tables/places.hpp"

namespace cambium::train {

/// Rows of all tables on one rank, in T, with the state of each row, and a copy of the best rows. Rows of the rule
/// split_sgd take two bytes per value, and two bytes for its lower half; T is then float.
template <class T>
class RowStore {
 public:
  RowStore(std::span<const TableInfo> tables, const TablePlaces& places, TableKeys::Rule rule, int rank);

  /// Initial values, a function of (seed, table, row, element).
  void start(std::uint64_t seed);
  /// Adds a row, in the network's precision, to `to`.
  void add_row(int table, std::int64_t index, T* to) const;
  /// Sums of bags of a table, in the network's precision: bag b has members first[b] to first[b + 1] - 1, added in
  /// order, starting from 0. Member k is the row ~where[k] of this store, or begins at `got` + where[k]. `out`: (bags,
  /// width).
  void sum_bags(int table, std::span<const std::int64_t> first, std::span<const std::int64_t> where, const T* got,
                T* out) const;
  /// Prefetches a row and its state for update(): rows are scattered in memory, and waiting for them one by one takes
  /// longer.
  void ask_to_change(int table, std::int64_t index) const;
  /// One step of a row by its gradient (core/train/tables/row_rule.hpp).
  void update(int table, std::int64_t index, const TableKeys& keys, double rate, const T* gradient);

  /// Parts of a table in files, and the number of values per row.
  enum class Part { weights, states, best };
  std::int64_t width(int table, Part which) const;
  /// Copies rows [first, first + rows) of a part out or in. Lower halves of split rows are integers below 65536.
  void copy_out(int table, Part which, std::int64_t first, std::int64_t rows, T* out) const;
  void copy_in(int table, Part which, std::int64_t first, std::int64_t rows, const T* in);

  void keep_best();
  double bytes() const;

 private:
  template <class N>
  using Numbers = std::vector<N, HugePages<N>>;
  struct Table {
    std::int64_t width = 0, state_width = 0, held = 0, first = 0, stride = 1;
    double reach = 0.0;
    Numbers<T> weights, states, best;             ///< of rows that are not split
    Numbers<std::uint16_t> high, low, best_high;  ///< of split rows: bfloat16, and the truncated bits
  };
  const Table& at(int table) const { return tables_[table]; }
  Table& at(int table) { return tables_[table]; }
  void set(Table& table, std::size_t number, double value);

  bool split_;
  std::vector<Table> tables_;
};

extern template class RowStore<double>;
extern template class RowStore<float>;

}  // namespace cambium::train
