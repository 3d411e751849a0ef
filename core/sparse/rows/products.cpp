#include "core/sparse/rows/products.hpp"

#include <fmt/format.h>

#include <cmath>
#include <vector>

#include "core/base/bfloat16.hpp"
#include "core/base/error.hpp"

namespace cambium::sparse {

namespace {

std::size_t at(std::int64_t k) { return static_cast<std::size_t>(k); }

/// In which sums of products of T are added up.
template <class T>
using SumOf = std::conditional_t<std::is_same_v<T, Bf16>, float, T>;

template <class T>
void check(const char* what, const Rows<T>& found, std::int64_t rows, std::int64_t width) {
  if (found.rows == rows && found.width == width && found.stride >= width) return;
  throw InternalError(fmt::format("sparse product: {} is {} x {} (stride {}), not {} x {}", what, found.rows,
                                  found.width, found.stride, rows, width));
}

}  // namespace

template <class T>
void multiply(const Csr<T>& a, std::type_identity_t<Rows<const T>> h, std::type_identity_t<Rows<T>> out, bool add) {
  using Sum = SumOf<T>;
  check("the factor", h, a.columns, h.width);
  check("the product", out, a.rows, h.width);
  std::vector<Sum> sum(at(h.width));
  for (std::int64_t i = 0; i < a.rows; ++i) {
    T* to = out.row(i);
    for (std::int64_t k = 0; k < h.width; ++k) sum[at(k)] = add ? static_cast<Sum>(to[k]) : Sum(0);
    for (auto e = a.start[at(i)]; e < a.start[at(i) + 1]; ++e) {
      const auto value = static_cast<Sum>(a.value[at(e)]);
      const T* from = h.row(a.column[at(e)]);
      for (std::int64_t k = 0; k < h.width; ++k) sum[at(k)] = std::fma(value, static_cast<Sum>(from[k]), sum[at(k)]);
    }
    for (std::int64_t k = 0; k < h.width; ++k) to[k] = static_cast<T>(sum[at(k)]);
  }
}

template <class T>
void multiply_transposed(const Csr<T>& a, std::type_identity_t<Rows<const T>> h, std::type_identity_t<Rows<T>> out,
                         bool add) {
  using Sum = SumOf<T>;
  check("the factor", h, a.rows, h.width);
  check("the product", out, a.columns, h.width);
  std::vector<Sum> sum(at(a.columns * h.width));
  for (std::int64_t j = 0; j < a.columns; ++j)
    for (std::int64_t k = 0; k < h.width; ++k)
      sum[at(j * h.width + k)] = add ? static_cast<Sum>(out.row(j)[k]) : Sum(0);
  for (std::int64_t i = 0; i < a.rows; ++i)
    for (auto e = a.start[at(i)]; e < a.start[at(i) + 1]; ++e) {
      const auto value = static_cast<Sum>(a.value[at(e)]);
      Sum* to = sum.data() + a.column[at(e)] * h.width;
      for (std::int64_t k = 0; k < h.width; ++k) to[k] = std::fma(value, static_cast<Sum>(h.row(i)[k]), to[k]);
    }
  for (std::int64_t j = 0; j < a.columns; ++j)
    for (std::int64_t k = 0; k < h.width; ++k) out.row(j)[k] = static_cast<T>(sum[at(j * h.width + k)]);
}

template <class T>
void sampled_products(const Csr<T>& pattern, std::type_identity_t<Rows<const T>> u,
                      std::type_identity_t<Rows<const T>> v, std::type_identity_t<std::span<T>> out) {
  using Sum = SumOf<T>;
  check("the left factor", u, pattern.rows, u.width);
  check("the right factor", v, pattern.columns, u.width);
  if (std::ssize(out) != pattern.entries()) throw InternalError("sampled products: one number for each entry");
  for (std::int64_t i = 0; i < pattern.rows; ++i)
    for (auto e = pattern.start[at(i)]; e < pattern.start[at(i) + 1]; ++e) {
      Sum sum = 0;
      for (std::int64_t k = 0; k < u.width; ++k)
        sum = std::fma(static_cast<Sum>(u.row(i)[k]), static_cast<Sum>(v.row(pattern.column[at(e)])[k]), sum);
      out[at(e)] = static_cast<T>(sum);
    }
}

#define CAMBIUM_PRODUCTS(T)                                                       \
  template void multiply(const Csr<T>&, Rows<const T>, Rows<T>, bool);            \
  template void multiply_transposed(const Csr<T>&, Rows<const T>, Rows<T>, bool); \
  template void sampled_products(const Csr<T>&, Rows<const T>, Rows<const T>, std::span<T>);
CAMBIUM_PRODUCTS(double)
CAMBIUM_PRODUCTS(float)
CAMBIUM_PRODUCTS(Bf16)
#undef CAMBIUM_PRODUCTS

}  // namespace cambium::sparse
