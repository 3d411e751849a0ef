#pragma once
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "core/base/log.hpp"
#include "core/train/kinds/dataset.hpp"
#include "plugins/relate/datasets/record_set.hpp"

namespace cambium::relate {

/// Counts of the categories of training samples, from which a network takes the rows of its tables. The samples'
/// records must outlive it.
class TrainingCategories {
 public:
  void add(const RecordSet& records, std::int64_t record);
  /// Columns of the first records, with a row for each value that occurs at least min_count times among the samples
  /// (ascending, from 1). Those of the records themselves if their values are unknown or their vocabulary is given.
  std::vector<RowColumn> columns() const;
  /// Sentence for the log; empty if columns() are those of the records.
  std::string text() const;

 private:
  using Counts = std::vector<std::vector<std::int64_t>>;  ///< of the values of each column
  const RecordSet* first_ = nullptr;
  std::map<const RecordSet*, Counts> counts_;
};

/// Rows of records of other files in the vocabulary of a network: found once for each set of records.
class KnownRows {
 public:
  /// Row of each value, records x columns; null if the records have the rows of the columns `known` already. Logs
  /// how many values are not in the vocabulary.
  const std::vector<std::int32_t>* of(const train::Sample& sample, const RecordSet& records,
                                      const std::vector<RowColumn>& known, Log& log) const;
  void clear();

 private:
  struct Entry {
    std::weak_ptr<const void> records;
    std::unique_ptr<const std::vector<std::int32_t>> rows;  ///< null: those of the records
  };
  mutable std::mutex mutex_;
  mutable std::vector<Entry> entries_;
};

}  // namespace cambium::relate
