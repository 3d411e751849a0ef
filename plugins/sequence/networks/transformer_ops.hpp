#pragma once
#include <cstdint>
#include <span>
#include <vector>

namespace cambium::sequence {

/// Rows of x (rows x width) divided by their root mean square, times `gain`; `inverse` receives 1 / rms of every row.
template <class T>
void rms_norm(const T* x, const T* gain, int rows, int width, T* y, T* inverse);
/// Adds to by_x and by_gain, given the derivative with respect to y.
template <class T>
void rms_norm_backward(const T* x, const T* gain, const T* inverse, const T* by_y, int rows, int width, T* by_x,
                       T* by_gain);

/// y = x Phi(x) in its tanh form, 0.5 x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))).
template <class T>
void gelu(const T* x, std::int64_t n, T* y);
/// by_y becomes by_x.
template <class T>
void gelu_backward(const T* x, std::int64_t n, T* by_y);

/// Operands of products in low precision (values stay in T): bfloat16, to nearest; rows in 8 bits, scaled by their
/// largest magnitude / 127; a matrix as -s, 0, s with s the mean magnitude (BitNet b1.58, Ma et al. 2024).
template <class T>
void round_to_bfloat16(std::span<T> values);
template <class T>
void round_rows_to_int8(std::span<T> values, int width);
template <class T>
void round_to_ternary(std::span<T> values);

}  // namespace cambium::sequence
