#pragma once
#include <vector>

namespace cambium::deepmd {

/// Inputs of the network for a batch's pairs, row by row (see Batch): the normalised environment c (four values), the
/// input x of the embedding network, their tangents along the direction of a loss's gradient, and the derivatives of
/// the energy with respect to them.
template <class T>
struct PairRows {
  std::vector<T> c, c_dot, c_bar;
  std::vector<T> x, x_dot, x_bar;

  void grow(std::size_t rows) {
    for (auto* values : {&c, &c_dot, &c_bar}) grow_to(*values, 4 * rows);
    for (auto* values : {&x, &x_dot, &x_bar}) grow_to(*values, rows);
  }
  const T* c_of(int row) const { return &c[4 * static_cast<std::size_t>(row)]; }
  const T* c_dot_of(int row) const { return &c_dot[4 * static_cast<std::size_t>(row)]; }

 private:
  static void grow_to(std::vector<T>& values, std::size_t n) {
    if (values.size() < n) values.resize(n + n / 8);
  }
};

}  // namespace cambium::deepmd
