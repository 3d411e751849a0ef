#include "plugins/pretrain/features/labels.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/base/error.hpp"
#include "core/numerics/symmetric_eigen.hpp"
#include "plugins/pretrain/augment/streams.hpp"
#include "plugins/pretrain/features/similar.hpp"

namespace cambium::pretrain {

static std::int64_t count_of(std::span<const std::int64_t> classes) {
  return *std::max_element(classes.begin(), classes.end()) + 1;
}

std::vector<std::int64_t> nearest_classes(const Matrix& known, std::span<const std::int64_t> classes,
                                          const Matrix& queries, std::int64_t neighbours) {
  constexpr double sharpness = 0.07;
  std::vector<std::int64_t> out(static_cast<std::size_t>(queries.rows));
  for_each_query(known, queries, 0, queries.rows, [&](std::int64_t query, std::span<const double> similar) {
    std::vector<double> votes(static_cast<std::size_t>(count_of(classes)), 0.0);
    for (const auto k : largest(similar, neighbours))
      votes[static_cast<std::size_t>(classes[static_cast<std::size_t>(k)])] +=
          std::exp((similar[static_cast<std::size_t>(k)] - 1.0) / sharpness);
    out[static_cast<std::size_t>(query)] = std::max_element(votes.begin(), votes.end()) - votes.begin();
  });
  return out;
}

/// Weights of the scaled rows by the smaller of the two normal equations, through the eigenvectors of its matrix.
static Matrix ridge_weights(const Matrix& x, const Matrix& targets, double ridge) {
  const bool by_rows = x.rows < x.columns;
  Matrix gram = by_rows ? product_with_transposed(x, x) : product_of_transposed(x, x);
  std::vector<double> values(static_cast<std::size_t>(gram.rows));
  symmetric_eigenvectors(static_cast<int>(gram.rows), gram.values.data(), values.data());
  Matrix side = product(gram, by_rows ? targets : product_of_transposed(x, targets));
  for (std::int64_t k = 0; k < side.rows; ++k)
    for (double& value : side.row(k)) value /= std::max(0.0, values[static_cast<std::size_t>(k)]) + ridge;
  const Matrix solved = product_of_transposed(gram, side);
  return by_rows ? product_of_transposed(x, solved) : solved;
}

std::vector<std::int64_t> linear_classes(const Matrix& known, std::span<const std::int64_t> classes,
                                         const Matrix& queries, double ridge) {
  const auto count = count_of(classes);
  Matrix targets(known.rows, count);
  for (std::int64_t k = 0; k < known.rows; ++k) targets(k, classes[static_cast<std::size_t>(k)]) = 1.0;
  const auto mean = column_means(targets);
  const Matrix weights =
      ridge_weights(standardised(known, known), minus(targets, mean), ridge * static_cast<double>(known.rows));
  const Matrix scores = product(standardised(queries, known), weights);
  std::vector<std::int64_t> out;
  for (std::int64_t k = 0; k < scores.rows; ++k) {
    std::int64_t best = 0;
    const auto score = [&](std::int64_t c) { return scores(k, c) + mean[static_cast<std::size_t>(c)]; };
    for (std::int64_t c = 1; c < count; ++c)
      if (score(c) > score(best)) best = c;
    out.push_back(best);
  }
  return out;
}

double share_right(std::span<const std::int64_t> found, std::span<const std::int64_t> truth) {
  std::int64_t right = 0;
  for (std::size_t k = 0; k < truth.size(); ++k) right += found[k] == truth[k];
  return static_cast<double>(right) / static_cast<double>(truth.size());
}

std::vector<std::int64_t> few_of_each(std::span<const std::int64_t> classes, std::int64_t per_class, std::uint64_t seed,
                                      std::int64_t draw) {
  std::vector<std::vector<std::pair<double, std::int64_t>>> keys(static_cast<std::size_t>(count_of(classes)));
  for (std::size_t k = 0; k < classes.size(); ++k)
    keys[static_cast<std::size_t>(classes[k])].emplace_back(
        Random4(seed, draws_stream, k, static_cast<std::uint64_t>(draw)).uniform(0), static_cast<std::int64_t>(k));
  std::vector<std::int64_t> out;
  for (std::size_t c = 0; c < keys.size(); ++c) {
    if (keys[c].empty()) continue;
    if (std::ssize(keys[c]) < per_class)
      throw InputError(fmt::format("few is {}, but class {} has {} samples; take fewer", per_class, c, keys[c].size()));
    std::sort(keys[c].begin(), keys[c].end());
    for (std::int64_t k = 0; k < per_class; ++k) out.push_back(keys[c][static_cast<std::size_t>(k)].second);
  }
  return out;
}

}  // namespace cambium::pretrain
