#pragma once
#include "core/codec/fields/enhancer.hpp"

namespace cambium::lowp {

/// Limits that divide the finite values of a field into groups of equal size; fewer groups where values repeat.
template <class T>
std::vector<float> equal_groups(std::span<const T> field, int groups);

/// One linear network per group, by least squares: fits the difference between the original and the corrected field
/// from neighbourhoods of `reach`. At most `work` multiplications and additions are spent on sums: if all elements need
/// more, every n-th is taken.
template <class T>
EnhancerStage fit_linear_stage(std::span<const T> original, const Correction<T>& correction, const FieldShape& shape,
                               int reach, int groups, double work);

}  // namespace cambium::lowp
