#include "plugins/relate/tasks/pair_baselines.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "core/numerics/gemm.hpp"
#include "plugins/relate/chemistry/similarity.hpp"

namespace cambium::relate {

namespace {

std::vector<double> similarity_of(const Side& side, std::span<const int> lengths) {
  auto out = side.similarity.empty() ? text_similarity(side.text, lengths) : side.similarity;
  normalise_similarity(out, side.size());
  return out;
}

/// Weights of neighbours: the eighth power if a similarity is among the `nearest` of its row.
std::vector<double> neighbour_weights(const std::vector<double>& similarity, std::int64_t n, int nearest) {
  std::vector<double> out(similarity.size(), 0.0), row;
  for (std::int64_t i = 0; i < n; ++i) {
    const auto from = similarity.begin() + i * n;
    row.assign(from, from + n);
    row[i] = 0.0;
    const auto kept = std::min<std::int64_t>(nearest, n) - 1;
    auto sorted = row;
    std::nth_element(sorted.begin(), sorted.begin() + kept, sorted.end(), std::greater<>());
    const double least = sorted[kept];
    for (std::int64_t j = 0; j < n; ++j)
      if (const double s = row[j]; s >= least) out[i * n + j] = std::pow(s, 8.0);
  }
  return out;
}

/// Residual of the base at training pairs, 0 elsewhere.
std::vector<double> left_over(const PairMatrices& m, const std::vector<double>& base) {
  std::vector<double> out(base.size(), 0.0);
  for (std::size_t k = 0; k < out.size(); ++k)
    if (m.known[k]) out[k] = m.value[k] - base[k];
  return out;
}

}  // namespace

PairMatrices matrices_of(const PairTable& table, const std::vector<Role>& roles) {
  PairMatrices out;
  out.compounds = table.compounds.size();
  out.targets = table.targets.size();
  const auto size = static_cast<std::size_t>(out.compounds * out.targets);
  out.value.assign(size, 0.0);
  out.known.assign(size, 0);
  std::vector<double> count(size, 0.0);
  for (std::size_t k = 0; k < roles.size(); ++k) {
    if (roles[k] == Role::test) continue;
    const auto& entry = table.entries[k];
    const auto at = static_cast<std::size_t>(entry.compound * out.targets + entry.target);
    out.value[at] += entry.value;
    count[at] += 1.0;
    out.known[at] = 1;
  }
  for (std::size_t k = 0; k < size; ++k)
    if (out.known[k]) out.value[k] /= count[k];
  static constexpr int of_smiles[] = {3, 4}, of_sequences[] = {3};
  out.compound_similarity = similarity_of(table.compounds, of_smiles);
  out.target_similarity = similarity_of(table.targets, of_sequences);
  return out;
}

std::vector<double> additive_means(const PairMatrices& m) {
  constexpr int turns = 30;
  constexpr double shrinkage = 3.0;
  const auto rows = static_cast<std::size_t>(m.compounds), columns = static_cast<std::size_t>(m.targets);
  double mean = 0.0, count = 0.0;
  for (std::size_t k = 0; k < m.value.size(); ++k)
    if (m.known[k]) mean += m.value[k], count += 1.0;
  mean /= std::max(count, 1.0);
  std::vector<double> a(rows, 0.0), b(columns, 0.0);
  for (int turn = 0; turn < turns; ++turn) {
    std::vector<double> sum(columns, 0.0), pairs(columns, 0.0);
    for (std::size_t i = 0; i < rows; ++i) {
      double own = 0.0, known = 0.0;
      for (std::size_t j = 0; j < columns; ++j)
        if (m.known[i * columns + j]) own += m.value[i * columns + j] - mean - b[j], known += 1.0;
      a[i] = own / (known + shrinkage);
    }
    for (std::size_t i = 0; i < rows; ++i)
      for (std::size_t j = 0; j < columns; ++j)
        if (m.known[i * columns + j]) sum[j] += m.value[i * columns + j] - mean - a[i], pairs[j] += 1.0;
    for (std::size_t j = 0; j < columns; ++j) b[j] = sum[j] / (pairs[j] + shrinkage);
  }
  std::vector<double> out;
  for (std::size_t i = 0; i < rows; ++i)
    for (std::size_t j = 0; j < columns; ++j) out.push_back(mean + a[i] + b[j]);
  return out;
}

std::vector<PairPrediction> with_neighbours(const PairMatrices& m, const std::vector<double>& base, int nearest) {
  const int rows = static_cast<int>(m.compounds), columns = static_cast<int>(m.targets);
  const auto left = left_over(m, base);
  const std::vector<double> known(m.known.begin(), m.known.end());
  const auto of_compounds = neighbour_weights(m.compound_similarity, m.compounds, nearest);
  const auto of_targets = neighbour_weights(m.target_similarity, m.targets, nearest);
  std::vector<double> sum(base.size()), weight(base.size());
  PairPrediction first{fmt::format("means + {} nearest compounds", nearest), base},
      second{fmt::format("means + {} nearest targets", nearest), base}, both{"means + both", base};
  const auto add = [&](PairPrediction& to) {
    for (std::size_t k = 0; k < base.size(); ++k) to.value[k] += sum[k] / (weight[k] + 1e-3);
  };
  const auto by_compounds = [&](const std::vector<double>& x, std::vector<double>& y) {
    host_gemm<double>(false, false, rows, columns, rows, 1.0, of_compounds.data(), rows, x.data(), columns, 0.0,
                      y.data(), columns);
  };
  const auto by_targets = [&](const std::vector<double>& x, std::vector<double>& y) {
    host_gemm<double>(false, true, rows, columns, columns, 1.0, x.data(), columns, of_targets.data(), columns, 0.0,
                      y.data(), columns);
  };
  by_compounds(left, sum);
  by_compounds(known, weight);
  add(first);
  by_targets(left, sum);
  by_targets(known, weight);
  add(second);
  for (std::size_t k = 0; k < base.size(); ++k) both.value[k] = 0.5 * (first.value[k] + second.value[k]);
  return {first, second, both};
}

std::vector<PairPrediction> pair_baselines(const PairMatrices& m, const std::vector<char>& held) {
  constexpr double most = 4e11;  // operations of a product in the ridge
  const auto base = additive_means(m);
  double mean = 0.0, count = 0.0;
  for (std::size_t k = 0; k < m.value.size(); ++k)
    if (m.known[k]) mean += m.value[k], count += 1.0;
  std::vector<PairPrediction> out{{"constant", std::vector<double>(base.size(), mean / std::max(count, 1.0))},
                                  {"additive means", base}};
  PairMatrices inner = m;
  for (std::size_t k = 0; k < held.size(); ++k)
    if (held[k]) inner.known[k] = 0;
  auto without_held = with_neighbours(inner, additive_means(inner), 5);
  for (auto& each : with_neighbours(m, base, 5)) {
    each.without_held = std::move(without_held[out.size() - 2].value);
    out.push_back(std::move(each));
  }
  const double size = static_cast<double>(m.compounds * m.targets);
  if (size * static_cast<double>(m.compounds + m.targets) > most) return out;
  KroneckerChoice choice;
  auto ridge = kronecker_ridge(m, base, held, choice);
  out.push_back({fmt::format("Kronecker ridge, lambda {:g}, powers {} {}", choice.lambda, choice.compound_power,
                             choice.target_power),
                 std::move(ridge), std::move(choice.without_held)});
  return out;
}

}  // namespace cambium::relate
