#include "core/train/optimizers/muon.hpp"

#include <algorithm>
#include <functional>
#include <numeric>

#include "core/numerics/gemm.hpp"
#include "core/train/optimizers/adam.hpp"
#include "core/train/optimizers/for_each_number.hpp"

namespace cambium::train {

template <class T>
void orthogonalise(std::span<T> matrix, std::int64_t rows, std::int64_t columns, std::int64_t iterations, double eps) {
  constexpr double a = 3.4445, b = -4.7750, c = 2.0315;
  double square = 0.0;
  for (const T x : matrix) square += static_cast<double>(x) * static_cast<double>(x);
  const T scale = static_cast<T>(1.0 / std::max(std::sqrt(square), eps));
  for (T& x : matrix) x *= scale;
  // Gram matrix of the smaller side: x x^T of wide matrices, x^T x of tall ones.
  const bool tall = rows > columns;
  const int n = static_cast<int>(std::min(rows, columns)), m = static_cast<int>(std::max(rows, columns));
  const auto size = static_cast<std::size_t>(n);
  std::vector<T> gram(size * size), change(size * size), next(matrix.size());
  const int width = static_cast<int>(columns);
  for (std::int64_t k = 0; k < iterations; ++k) {
    host_gemm<T>(tall, !tall, n, n, m, T(1), matrix.data(), width, matrix.data(), width, T(0), gram.data(), n);
    change = gram;
    host_gemm<T>(false, false, n, n, n, static_cast<T>(c), gram.data(), n, gram.data(), n, static_cast<T>(b),
                 change.data(), n);
    std::copy(matrix.begin(), matrix.end(), next.begin());
    if (tall)
      host_gemm<T>(false, false, m, n, n, T(1), matrix.data(), width, change.data(), n, static_cast<T>(a), next.data(),
                   width);
    else
      host_gemm<T>(false, false, n, m, n, T(1), change.data(), n, matrix.data(), width, static_cast<T>(a), next.data(),
                   width);
    std::copy(next.begin(), next.end(), matrix.begin());
  }
}

template void orthogonalise(std::span<float>, std::int64_t, std::int64_t, std::int64_t, double);
template void orthogonalise(std::span<double>, std::int64_t, std::int64_t, std::int64_t, double);

template <class T>
void Muon::step_matrix(const Update& u, std::size_t k, TensorKeys keys) {
  const auto& shape = u.weights.layout().tensors()[k].info.shape;
  const auto w = u.weights.values<T>(k), m = u.states[0].values<T>(k);
  const auto g = u.gradients.values<T>(k);
  const T momentum = static_cast<T>(params_.momentum), rest = static_cast<T>(1.0 - params_.momentum);
  std::vector<T> direction(w.size());
  detail::for_each_number(w.size(), [&](std::size_t i) {
    m[i] = std::fma(momentum, m[i], rest * g[i]);
    direction[i] = params_.nesterov ? std::fma(momentum, m[i], rest * g[i]) : m[i];
  });
  const std::int64_t rows = shape[0], columns = static_cast<std::int64_t>(w.size()) / rows;
  orthogonalise<T>(direction, rows, columns, params_.iterations, params_.eps);
  const double rate = keys.rate * u.rate;
  const double longer = std::max(1.0, static_cast<double>(rows) / static_cast<double>(columns));
  const T step = static_cast<T>(rate * std::sqrt(longer)), keep = static_cast<T>(1.0 - rate * keys.weight_decay);
  detail::for_each_number(w.size(), [&](std::size_t i) { w[i] = std::fma(-step, direction[i], keep * w[i]); });
}

template <class T>
void Muon::step_vector(const Update& u, std::size_t k, TensorKeys keys) {
  const auto w = u.weights.values<T>(k), m = u.states[0].values<T>(k), v = u.states[1].values<T>(k);
  const auto g = u.gradients.values<T>(k);
  constexpr double epsilon = 1e-8;
  const AdamParams adam{params_.betas[0], params_.betas[1], epsilon, 0.0, {}};
  const AdamStep<T> advance(adam, keys.rate * params_.vector_rate * u.rate, u.step, keys.weight_decay, true);
  detail::for_each_number(w.size(), [&](std::size_t i) { w[i] = advance(w[i], g[i], m[i], v[i]); });
}

void Muon::step(const Update& u) {
  detail::for_each_tensor(u.weights, params_.groups, params_.weight_decay,
                          [&]<class T>(std::size_t k, TensorKeys keys) {
                            if (u.weights.layout().tensors()[k].info.shape.size() > 1)
                              step_matrix<T>(u, k, keys);
                            else
                              step_vector<T>(u, k, keys);
                          });
}

std::vector<Citation> Muon::citations() const {
  return {{"jordan2024muon", R"(@misc{jordan2024muon,
  author = {Jordan, Keller and Jin, Yuchen and Boza, Vlado and You, Jiacheng and Cesista, Franz and Newhouse, Laker and Bernstein, Jeremy},
  title = {Muon: An Optimizer for Hidden Layers in Neural Networks},
  howpublished = {https://kellerjordan.github.io/posts/muon/},
  year = {2024}
})"}};
}

}  // namespace cambium::train
