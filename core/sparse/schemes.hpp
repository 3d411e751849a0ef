#pragma once
#include <memory>
#include <vector>

#include "core/sparse/divided_product.hpp"

// Implementation classes of make_product().
namespace cambium::sparse {

/// Common members of all layouts.
struct DividedMatrix {
  const Csr<double>& own;
  const Csr<double>* own_transposed;  ///< rows of the transpose; null when the matrix is symmetric
  std::span<const std::int64_t> first;
};

/// Common part of the layouts; columns are not distributed unless a grid does so.
template <class T>
class ProductBase : public DividedProduct<T> {
 public:
  ProductBase(const DividedMatrix& matrix, const LayoutKeys& keys, const Comm& comm)
      : comm_(comm.handle()), keys_(keys), nodes_(matrix.first.back()) {}
  Share share() const override { return share_; }
  std::int64_t nodes() const override { return nodes_; }
  const LayoutKeys& keys() const override { return keys_; }
  const Comm& comm() const override { return comm_; }
  const Words& words() const override { return words_; }
  Rows<const T> whole_rows(std::int64_t, Rows<const T> h) override { return h; }
  void sum_parts(std::span<T>) override {}
  void max_parts(std::span<T>) override {}

 protected:
  Comm comm_;
  LayoutKeys keys_;
  std::int64_t nodes_;
  Share share_;
  Words words_;
};

/// needed_rows.
template <class T>
std::unique_ptr<DividedProduct<T>> make_needed_rows(const DividedMatrix& matrix, const LayoutKeys& keys,
                                                    const Comm& comm);
/// rows, and rows_1_5d, of which rows is the one with a single copy.
template <class T>
std::unique_ptr<DividedProduct<T>> make_staged_rows(const DividedMatrix& matrix, const LayoutKeys& keys,
                                                    const Comm& comm);
/// grid_2d, and grid_3d.
template <class T>
std::unique_ptr<DividedProduct<T>> make_grid(const DividedMatrix& matrix, const LayoutKeys& keys, const Comm& comm);

/// Memory for rows of a dense matrix that grows as needed and is not filled.
template <class T>
class RowBuffer {
 public:
  Rows<T> rows(std::int64_t rows, std::int64_t width) {
    const auto n = static_cast<std::size_t>(rows * width);
    if (numbers_.size() < n) numbers_.resize(n);
    return {numbers_.data(), rows, width, width};
  }

 private:
  std::vector<T> numbers_;
};

/// out = A h, out += A h when `add`; nothing is computed for a matrix without entries.
template <class T>
void multiply_block(const Csr<T>& a, Rows<const T> h, Rows<T> out, bool add) {
  if (a.entries() == 0 && add) return;
  multiply(a, h, out, add);
}

}  // namespace cambium::sparse
