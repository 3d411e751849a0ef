#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/train/kinds/dataset.hpp"
#include "plugins/relate/datasets/categories.hpp"

namespace cambium::relate {

struct PairTable;
struct ChoiceTable;

/// A column whose entries are row indices of a table.
struct RowColumn {
  std::string name;
  std::int64_t rows = 0;
  std::uint64_t meaning = 0;      ///< hash that identifies the meaning of the rows; 0: unknown
  VocabularyPtr vocabulary = {};  ///< their values; null: unknown
};

/// A column with a row for each value of a vocabulary, and row 0 for all others.
RowColumn column_of(const std::string& name, const VocabularyPtr& vocabulary);

/// Records: each has dense features, a bag of rows for every column, and one answer.
struct RecordSet {
  std::string source;                ///< for messages: "'clicks.h5'" or "synthetic clicks"
  std::string answer, unit;          ///< name and unit of the answer, for example "affinity", ""
  std::vector<std::string> numbers;  ///< names of the dense features
  std::vector<RowColumn> columns;
  std::vector<double> number;                      ///< records x dense features
  bool logarithm = false;                          ///< dense features are log(1 + max(x, 0)) of the source's
  std::int64_t cut = 0;                            ///< number of negative values of the source, clipped to 0
  std::vector<std::span<const std::int32_t>> bag;  ///< records x columns; they point into `stored`
  std::vector<double> answers;                     ///< of each record
  std::vector<std::int64_t> place;                 ///< its row or line in the source, numbered as there
  std::vector<std::shared_ptr<const std::vector<std::int32_t>>> stored;
  bool labelled = true;  ///< false: the answers are unknown (NaN)

  std::shared_ptr<const Categories> categories;  ///< values that the rows stand for; null: unknown
  std::int64_t min_count = 1;                    ///< of a value with its own row, in training
  bool given_rows = false;                       ///< by a given vocabulary, not by that of the training records

  std::shared_ptr<const PairTable> pairs;  ///< for records of pairs
  std::vector<std::int64_t> pair;          ///< index of each record's pair in the table

  std::uint64_t tested = 0;  ///< hash of the test pairs

  std::shared_ptr<const ChoiceTable> choices;  ///< for records of user-item interactions; owns the tags of items

  std::int64_t size() const { return std::ssize(answers); }
  std::span<const std::int32_t> bag_of(std::int64_t record, std::size_t column) const {
    return bag[static_cast<std::size_t>(record) * columns.size() + column];
  }
};

using RecordPtr = std::shared_ptr<const RecordSet>;

/// Converts a completed set of records to the form shared by samples, from which record_set_of() returns it.
RecordPtr share(RecordSet records);
/// The record set of a sample, which is its record sample.id. InputError, naming `asks`, for a sample of another data
/// set.
const RecordSet& record_set_of(const train::Sample& sample, const std::string& asks);

/// Sample `id` of a set.
train::SamplePtr sample_of(const RecordPtr& records, std::int64_t id);
/// Descriptions of the fields of record data sets: "numbers", if there are any, and the answer.
std::vector<train::FieldInfo> fields_of(const RecordSet& records);

/// Hash of a text that is the same in every run (FNV-1a), never 0.
std::uint64_t meaning_of(const std::string& text);
/// InputError if rows of a column have another meaning than in the columns of `whose` (a network, "training"), and
/// their values or those of `known` are unknown: the same row index would then be another entity. Both sides must have
/// the same number of columns.
void require_same_rows(const std::vector<RowColumn>& known, const RecordSet& records, std::string_view whose);

/// Names of dense features, each of which has a second one that tells where it is missing; empty for a text without a
/// line of names, whose columns are numbered.
std::vector<std::string> names_of_numbers(const RecordSet& records);
/// InputError if a categorical or dense column has the name of another position in the columns and numbers
/// (names_of_numbers) of `whose`: it would be read as that one. Names that are not among those are accepted.
void require_same_order(const std::vector<RowColumn>& columns, const std::vector<std::string>& numbers,
                        const RecordSet& records, std::string_view whose);

/// True if rows have another meaning than in the columns `known`, and rows_by() finds theirs.
bool needs_rows_by(const std::vector<RowColumn>& known, const RecordSet& records);
/// Rows of the records' values in the vocabularies of other columns: records x columns.
std::vector<std::int32_t> rows_by(const std::vector<RowColumn>& known, const RecordSet& records);
/// Records like these, with the columns `known` and rows_by() them.
RecordSet with_rows_by(const std::vector<RowColumn>& known, const RecordSet& records);
/// "1.2 % of the categories (26 of 2080) are rare or unseen in training and have row 0, most of them in C3 (5.0 %)", of
/// rows_by() these columns.
std::string text_of_unknown(const std::vector<RowColumn>& known, const RecordSet& records,
                            std::span<const std::int32_t> rows);

/// InputError if the labels of the records are unknown.
void require_labels(const RecordSet& records);

/// InputError if dense features are logarithms in the records and not in the data of `whose`, or vice versa.
void require_same_numbers(bool logarithm, const RecordSet& records, std::string_view whose);

/// InputError that names source, row and column: a row index out of range, an empty bag, a value that is not finite.
void require_sound(const RecordSet& records);

}  // namespace cambium::relate
