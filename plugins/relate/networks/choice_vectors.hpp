#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/train/kinds/tables.hpp"
#include "plugins/relate/datasets/choice_table.hpp"
#include "plugins/relate/datasets/record_set.hpp"

namespace cambium::relate {

/// Vectors of users and items in T, rows of one width.
template <class T>
struct ChoiceVectors {
  std::vector<T> users, chosen;  ///< of each sample
  std::vector<T> drawn;          ///< of the items drawn beside all of them
};

/// Which rows of which tables make the vectors of a batch of choices, in both directions. The vector of an item is its
/// row and those of its tags; that of a user (1 - history) times his row and history times the mean of the rows of the
/// other items that he chose.
class ChoiceRows {
 public:
  /// Each choice is told from `each` of the items that are drawn for a step, or from all where it is 0.
  ChoiceRows(std::int64_t width, double history, std::int64_t each = 0)
      : width_(width), history_(history), each_(each) {}

  /// The sizes of tables, and the items that somebody chose in training: no other is drawn.
  void fit(const ChoiceTable& table);
  std::vector<train::TableInfo> tables(double reach) const;
  /// Draws `count` items, a function of seed and step.
  void draw(std::int64_t count, std::uint64_t seed, std::uint64_t step);
  int drawn() const { return static_cast<int>(drawn_.size()); }

  /// InputError when samples are no choices of these users and items.
  std::vector<train::Bags> bags(std::span<const train::SamplePtr> samples) const;
  /// For each sample the places among the drawn items of those that do not count for it: what its user is known to have
  /// chosen, and what was not picked for it. InputError for a sample that says what a user did not choose.
  std::vector<std::vector<int>> left_out(std::span<const train::SamplePtr> samples) const;
  /// From the rows of bags(), and their derivatives back to them.
  template <class T>
  ChoiceVectors<T> vectors(std::span<const train::SamplePtr> samples, train::TableRows& rows) const;
  template <class T>
  void add_rows(std::span<const train::SamplePtr> samples, ChoiceVectors<T> by, train::TableRows& rows) const;

  /// As JSON text, and back. InputError when it cannot be.
  std::string state() const;
  void restore(const std::string& state);

 private:
  bool has_tags() const { return tags_ > 0; }
  const RecordSet& records_of(std::span<const train::SamplePtr> samples) const;
  std::span<const std::int32_t> history_of(const RecordSet& records, std::int64_t sample) const;
  void leave_unpicked_out(std::int64_t sample, std::vector<int>& out) const;
  template <class T>
  std::vector<T> history_shares(std::span<const train::SamplePtr> samples) const;

  std::int64_t width_;
  double history_;
  std::int64_t each_;
  std::uint64_t seed_ = 0, step_ = 0;  ///< of what is drawn
  std::int64_t users_ = 0, items_ = 0, tags_ = 0;
  std::vector<std::int32_t> among_;  ///< items that somebody chose in training
  std::vector<std::int32_t> drawn_;
};

}  // namespace cambium::relate
