#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/train/kinds/dataset.hpp"

namespace cambium::relate {

struct PairTable;
struct ChoiceTable;

/// A column whose entries name rows of a table.
struct RowColumn {
  std::string name;
  std::int64_t rows = 0;
  std::uint64_t meaning = 0;  ///< by which it is known again what the rows stand for; 0: nothing is known of that
};

/// Records: each has some numbers, a bag of rows for every column, and one answer.
struct RecordSet {
  std::string source;                ///< for messages: "'clicks.h5'" or "made-up clicks"
  std::string answer, unit;          ///< name and unit of the answer, such as "affinity", ""
  std::vector<std::string> numbers;  ///< names of the numbers of a record
  std::vector<RowColumn> columns;
  std::vector<double> number;                      ///< records x numbers
  bool logarithm = false;                          ///< numbers are log(1 + max(x, 0)) of those of the source
  std::int64_t cut = 0;                            ///< numbers of the source below 0 of which 0 was made
  std::vector<std::span<const std::int32_t>> bag;  ///< records x columns; they point into `stored`
  std::vector<double> answers;                     ///< of each record
  std::vector<std::int64_t> place;                 ///< its row or line in the source, counted as the source does
  std::vector<std::shared_ptr<const std::vector<std::int32_t>>> stored;

  std::shared_ptr<const PairTable> pairs;  ///< where records are pairs of two things
  std::vector<std::int64_t> pair;          ///< then: number of each record's pair in the table

  std::uint64_t tested = 0;  ///< then: by which the pairs kept for tests are known again

  std::shared_ptr<const ChoiceTable> choices;  ///< where records say what users chose; tags of items lie in it

  std::int64_t size() const { return std::ssize(answers); }
  std::span<const std::int32_t> bag_of(std::int64_t record, std::size_t column) const {
    return bag[static_cast<std::size_t>(record) * columns.size() + column];
  }
};

using RecordPtr = std::shared_ptr<const RecordSet>;

/// Gives a finished set of records to samples, so that record_set_of() knows it again.
RecordPtr share(RecordSet records);
/// The records that a sample is one of: number sample.id. InputError when it is of another data set; it names who asks.
const RecordSet& record_set_of(const train::Sample& sample, const std::string& asks);

/// Sample `id` of a set.
train::SamplePtr sample_of(const RecordPtr& records, std::int64_t id);
/// Description of the fields of data sets of records: "numbers", where there are any, and the answer.
std::vector<train::FieldInfo> fields_of(const RecordSet& records);

/// A number by which the same text is known again in another run (FNV-1a), never 0.
std::uint64_t meaning_of(const std::string& text);
/// InputError where rows of a column stand for other things than in the columns that `whose` (a network, "training")
/// was given: the same number of a row would be read as another thing. Columns are as many on both sides.
void require_same_rows(const std::vector<RowColumn>& known, const RecordSet& records, std::string_view whose);

/// InputError where records have numbers of which the logarithm was taken, and those that `whose` was given have not,
/// or the other way.
void require_same_numbers(bool logarithm, const RecordSet& records, std::string_view whose);

/// InputError that names source, row and column: an id outside its table, an empty bag, a number that is not finite.
void require_sound(const RecordSet& records);

}  // namespace cambium::relate
