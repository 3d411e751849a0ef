#pragma once
#include "core/train/kinds/dataset.hpp"
#include "plugins/pretrain/augment/augment.hpp"
#include "plugins/pretrain/features/matrix.hpp"

namespace cambium::pretrain {

/// A data set as rows of numbers, on every rank. What its samples lack is empty.
struct Table {
  FieldShape shape;
  Matrix field, partner, parameters;
  std::vector<std::int64_t> simulation, moment, label;
  std::vector<double> time;
  std::int64_t rows() const { return field.rows; }
};

/// InputError where samples hold no field.
Table read_table(train::Dataset& data);

}  // namespace cambium::pretrain
