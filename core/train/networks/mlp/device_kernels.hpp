#pragma once
#include <cstddef>
#include <cstdint>

#include "core/parallel/kokkos.hpp"
#include "core/train/networks/mlp/mlp.hpp"

namespace cambium::train {

// Kernels of a fully connected network. All arrays are in device memory, rows x width, row-major; kernels run in the
// order of ExecSpace, asynchronously. T is double or float.

/// True if the derivative of an activation requires its inputs; otherwise they may be overwritten by its values.
bool slope_needs_sums(Mlp::Activation activation);

/// sums += bias, and if `values` is given: values = activation(sums), or the sums themselves if `plain`, rounded to
/// bfloat16 if `round`. Both may be the same array, which then holds the values.
template <class T>
void add_bias_and_activate(Mlp::Activation activation, bool plain, bool round, int rows, int width, const T* bias,
                           T* sums, T* values);

/// by_value *= derivative of the activation, unless `plain`; its sum over rows is added to by_bias, or overwrites it if
/// not `add`; then by_value is rounded to bfloat16 if `round`. Rows are summed in a fixed order: 32 of them into one of
/// `partial`, which has room for slope_room().
template <class T>
void slope_and_bias(Mlp::Activation activation, bool plain, bool round, bool add, int rows, int width, const T* sums,
                    const T* values, T* by_value, T* partial, T* by_bias);
std::size_t slope_room(int rows, int width);

/// to = from rounded to bfloat16; both may be the same array.
template <class T>
void round_to_bfloat16(std::int64_t n, const T* from, T* to);

/// *sum, in device memory: sum over rows of the mean over outputs of (y - target)^2; by_output is set to its derivative
/// times `weight`.
template <class T>
void squared_error(int rows, int width, const T* y, const T* target, double weight, T* by_output, double* sum);

/// *all, in device memory: sum over rows of the cross entropy of the softmax of y, in float64, with label smoothing as
/// in mlp_loss.cpp; `labels` has one class per row, `of_row` room for one value per row. A NaN in any row makes the sum
/// NaN.
template <class T>
void cross_entropy(int rows, int width, const T* y, const T* labels, double smoothing, double weight, T* by_output,
                   double* of_row, double* all);

}  // namespace cambium::train
