#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "core/train/tables/places.hpp"

namespace cambium::train {

/// Rows that a rank requests in one pass, and the position in the response of each row, or of each sum of a bag
/// computed by its owner. With `direct`, local rows are not requested: they are read from the store.
class RowRequests {
 public:
  enum class Kind { members, sums_of_whole, different };
  /// Both must outlive this. sums_of_whole: the owner of an entire table sends sums of bags; different: a row that a
  /// rank needs several times is sent once.
  RowRequests(std::span<const TableInfo> tables, const TablePlaces& places, Kind kind, bool direct, int rank)
      : tables_(tables), places_(places), kind_(kind), direct_(direct), rank_(rank) {}

  /// For these slices, each with a bag per table and sample; `numbers`: their indices among all ranks.
  void make(std::vector<std::vector<Bags>> slices, std::vector<std::int64_t> numbers, int ranks);

  std::size_t slices() const { return bags_.size(); }
  std::int64_t number(std::size_t slice) const { return numbers_[slice]; }
  const Bags& bags(std::size_t slice, std::size_t table) const { return bags_[slice][table]; }
  /// Positions in the response: of each bag if its owner sums it, else of each member; ~index in the store for a local
  /// row.
  const std::vector<std::int64_t>& where(std::size_t slice, std::size_t table) const { return where_[slice][table]; }
  /// Request to each rank: for every slice its index, then for every table the number of rows or sums, the number of
  /// rows per sum, and the row indices at their owner.
  const std::vector<std::vector<std::int64_t>>& ask() const { return ask_; }
  /// Number of values in each rank's response, and where they begin.
  const std::vector<int>& answer_count() const { return count_; }
  const std::vector<int>& answer_start() const { return start_; }

  /// Remote rows in the bags if every member, or every sum of an entire remote table, were sent separately: requested
  /// rows, and values returned for them.
  struct OfOthers {
    std::int64_t rows = 0, numbers = 0;
  };
  const OfOthers& of_others() const { return of_others_; }
  bool direct() const { return direct_; }
  /// True if the bags of a table are summed by its owner, another rank.
  bool summed_there(std::size_t table) const {
    return kind_ == Kind::sums_of_whole && !(direct_ && owner(table, 0) == rank_);
  }
  /// use(bag, where) for each member of the bags of a table whose bags are summed locally.
  template <class F>
  void for_members(std::size_t slice, std::size_t table, F&& use) const {
    const Bags& bags = bags_[slice][table];
    const auto& where = where_[slice][table];
    for (std::int64_t b = 0; b < bags.size(); ++b)
      for (auto k = bags.first[b]; k < bags.first[static_cast<std::size_t>(b) + 1]; ++k) use(b, where[k]);
  }

 private:
  void ask_for_sums(std::size_t slice, std::size_t table);
  void ask_for_rows(std::size_t slice, std::size_t table);
  void ask_for_different();
  void start_of_answers();
  int owner(std::size_t table, std::int64_t row) const { return places_.owner(static_cast<int>(table), row); }
  void count_other(std::size_t table, std::size_t rank) {
    if (static_cast<int>(rank) == rank_) return;
    ++of_others_.rows;
    of_others_.numbers += tables_[table].width;
  }
  bool is_asked(std::size_t rank) const { return !direct_ || static_cast<int>(rank) != rank_; }

  std::span<const TableInfo> tables_;
  const TablePlaces& places_;
  Kind kind_;
  bool direct_;
  int rank_;
  std::vector<std::vector<Bags>> bags_;  ///< by slice and table
  std::vector<std::int64_t> numbers_;
  std::vector<std::vector<std::vector<std::int64_t>>> where_;
  std::vector<std::vector<std::int64_t>> ask_;
  std::vector<int> count_, start_;
  OfOthers of_others_;
};

/// Exclusive prefix sums.
std::vector<int> starts_of(const std::vector<int>& counts);

}  // namespace cambium::train
