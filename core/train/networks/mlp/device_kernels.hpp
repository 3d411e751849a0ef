#pragma once
#include <cstdint>

#include "core/parallel/kokkos.hpp"
#include "core/train/networks/mlp/mlp.hpp"

namespace cambium::train {

// Kernels of a fully connected network. All arrays lie in the device's memory, rows x width, row-major; kernels are in
// the order of ExecSpace and not waited for, but where a number comes back. T is double or float.

/// sums += bias, and where there are `values`: values = activation(sums), or sums themselves where `plain`, rounded to
/// bfloat16 where `round`.
template <class T>
void add_bias_and_activate(Mlp::Activation activation, bool plain, bool round, int rows, int width, const T* bias,
                           T* sums, T* values);

/// by_value *= slope of the activation, for n numbers.
template <class T>
void times_slope(Mlp::Activation activation, std::int64_t n, const T* sums, const T* values, T* by_value);

/// to = from in bfloat16; both may be one array.
template <class T>
void round_to_bfloat16(std::int64_t n, const T* from, T* to);

/// Sum over rows of the mean over outputs of (y - target)^2; by_output becomes its derivative times `weight`.
template <class T>
double squared_error(int rows, int width, const T* y, const T* target, double weight, T* by_output);

/// Sum over rows of the cross entropy of the softmax of y, in float64, with the smoothed label as in mlp_loss.cpp;
/// `labels` has a class for each row, `of_row` room for a number. A row with not-a-number makes the sum one.
template <class T>
double cross_entropy(int rows, int width, const T* y, const T* labels, double smoothing, double weight, T* by_output,
                     double* of_row);

}  // namespace cambium::train
