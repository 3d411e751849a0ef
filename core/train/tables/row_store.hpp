#pragma once
#include <span>
#include <vector>

#include "core/numerics/huge_pages.hpp"
#include "core/train/tables/places.hpp"

namespace cambium::train {

/// The rows of all tables that one rank holds, in T, with the state of each row, and a copy of the best rows. Rows of
/// the rule split_sgd take two bytes a number, and two bytes for what a step adds up; T is then float.
template <class T>
class RowStore {
 public:
  RowStore(std::span<const TableInfo> tables, const TablePlaces& places, TableKeys::Rule rule, int rank);

  /// First values, a function of (seed, table, row, element).
  void start(std::uint64_t seed);
  /// Adds a row, as a network sees it, to `to`.
  void add_row(int table, std::int64_t index, T* to) const;
  /// Sums of bags of a table, as a network sees them: bag b has members first[b] to first[b + 1] - 1, added in their
  /// order to 0. Member k is the row ~where[k] of this store, or lies in `got` from where[k] on. `out`: (bags, width).
  void sum_bags(int table, std::span<const std::int64_t> first, std::span<const std::int64_t> where, const T* got,
                T* out) const;
  /// Asks memory for a row and its state, which update() changes soon: rows lie anywhere, and waiting for one after
  /// the other takes longer.
  void ask_to_change(int table, std::int64_t index) const;
  /// One step of a row by its gradient (core/train/tables/row_rule.hpp).
  void update(int table, std::int64_t index, const TableKeys& keys, double rate, const T* gradient);

  /// Parts of a table in files, and how many numbers of each row.
  enum class Part { weights, states, best };
  std::int64_t width(int table, Part which) const;
  /// Rows [first, first + rows) of a part, out and in. The lower halves of split rows are whole numbers below 65536.
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
    Numbers<std::uint16_t> high, low, best_high;  ///< of those that are: bfloat16, and what it cuts off
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
