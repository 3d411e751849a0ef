#pragma once
#include "core/train/kinds/dataset.hpp"
#include "plugins/pretrain/archive/augment.hpp"
#include "plugins/pretrain/features/matrix.hpp"

namespace cambium::pretrain {

/// A data set as rows of numbers, on every rank. What its samples lack is empty.
struct Table {
  FieldShape shape;
  Matrix field, partner, parameters;
  std::vector<std::int64_t> simulation, moment, label;
  std::vector<double> time;
  std::vector<std::string> channel_names, parameter_names;  ///< of a field_archive
  std::int64_t rows() const { return field.rows; }
};

/// For each channel, over the fields of a table; the size of its mean where it does not change, 1 where that is 0.
std::vector<double> channel_deviations(const Table& table);
/// Fields and partners divided by these, channel by channel, so that what is compared does not depend on units.
Table in_units(Table table, std::span<const double> deviations);
/// Rows that stand, number by number, in `known`, too.
std::int64_t rows_found_again(const Matrix& rows, const Matrix& known);

/// InputError where samples hold no field.
Table read_table(train::Dataset& data);

}  // namespace cambium::pretrain
