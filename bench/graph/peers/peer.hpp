#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

/// Reference implementations of `cambium bench graph`: libraries that multiply a sparse matrix by a tall dense one,
/// row-major.
namespace cambium::graph::peers {

struct Matrix {
  std::int64_t rows = 0, columns = 0;
  std::vector<std::int64_t> start;
  std::vector<std::int32_t> column;
  std::vector<double> value;
};

/// Values of the matrix in the type that is multiplied.
template <class T>
std::vector<T> values_of(const Matrix& m) {
  return {m.value.begin(), m.value.end()};
}

/// A product that can be repeated: out = A h.
template <class T>
class Product {
 public:
  virtual ~Product() = default;
  virtual void run() = 0;
  virtual const T* out() const = 0;  ///< after run()
};

/// h: columns x width; must outlive the product. std::runtime_error explains why a library does not support it.
template <class T>
std::unique_ptr<Product<T>> graphblas_product(const Matrix& m, const std::vector<T>& h, std::int64_t width);
template <class T>
std::unique_ptr<Product<T>> librsb_product(const Matrix& m, const std::vector<T>& h, std::int64_t width);
template <class T>
std::unique_ptr<Product<T>> kokkos_kernels_product(const Matrix& m, const std::vector<T>& h, std::int64_t width);

std::string graphblas_version();
std::string librsb_version();
std::string kokkos_kernels_version();

}  // namespace cambium::graph::peers
