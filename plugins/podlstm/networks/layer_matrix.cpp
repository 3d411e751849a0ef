#include "plugins/podlstm/networks/layer_matrix.hpp"

#include <vector>

#include "core/numerics/dense_layer.hpp"

namespace cambium::podlstm {

namespace {

DenseLayer<float> enter_of(const LayerMatrix& m) { return {m.in, m.rank, m.w}; }
DenseLayer<float> leave_of(const LayerMatrix& m, const float* bias = nullptr) { return {m.rank, m.out, m.leave, bias}; }

/// x enter (rows, rank).
std::vector<float> entered(const LayerMatrix& m, std::int64_t rows, const float* x) {
  std::vector<float> out(rows * m.rank);
  enter_of(m).forward(rows, x, out.data());
  return out;
}

/// by_z leave^T (rows, rank).
std::vector<float> by_entered(const LayerMatrix& m, std::int64_t rows, const float* by_z) {
  std::vector<float> out(rows * m.rank);
  leave_of(m).input_gradient(rows, by_z, out.data());
  return out;
}

}  // namespace

void LayerMatrix::forward(std::int64_t rows, const float* x, const float* b, float* z) const {
  if (rank == 0) return DenseLayer<float>{in, out, w, b}.forward(rows, x, z);
  leave_of(*this, b).forward(rows, entered(*this, rows, x).data(), z);
}

void LayerMatrix::add_product(std::int64_t rows, const float* x, float* z) const {
  if (rank == 0) return DenseLayer<float>{in, out, w}.add_product(rows, x, z);
  leave_of(*this).add_product(rows, entered(*this, rows, x).data(), z);
}

void LayerMatrix::add_input_gradient(std::int64_t rows, const float* by_z, float* by_x) const {
  if (rank == 0) return DenseLayer<float>{in, out, w}.input_gradient(rows, by_z, by_x, true);
  enter_of(*this).input_gradient(rows, by_entered(*this, rows, by_z).data(), by_x, true);
}

void LayerMatrixGradient::add(const LayerMatrix& m, std::int64_t rows, const float* x, const float* by_z) const {
  if (m.rank == 0) return DenseGradient<float>{m.in, m.out, w}.add_weights(rows, x, by_z);
  DenseGradient<float>{m.rank, m.out, leave}.add_weights(rows, entered(m, rows, x).data(), by_z);
  DenseGradient<float>{m.in, m.rank, w}.add_weights(rows, x, by_entered(m, rows, by_z).data());
}

}  // namespace cambium::podlstm
