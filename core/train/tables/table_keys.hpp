#pragma once
#include <map>
#include <optional>
#include <string>

#include "core/deck/describe.hpp"

namespace cambium::train {

/// Keys of the error bounds for rows in messages.
struct RowCodeKeys {
  enum class By { same, homogenisation };
  double bound = 1e-2;
  By by = By::same;
  double start = 1.0;  ///< initial factor of the bound
  std::int64_t steps = 1000;
  std::optional<double> gradients = {};       ///< relative to the largest gradient of its table in a step
  std::map<std::string, double> bounds = {};  ///< of tables with their own bound, by name
  static void describe(deck::Describe<RowCodeKeys>& d);
};

/// Keys of the distribution and training of embedding tables.
struct TableKeys {
  enum class Divide { rows, whole };
  enum class Rule { sgd, adagrad, adam, split_sgd };
  Divide divide = Divide::rows;
  std::optional<bool> deduplicate = {};
  std::optional<RowCodeKeys> code = {};
  Rule optimizer = Rule::adagrad;
  double rate = 1.0;   ///< factor of the learning rate
  double decay = 0.0;  ///< of the rows that a step touches, before their rule
  double epsilon = 1e-8, beta1 = 0.9, beta2 = 0.999;
  static void describe(deck::Describe<TableKeys>& d);
};

}  // namespace cambium::train
