#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "core/train/tables/places.hpp"

namespace cambium::train {

/// Which rows a rank asks others for in one pass, and where each of them, or each sum of a bag that its holder adds up,
/// will stand among the answers. Where `direct`, the rank's own rows are asked for by nobody: they lie in its store.
class RowRequests {
 public:
  enum class Kind { members, sums_of_whole, different };
  /// Both outlive this. sums_of_whole: a rank that holds a whole table sends sums of bags; different: a row once that
  /// a rank needs several times.
  RowRequests(std::span<const TableInfo> tables, const TablePlaces& places, Kind kind, bool direct, int rank)
      : tables_(tables), places_(places), kind_(kind), direct_(direct), rank_(rank) {}

  /// For these slices, each with a bag per table and sample; `numbers`: of them among those of all ranks.
  void make(std::vector<std::vector<Bags>> slices, std::vector<std::int64_t> numbers, int ranks);

  std::size_t slices() const { return bags_.size(); }
  std::int64_t number(std::size_t slice) const { return numbers_[slice]; }
  const Bags& bags(std::size_t slice, std::size_t table) const { return bags_[slice][table]; }
  /// In the answers: of each bag where its holder adds it up, else of each member; ~index of an own row in the store.
  const std::vector<std::int64_t>& where(std::size_t slice, std::size_t table) const { return where_[slice][table]; }
  /// Numbers for each rank: for every slice its number, then for every table how many rows or sums are asked for, how
  /// many rows each sum has, and the rows' numbers at their owner.
  const std::vector<std::vector<std::int64_t>>& ask() const { return ask_; }
  /// Numbers that each rank answers with, and where they begin.
  const std::vector<int>& answer_count() const { return count_; }
  const std::vector<int>& answer_start() const { return start_; }

  /// What the bags have of rows of other ranks, every member, or of tables that these hold whole every sum, by itself:
  /// rows asked for, and numbers that come for them.
  struct OfOthers {
    std::int64_t rows = 0, numbers = 0;
  };
  const OfOthers& of_others() const { return of_others_; }
  bool direct() const { return direct_; }
  /// True if the bags of a table are added up by its holder, another rank.
  bool summed_there(std::size_t table) const {
    return kind_ == Kind::sums_of_whole && !(direct_ && owner(table, 0) == rank_);
  }
  /// use(bag, where) for each member of the bags of a table whose bags are added up here.
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

/// Sums of all before each.
std::vector<int> starts_of(const std::vector<int>& counts);

}  // namespace cambium::train
