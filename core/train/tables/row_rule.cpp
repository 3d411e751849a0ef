#include "core/train/tables/row_rule.hpp"

#include <cmath>

#include "core/train/optimizers/split.hpp"

namespace cambium::train {

std::int64_t state_width(TableKeys::Rule rule, std::int64_t width) {
  switch (rule) {
    case TableKeys::Rule::sgd:
      return 0;
    case TableKeys::Rule::adagrad:
    case TableKeys::Rule::split_sgd:
      return width;
    case TableKeys::Rule::adam:
      return width + 2;
  }
  return 0;
}

/// State: m, then v and t.
template <class T>
static void adam_row(const TableKeys& keys, double rate, std::int64_t width, const T* g, T* w, T* state) {
  const T b1 = static_cast<T>(keys.beta1), b2 = static_cast<T>(keys.beta2), epsilon = static_cast<T>(keys.epsilon);
  T& square = state[width];
  T& steps = state[width + 1];
  T sum = 0;
  for (std::int64_t k = 0; k < width; ++k) sum = std::fma(g[k], g[k], sum);
  square = std::fma(b2, square, (T(1) - b2) * (sum / static_cast<T>(width)));
  // float represents integers exactly up to 2^24; by then both corrections are 1.
  if (steps < T(1e7)) steps += T(1);
  const double t = static_cast<double>(steps);
  const T by_mean = static_cast<T>(rate / (1.0 - std::pow(keys.beta1, t)));
  const T root = std::sqrt(square) * static_cast<T>(1.0 / std::sqrt(1.0 - std::pow(keys.beta2, t)));
  const T factor = by_mean / (root + epsilon);
  for (std::int64_t k = 0; k < width; ++k) {
    state[k] = std::fma(b1, state[k], (T(1) - b1) * g[k]);
    w[k] = std::fma(-factor, state[k], w[k]);
  }
}

template <class T>
void update_row(const TableKeys& keys, double rate, std::int64_t width, const T* g, T* w, T* state) {
  const T step = static_cast<T>(rate), epsilon = static_cast<T>(keys.epsilon);
  if (keys.decay > 0.0) {
    const T kept = static_cast<T>(1.0 - rate * keys.decay);
    for (std::int64_t k = 0; k < width; ++k) w[k] *= kept;
  }
  switch (keys.optimizer) {
    case TableKeys::Rule::sgd:
    case TableKeys::Rule::split_sgd:
      for (std::int64_t k = 0; k < width; ++k) w[k] = std::fma(-step, g[k], w[k]);
      return;
    case TableKeys::Rule::adagrad:
      for (std::int64_t k = 0; k < width; ++k) {
        state[k] = std::fma(g[k], g[k], state[k]);
        w[k] = std::fma(-step, g[k] / (std::sqrt(state[k]) + epsilon), w[k]);
      }
      return;
    case TableKeys::Rule::adam:
      return adam_row(keys, rate, width, g, w, state);
  }
}

template void update_row<double>(const TableKeys&, double, std::int64_t, const double*, double*, double*);
template void update_row<float>(const TableKeys&, double, std::int64_t, const float*, float*, float*);

std::vector<Citation> citations_of(TableKeys::Rule rule) {
  if (rule == TableKeys::Rule::split_sgd) return {split_citation};
  if (rule != TableKeys::Rule::adagrad) return {};
  return {{"duchi2011",
           "@article{duchi2011,\n  author = {Duchi, John and Hazan, Elad and Singer, Yoram},\n  title = {Adaptive "
           "Subgradient Methods for Online Learning and Stochastic Optimization},\n  journal = {Journal of Machine "
           "Learning Research},\n  volume = {12},\n  pages = {2121--2159},\n  year = {2011}\n}\n"}};
}

}  // namespace cambium::train
