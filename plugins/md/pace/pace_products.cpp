#include "plugins/md/pace/pace_products.hpp"

#include <algorithm>
#include <map>
#include <span>

namespace cambium::md {
namespace {

using Factor = PaceProducts::Factor;
/// Coefficients by factors in ascending order.
using PaceTerms = std::map<std::vector<Factor>, std::vector<double>>;

void add_linear(PaceProducts& out, const PaceFile::Function& f) {
  for (std::size_t k = 0; k < out.linear.size(); ++k) {
    if (out.linear[k].type != f.types[0] || out.linear[k].n != f.n[0]) continue;
    for (int p = 0; p < out.densities; ++p) out.linear_c[k * out.densities + p] += f.c[p];
    return;
  }
  out.linear.push_back({f.types[0], f.n[0]});
  out.linear_c.insert(out.linear_c.end(), f.c.begin(), f.c.end());
}

void add_products(PaceTerms& all, const PaceFile::Function& f, int densities) {
  for (int product = 0; product < f.products(); ++product) {
    std::vector<Factor> factors, flipped;
    int order = 0;
    for (int k = 0; k < f.rank; ++k) {
      const int m = f.m[product * f.rank + k];
      order += m;
      factors.push_back({f.types[k], f.n[k], f.l[k], m});
      flipped.push_back({f.types[k], f.n[k], f.l[k], -m});
    }
    std::sort(factors.begin(), factors.end());
    std::sort(flipped.begin(), flipped.end());
    const bool turn = flipped < factors;
    const double sign = turn && order % 2 != 0 ? -1.0 : 1.0;
    auto& c = all[turn ? flipped : factors];
    c.resize(densities, 0.0);
    for (int p = 0; p < densities; ++p) c[p] += sign * f.c[product * densities + p];
  }
}

/// Products with their factors as indices of sums.
struct PaceTerm {
  std::vector<int> factors;
  const std::vector<double>* c;
};

/// Orders the sums by decreasing use, so that more products share their first factors.
std::vector<PaceTerm> pace_terms(const PaceTerms& all, std::vector<Factor>& sums) {
  std::map<Factor, int> uses;
  for (const auto& [factors, c] : all)
    for (const auto& sum : factors) ++uses[sum];
  for (const auto& [sum, count] : uses) sums.push_back(sum);
  std::stable_sort(sums.begin(), sums.end(), [&](const Factor& a, const Factor& b) { return uses[a] > uses[b]; });
  std::map<Factor, int> number;
  for (std::size_t k = 0; k < sums.size(); ++k) number[sums[k]] = static_cast<int>(k);
  std::vector<PaceTerm> out;
  for (const auto& [factors, c] : all) {
    PaceTerm& one = out.emplace_back();
    for (const auto& sum : factors) one.factors.push_back(number[sum]);
    std::sort(one.factors.begin(), one.factors.end());
    one.c = &c;
  }
  std::sort(out.begin(), out.end(), [](const auto& a, const auto& b) { return a.factors < b.factors; });
  return out;
}

/// Fills branch `at` from products that share `depth` factors.
void grow_branch(PaceProducts& out, int at, std::span<const PaceTerm> products, std::size_t depth) {
  out.branches[at].first_end = static_cast<int>(out.end_sum.size());
  std::vector<std::span<const PaceTerm>> groups;
  for (std::size_t k = 0; k < products.size();) {
    if (products[k].factors.size() == depth + 1) {
      out.end_sum.push_back(products[k].factors.back());
      out.end_c.insert(out.end_c.end(), products[k].c->begin(), products[k].c->end());
      ++k;
      continue;
    }
    const std::size_t first = k;
    while (k < products.size() && products[k].factors[depth] == products[first].factors[depth] &&
           products[k].factors.size() > depth + 1)
      ++k;
    groups.push_back(products.subspan(first, k - first));
  }
  out.branches[at].last_end = static_cast<int>(out.end_sum.size());
  const int first = static_cast<int>(out.branches.size());
  out.branches[at].first_branch = first;
  out.branches[at].last_branch = first + static_cast<int>(groups.size());
  for (const auto& group : groups) out.branches.push_back({group[0].factors[depth], 0, 0, 0, 0});
  for (std::size_t k = 0; k < groups.size(); ++k) grow_branch(out, first + static_cast<int>(k), groups[k], depth + 1);
}

}  // namespace

PaceProducts pace_products(const PaceFile& file, int type) {
  PaceProducts out;
  out.densities = file.embeddings[type].densities;
  PaceTerms all;
  for (const auto& f : file.functions[type]) {
    if (f.rank == 1)
      add_linear(out, f);
    else
      add_products(all, f, out.densities);
  }
  std::erase_if(all, [](const auto& one) {
    return std::all_of(one.second.begin(), one.second.end(), [](double c) { return c == 0.0; });
  });
  const auto products = pace_terms(all, out.sums);
  out.branches.push_back({-1, 0, 0, 0, 0});
  grow_branch(out, 0, products, 0);
  return out;
}

}  // namespace cambium::md
