#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

namespace cambium::relate {

/// Values with a row of their own in an embedding table: value k has row k + 1, every other value row 0 (out of
/// vocabulary).
using Vocabulary = std::vector<std::string>;
using VocabularyPtr = std::shared_ptr<const Vocabulary>;

/// Values of the categorical columns of some records, as text in UTF-8. An empty text, a missing value, is a value like
/// any other.
struct Categories {
  std::vector<std::vector<std::string>> values;  ///< of each column: different ones, ascending (integers by value)
  std::vector<std::int32_t> of;                  ///< records x columns: index of the value

  std::size_t columns() const { return values.size(); }
  std::int32_t value_of(std::int64_t record, std::size_t column) const {
    return of[static_cast<std::size_t>(record) * columns() + column];
  }
};

/// Collects values of records.
class CategoryReader {
 public:
  explicit CategoryReader(std::size_t columns) : known_(columns), values_(columns) {}
  /// The next value: of column 0, 1, ... of a record, then those of the next one. Text that is not UTF-8 is read as
  /// Latin-1.
  void add(const std::string& value);
  Categories take();

 private:
  std::vector<std::unordered_map<std::string, std::int32_t>> known_;
  std::vector<std::vector<std::string>> values_;
  std::vector<std::int32_t> of_;
};

/// The same of integers, records x columns.
Categories categories_of(std::span<const std::int64_t> values, std::size_t columns);

/// Number of records with each value of each column.
std::vector<std::vector<std::int64_t>> counts_of(const Categories& categories);

/// Those of the values that occur at least `least` times, in their order.
VocabularyPtr frequent(const std::vector<std::string>& values, std::span<const std::int64_t> counts,
                       std::int64_t least);

/// Row of each value.
std::vector<std::int32_t> rows_of(const std::vector<std::string>& values, const Vocabulary& vocabulary);

/// Identifies a vocabulary (a hash, never 0).
std::uint64_t meaning_of(const Vocabulary& vocabulary);

}  // namespace cambium::relate
