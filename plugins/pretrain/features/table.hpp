#pragma once
#include "core/train/kinds/dataset.hpp"
#include "plugins/pretrain/archive/augment.hpp"
#include "plugins/pretrain/features/matrix.hpp"

namespace cambium::pretrain {

/// A data set as matrices, on every rank. Data missing from its samples are empty.
struct Table {
  FieldShape shape;
  Matrix field, partner, parameters;
  std::vector<std::int64_t> simulation, moment, label;
  std::vector<double> time;
  std::vector<std::string> channel_names, parameter_names;  ///< of a field_archive
  std::int64_t rows() const { return field.rows; }
};

/// Standard deviation of each channel over the fields of a table; the absolute mean of a constant channel, 1 if that is
/// 0.
std::vector<double> channel_deviations(const Table& table);
/// Divides fields and positives by these, channel by channel, so that comparisons do not depend on units.
Table in_units(Table table, std::span<const double> deviations);
/// Number of rows that also occur in `known`, with equal values.
std::int64_t rows_found_again(const Matrix& rows, const Matrix& known);

/// InputError if samples have no field.
Table read_table(train::Dataset& data);

}  // namespace cambium::pretrain
