#pragma once
#include <cstddef>
#include <cstdint>

#include "core/parallel/kokkos.hpp"
#include "core/train/networks/mlp/mlp.hpp"

namespace cambium::train {

// Kernels of a fully connected network. All arrays lie in the device's memory, rows x width, row-major; kernels are in
// the order of ExecSpace and none is waited for. T is double or float.

/// True if the slope of an activation needs the sums before it; where it does not, values may take their place.
bool slope_needs_sums(Mlp::Activation activation);

/// sums += bias, and where there are `values`: values = activation(sums), or sums themselves where `plain`, rounded to
/// bfloat16 where `round`. One array may be both: then it holds the values.
template <class T>
void add_bias_and_activate(Mlp::Activation activation, bool plain, bool round, int rows, int width, const T* bias,
                           T* sums, T* values);

/// by_value *= slope of the activation, but where `plain`; the sum over rows of that is added to by_bias, or written to
/// it where not `add`; then by_value is rounded to bfloat16 where `round`. Rows are added in a fixed order: 32 of them
/// to one of `partial`, which has room for slope_room().
template <class T>
void slope_and_bias(Mlp::Activation activation, bool plain, bool round, bool add, int rows, int width, const T* sums,
                    const T* values, T* by_value, T* partial, T* by_bias);
std::size_t slope_room(int rows, int width);

/// to = from in bfloat16; both may be one array.
template <class T>
void round_to_bfloat16(std::int64_t n, const T* from, T* to);

/// *sum, in the device's memory: over rows, of the mean over outputs of (y - target)^2; by_output becomes its
/// derivative times `weight`.
template <class T>
void squared_error(int rows, int width, const T* y, const T* target, double weight, T* by_output, double* sum);

/// *all, in the device's memory: over rows, of the cross entropy of the softmax of y, in float64, with the smoothed
/// label as in mlp_loss.cpp; `labels` has a class for each row, `of_row` room for a number. A row with not-a-number
/// makes the sum one.
template <class T>
void cross_entropy(int rows, int width, const T* y, const T* labels, double smoothing, double weight, T* by_output,
                   double* of_row, double* all);

}  // namespace cambium::train
