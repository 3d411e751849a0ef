#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/train/kinds/tables.hpp"
#include "plugins/relate/datasets/choice_table.hpp"
#include "plugins/relate/datasets/record_set.hpp"

namespace cambium::relate {

/// Embeddings of users and items in T, rows of one width.
template <class T>
struct ChoiceVectors {
  std::vector<T> users, chosen;  ///< of each sample
  std::vector<T> drawn;          ///< negative items, shared by all samples
};

/// Table rows of the embeddings of a batch of interactions, in the forward and backward direction. The embedding of an
/// item is the sum of its row and those of its tags; that of a user (1 - history) times the user's row plus history
/// times the mean of the rows of the user's other items.
class ChoiceRows {
 public:
  /// Each interaction is contrasted with `each` of the negative items of a step, or with all if it is 0.
  ChoiceRows(std::int64_t width, double history, std::int64_t each = 0)
      : width_(width), history_(history), each_(each) {}

  /// Sets the sizes of tables, and the items with training interactions: only these are drawn.
  void fit(const ChoiceTable& table);
  std::vector<train::TableInfo> tables(double reach) const;
  /// Draws `count` negative items, a function of seed and step.
  void draw(std::int64_t count, std::uint64_t seed, std::uint64_t step);
  int drawn() const { return static_cast<int>(drawn_.size()); }

  /// InputError if samples are not interactions of these users and items.
  std::vector<train::Bags> bags(std::span<const train::SamplePtr> samples) const;
  /// For each sample the indices of the negative items that it ignores: those known to be chosen by its user, and those
  /// not selected for it. InputError for a negative sample.
  std::vector<std::vector<int>> left_out(std::span<const train::SamplePtr> samples) const;
  /// Embeddings from the rows of bags(), and the derivatives of the rows.
  template <class T>
  ChoiceVectors<T> vectors(std::span<const train::SamplePtr> samples, train::TableRows& rows) const;
  template <class T>
  void add_rows(std::span<const train::SamplePtr> samples, ChoiceVectors<T> by, train::TableRows& rows) const;

  /// State as JSON text, and from it. InputError for invalid text.
  std::string state() const;
  void restore(const std::string& state);
  /// hash_of() the training interactions; 0: unknown, of earlier models.
  std::uint64_t learned() const { return learned_; }

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
  std::uint64_t seed_ = 0, step_ = 0;  ///< of the negative items
  std::int64_t users_ = 0, items_ = 0, tags_ = 0;
  std::uint64_t learned_ = 0;
  std::vector<std::int32_t> among_;  ///< items with interactions in training
  std::vector<std::int32_t> drawn_;
};

}  // namespace cambium::relate
