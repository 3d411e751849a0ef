#pragma once
#include <span>
#include <vector>

#include "core/train/tables/places.hpp"

namespace cambium::train {

/// The rows of all tables that one rank holds, in T, with the state of each row, and a copy of the best rows.
template <class T>
class RowStore {
 public:
  RowStore(std::span<const TableInfo> tables, const TablePlaces& places, TableKeys::Rule rule, int rank);

  /// First values, a function of (seed, table, row, element).
  void start(std::uint64_t seed);
  T* row(int table, std::int64_t index) {
    Table& t = at(table);
    return t.weights.data() + index * t.width;
  }
  T* state(int table, std::int64_t index) {
    Table& t = at(table);
    return t.states.data() + index * t.state_width;
  }
  /// What files hold of a table, and how many numbers of each row.
  enum class Part { weights, states, best };
  std::span<T> part(int table, Part which);
  std::int64_t width(int table, Part which) const;

  void keep_best();
  double bytes() const;

 private:
  struct Table {
    std::int64_t width = 0, state_width = 0, first = 0, stride = 1;
    double reach = 0.0;
    std::vector<T> weights, states, best;
  };
  Table& at(int table) { return tables_[static_cast<std::size_t>(table)]; }
  std::vector<Table> tables_;
};

extern template class RowStore<double>;
extern template class RowStore<float>;

}  // namespace cambium::train
