#include "plugins/relate/chemistry/similarity.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <set>
#include <string_view>
#include <unordered_map>

namespace cambium::relate {

std::vector<double> text_similarity(std::span<const std::string> texts, std::span<const int> lengths) {
  const std::size_t n = texts.size();
  // For each fragment, the texts with it and their counts: products only involve texts that share a fragment.
  std::unordered_map<std::string_view, std::vector<std::pair<std::size_t, double>>> owners;
  std::vector<double> norm(n, 0.0);
  for (std::size_t i = 0; i < n; ++i) {
    std::map<std::string_view, int> counts;
    for (const int length : lengths)
      for (std::size_t k = 0; k + static_cast<std::size_t>(length) <= texts[i].size(); ++k)
        ++counts[std::string_view(texts[i]).substr(k, static_cast<std::size_t>(length))];
    for (const auto& [piece, count] : counts) {
      const double weight = std::log1p(count);
      owners[piece].emplace_back(i, weight);
      norm[i] += weight * weight;
    }
  }
  std::set<std::string_view> names;  // gives sums a fixed order
  for (const auto& owner : owners) names.insert(owner.first);
  std::vector<double> out(n * n, 0.0);
  for (const auto piece : names) {
    const auto& list = owners.at(piece);
    for (const auto& [i, a] : list)
      for (const auto& [j, b] : list) out[i * n + j] += a * b;
  }
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < n; ++j)
      if (norm[i] > 0.0 && norm[j] > 0.0) out[i * n + j] /= std::sqrt(norm[i] * norm[j]);
  return out;
}

void normalise_similarity(std::vector<double>& similarity, std::int64_t count) {
  const auto n = static_cast<std::size_t>(count);
  std::vector<double> root(n);
  for (std::size_t i = 0; i < n; ++i) root[i] = std::sqrt(std::max(similarity[i * n + i], 1e-300));
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j <= i; ++j) {
      const double value = 0.5 * (similarity[i * n + j] + similarity[j * n + i]) / (root[i] * root[j]);
      similarity[i * n + j] = similarity[j * n + i] = value;
    }
}

}  // namespace cambium::relate
