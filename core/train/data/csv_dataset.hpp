#pragma once
#include <array>
#include <optional>

#include "core/deck/describe.hpp"
#include "core/train/data/csv_columns.hpp"
#include "core/train/kinds/dataset.hpp"

namespace cambium::train {

/// Text tables (CSV, TSV): each line is a sample, each field one or more columns. Rank 0 reads the files; every rank
/// stores all values, as float64, or as int64 if all cells of a field are integers.
class CsvDataset : public Dataset {
 public:
  enum class Missing { refuse, leave_out };
  enum class Numbers { by_cells, real, whole };
  struct Field {
    std::string name;
    std::vector<std::string> columns;  ///< empty: the column with the field's name
    std::optional<std::string> unit;   ///< of the values
    Numbers numbers = Numbers::by_cells;
    std::vector<std::string> categories;  ///< texts of the classes; empty: the cells are numbers
    static void describe(deck::Describe<Field>& d);
  };
  struct Params {
    std::vector<std::string> files;
    std::vector<Field> fields;
    std::optional<std::array<std::int64_t, 2>> range;
    Missing missing = Missing::refuse;
    std::string delimiter = "auto";
    CsvForm::Decimal decimal = CsvForm::Decimal::found;
    static void describe(deck::Describe<Params>& d);
  };
  CsvDataset(const Params& params, Context&) : params_(params) {}

  /// InputError, on every rank: as read_csv_columns; a unit that differs from the header line; no lines.
  void open(Context&) override;
  std::int64_t size() const override { return size_; }
  std::vector<FieldInfo> fields() const override { return fields_; }
  std::vector<SamplePtr> read(std::span<const std::int64_t> ids) override;
  Origin origin() const override { return Origin::memory; }
  bool plain() const override { return true; }

 private:
  std::string bytes_of_files(Log& log);
  bool is_whole(std::size_t field, bool by_cells) const;

  Params params_;
  std::vector<FieldInfo> fields_;
  std::int64_t size_ = 0, width_ = 0;                 ///< lines, values per line
  std::shared_ptr<const std::vector<double>> table_;  ///< by line; integers as their bit patterns
};

}  // namespace cambium::train
