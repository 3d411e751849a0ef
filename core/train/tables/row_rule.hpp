#pragma once
#include <cstdint>

#include "core/base/citation.hpp"
#include "core/train/tables/table_keys.hpp"

namespace cambium::train {

/// Numbers that a row keeps between the steps that touch it.
std::int64_t state_width(TableKeys::Rule rule, std::int64_t width);

/// One step of a row whose gradient is g; w and g are `width` numbers, `state` is state_width() numbers, zeros at
/// first. Rows that a step does not touch do not change: memories fade with a row's own steps, not with the run's.
///   sgd      w <- w - rate g
///   split_sgd  the same on float32 numbers in two halves (Kalamkar et al., SC20); update_row() is given them joined
///   adagrad  s <- s + g^2, w <- w - rate g / (sqrt(s) + epsilon), element by element (Duchi et al. 2011)
///   adam     m <- b1 m + (1 - b1) g, v <- b2 v + (1 - b2) mean(g^2), one v for the row,
///            w <- w - rate m / (1 - b1^t) / (sqrt(v / (1 - b2^t)) + epsilon), t counting the row's steps
/// Where `decay` is not 0, w <- (1 - rate decay) w comes first, beside the rule (Loshchilov and Hutter 2019).
template <class T>
void update_row(const TableKeys& keys, double rate, std::int64_t width, const T* g, T* w, T* state);

/// The works that a rule comes from.
std::vector<Citation> citations_of(TableKeys::Rule rule);

}  // namespace cambium::train
