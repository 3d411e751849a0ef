#include "core/train/optimizers/soap.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/numerics/gemm.hpp"
#include "core/numerics/symmetric_eigen.hpp"
#include "core/train/optimizers/adam.hpp"
#include "core/train/optimizers/for_each_number.hpp"

namespace cambium::train {

std::vector<double> ordered_eigenvectors(int n, std::span<const double> matrix) {
  const auto width = static_cast<std::ptrdiff_t>(n);
  std::vector<double> vectors(matrix.begin(), matrix.end()), values(static_cast<std::size_t>(n));
  symmetric_eigenvectors(n, vectors.data(), values.data());
  for (std::ptrdiff_t low = 0, high = width - 1; low < high; ++low, --high)
    std::swap_ranges(vectors.begin() + low * width, vectors.begin() + (low + 1) * width,
                     vectors.begin() + high * width);
  return vectors;
}

/// Gram-Schmidt, applied twice against loss of orthogonality by cancellation.
static void orthonormalise_rows(std::size_t n, std::span<double> rows) {
  for (std::size_t j = 0; j < n; ++j) {
    const auto row = rows.subspan(j * n, n);
    for (int pass = 0; pass < 2; ++pass) {
      for (std::size_t k = 0; k < j; ++k) {
        const auto other = rows.subspan(k * n, n);
        const double along = std::inner_product(row.begin(), row.end(), other.begin(), 0.0);
        for (std::size_t i = 0; i < n; ++i) row[i] -= along * other[i];
      }
      const double length = std::sqrt(std::inner_product(row.begin(), row.end(), row.begin(), 0.0));
      for (double& x : row) x /= length;
    }
  }
}

void turn_basis(int n, std::span<const double> matrix, std::span<double> basis) {
  const auto size = static_cast<std::size_t>(n);
  double trace = 0.0;
  for (std::size_t i = 0; i < size; ++i) trace += matrix[i * size + i];
  if (!(trace > 0.0)) return;
  constexpr double tiny = 1e-9;
  std::vector<double> turned(basis.begin(), basis.end());
  host_gemm<double>(false, false, n, n, n, 1.0, basis.data(), n, matrix.data(), n, tiny * trace / n, turned.data(), n);
  orthonormalise_rows(size, turned);
  std::copy(turned.begin(), turned.end(), basis.begin());
}

/// Updates the preconditioner with the gradient, and every `refresh` steps the eigenbasis, with vectors as rows.
template <class T>
static void advance_basis(bool wide, int n, std::span<const T> g, double beta, std::int64_t step, std::int64_t refresh,
                          std::span<T> gram, std::span<T> basis) {
  const auto size = static_cast<std::size_t>(n);
  const int m = static_cast<int>(g.size() / size), width = wide ? m : n;
  const auto rest = static_cast<T>(1.0 - beta), keep = static_cast<T>(beta);
  host_gemm<T>(!wide, wide, n, n, m, rest, g.data(), width, g.data(), width, keep, gram.data(), n);
  if (step > 1 && step % refresh != 0) return;
  const std::span<const T> sums = gram.first(size * size), old = basis.first(size * size);
  const std::vector<double> matrix(sums.begin(), sums.end());
  std::vector<double> vectors(old.begin(), old.end());
  if (step == 1)
    vectors = ordered_eigenvectors(n, matrix);
  else
    turn_basis(n, matrix, vectors);
  std::transform(vectors.begin(), vectors.end(), basis.begin(), [](double x) { return static_cast<T>(x); });
}

/// Q^T x, or Q x if `back`, on the side of length n.
template <class T>
static void rotate(bool wide, bool back, int n, std::span<const T> basis, std::span<const T> x, std::span<T> out) {
  const int m = static_cast<int>(x.size()) / n;
  if (wide)
    host_gemm<T>(back, false, n, m, n, T(1), basis.data(), n, x.data(), m, T(0), out.data(), m);
  else
    host_gemm<T>(false, !back, m, n, n, T(1), x.data(), n, basis.data(), n, T(0), out.data(), n);
}

namespace {

/// Square matrix of one tensor, stored in as many states as needed, starting at `first`.
template <class T>
std::vector<T> loaded(std::span<FlatBuffer> states, std::size_t k, std::size_t first, std::size_t numbers) {
  std::vector<T> out;
  for (std::size_t s = first; out.size() < numbers; ++s) {
    const std::span<const T> from = states[s].values<T>(k);
    const auto part = from.first(std::min(from.size(), numbers - out.size()));
    out.insert(out.end(), part.begin(), part.end());
  }
  return out;
}

template <class T>
void store(std::span<const T> numbers, std::span<FlatBuffer> states, std::size_t k, std::size_t first) {
  for (std::size_t s = first; !numbers.empty(); ++s) {
    const auto to = states[s].values<T>(k);
    const auto part = numbers.first(std::min(to.size(), numbers.size()));
    std::copy(part.begin(), part.end(), to.begin());
    numbers = numbers.subspan(part.size());
  }
}

/// One side of a matrix (rows or columns) with its preconditioner and eigenbasis.
template <class T>
struct Side {
  bool rows;
  int length;
  std::size_t gram_at, basis_at;  ///< first states
  std::vector<T> gram, basis;

  Side(bool of_rows, std::int64_t size, std::size_t first, std::size_t second, const Update& u, std::size_t k)
      : rows(of_rows), length(static_cast<int>(size)), gram_at(first), basis_at(second),
        gram(loaded<T>(u.states, k, first, static_cast<std::size_t>(size * size))),
        basis(loaded<T>(u.states, k, second, static_cast<std::size_t>(size * size))) {}
  void advance(std::span<const T> g, double beta, const Update& u, std::size_t k, std::int64_t refresh) {
    advance_basis<T>(rows, length, g, beta, u.step, refresh, gram, basis);
    store<T>(gram, u.states, k, gram_at);
    store<T>(basis, u.states, k, basis_at);
  }
};

/// Q^T x P, or Q x P^T if `back`, for the rotated sides.
template <class T>
std::vector<T> turned_by(const std::vector<Side<T>>& sides, bool back, std::span<const T> x) {
  std::vector<T> out(x.size()), next;
  rotate<T>(sides[0].rows, back, sides[0].length, sides[0].basis, x, out);
  if (sides.size() == 1) return out;
  next.resize(x.size());
  rotate<T>(sides[1].rows, back, sides[1].length, sides[1].basis, out, next);
  return next;
}

}  // namespace

bool Soap::both_sides(std::int64_t rows, std::int64_t columns) const {
  const auto [shorter, longer] = std::minmax(rows, columns);
  return longer <= params_.longest && longer <= static_cast<std::int64_t>(ratio()) * shorter;
}

template <class T>
void Soap::step_matrix(const Update& u, std::size_t k, TensorKeys keys, std::int64_t rows, std::int64_t columns) {
  const auto w = u.weights.values<T>(k), m = u.states[0].values<T>(k), v = u.states[1].values<T>(k);
  const std::span<const T> g = u.gradients.values<T>(k);
  const auto& p = params_;
  const bool wide = rows <= columns;
  const double shampoo = p.shampoo_beta.value_or(p.betas[1]);
  std::vector<Side<T>> sides{{wide, std::min(rows, columns), 2, 3, u, k}};
  if (both_sides(rows, columns)) sides.emplace_back(!wide, std::max(rows, columns), 4, 4 + ratio(), u, k);
  const auto advance = [&] {
    for (auto& side : sides) side.advance(g, shampoo, u, k, p.refresh);
  };
  if (u.step == 1) advance();
  const T beta1 = static_cast<T>(p.betas[0]), rest1 = static_cast<T>(1.0 - p.betas[0]);
  detail::for_each_number(g.size(), [&](std::size_t i) { m[i] = std::fma(beta1, m[i], rest1 * g[i]); });
  auto turned = turned_by<T>(sides, false, g);
  auto mean = turned_by<T>(sides, false, m);
  const auto t = static_cast<double>(u.step);
  const T beta2 = static_cast<T>(p.betas[1]), rest2 = static_cast<T>(1.0 - p.betas[1]), eps = static_cast<T>(p.eps);
  const T root = static_cast<T>(1.0 / std::sqrt(1.0 - std::pow(p.betas[1], t)));
  detail::for_each_number(g.size(), [&](std::size_t i) {
    v[i] = std::fma(beta2, v[i], rest2 * turned[i] * turned[i]);
    turned[i] = mean[i] / std::fma(std::sqrt(v[i]), root, eps);
  });
  mean = turned_by<T>(sides, true, turned);
  const double rate = keys.rate * u.rate;
  const T step = static_cast<T>(rate / (1.0 - std::pow(p.betas[0], t)));
  const T keep = static_cast<T>(1.0 - rate * keys.weight_decay);
  detail::for_each_number(w.size(), [&](std::size_t i) { w[i] = std::fma(-step, mean[i], keep * w[i]); });
  if (u.step > 1) advance();
}

template <class T>
void Soap::step_vector(const Update& u, std::size_t k, TensorKeys keys) {
  const auto w = u.weights.values<T>(k), m = u.states[0].values<T>(k), v = u.states[1].values<T>(k);
  const auto g = u.gradients.values<T>(k);
  const AdamParams adam{params_.betas[0], params_.betas[1], params_.eps, 0.0, {}};
  const AdamStep<T> advance(adam, keys.rate * u.rate, u.step, keys.weight_decay, true);
  detail::for_each_number(w.size(), [&](std::size_t i) { w[i] = advance(w[i], g[i], m[i], v[i]); });
}

void Soap::step(const Update& u) {
  detail::for_each_tensor(u.weights, params_.groups, params_.weight_decay,
                          [&]<class T>(std::size_t k, TensorKeys keys) {
                            const auto& tensor = u.weights.layout().tensors()[k];
                            const auto& shape = tensor.info.shape;
                            const std::int64_t rows = shape.empty() ? 1 : shape[0], columns = tensor.elements / rows;
                            if (shape.size() > 1 && std::min(rows, columns) <= params_.longest)
                              step_matrix<T>(u, k, keys, rows, columns);
                            else
                              step_vector<T>(u, k, keys);
                          });
}

std::vector<Citation> Soap::citations() const {
  return {{"vyas2024soap", R"(@article{vyas2024soap,
  author = {Vyas, Nikhil and Morwani, Depen and Zhao, Rosie and Kwun, Mujin and Shapira, Itai and Brandfonbrener, David and Janson, Lucas and Kakade, Sham},
  title = {{SOAP}: Improving and Stabilizing {Shampoo} using {Adam}},
  journal = {arXiv:2409.11321},
  year = {2024}
})"}};
}

}  // namespace cambium::train
