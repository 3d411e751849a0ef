#pragma once
#include <cstdint>

#include "core/base/citation.hpp"
#include "core/train/tables/table_keys.hpp"

namespace cambium::train {

/// Optimizer state of a row, in values.
std::int64_t state_width(TableKeys::Rule rule, std::int64_t width);

/// One step of a row whose gradient is g; w and g have `width` values, `state` has state_width() values, initially
/// zero. Rows that a step does not touch do not change: moments decay with a row's own steps, not with the run's.
///   sgd      w <- w - rate g
///   split_sgd  the same on float32 values in two halves (Kalamkar et al., SC20); update_row() receives them joined
///   adagrad  s <- s + g^2, w <- w - rate g / (sqrt(s) + epsilon), element by element (Duchi et al. 2011)
///   adam     m <- b1 m + (1 - b1) g, v <- b2 v + (1 - b2) mean(g^2), one v for the row,
///            w <- w - rate m / (1 - b1^t) / (sqrt(v / (1 - b2^t)) + epsilon), t counting the row's steps
/// If `decay` is not 0, w <- (1 - rate decay) w comes first, decoupled from the rule (Loshchilov and Hutter 2019).
template <class T>
void update_row(const TableKeys& keys, double rate, std::int64_t width, const T* g, T* w, T* state);

/// Publications of a rule.
std::vector<Citation> citations_of(TableKeys::Rule rule);

}  // namespace cambium::train
