#include "plugins/superres/decoder/jet_basis.hpp"

#include <algorithm>
#include <set>

#include "core/base/error.hpp"

namespace cambium::superres {
namespace {

void add_lower(const MultiIndex& a, std::set<MultiIndex>& all) {
  if (!all.insert(a).second) return;
  for (int axis = 0; axis < 3; ++axis)
    if (a[axis] > 0) {
      MultiIndex lower = a;
      --lower[axis];
      add_lower(lower, all);
    }
}

void add(std::vector<JetBasis::ChainTerm>& sum, JetBasis::ChainTerm term) {
  std::sort(term.factors.begin(), term.factors.end());
  for (auto& other : sum)
    if (other.order == term.order && other.factors == term.factors) {
      other.coefficient += term.coefficient;
      return;
    }
  sum.push_back(std::move(term));
}

double binomial(int n, int k) {
  double out = 1.0;
  for (int j = 1; j <= k; ++j) out *= static_cast<double>(n - k + j) / j;
  return out;
}

}  // namespace

JetBasis::JetBasis(const std::vector<MultiIndex>& wanted) {
  std::set<MultiIndex> all;
  add_lower({0, 0, 0}, all);
  for (const auto& a : wanted) {
    if (order_of(a) > highest_order) throw InternalError("jets carry derivatives up to the third order");
    add_lower(a, all);
  }
  streams_.assign(all.begin(), all.end());
  std::stable_sort(streams_.begin(), streams_.end(),
                   [](const auto& a, const auto& b) { return order_of(a) < order_of(b); });

  chain_.resize(streams_.size());
  product_.resize(streams_.size());
  chain_[0] = {{0, 1.0, {}}};
  for (int s = 0; s < size(); ++s) {
    const MultiIndex& a = streams_[s];
    for (int r = 0; r < size(); ++r) {
      const MultiIndex& b = streams_[r];
      const MultiIndex rest{a[0] - b[0], a[1] - b[1], a[2] - b[2]};
      if (std::min({rest[0], rest[1], rest[2]}) < 0) continue;
      product_[s].push_back({r, find(rest), binomial(a[0], b[0]) * binomial(a[1], b[1]) * binomial(a[2], b[2])});
    }
    if (s == 0) continue;
    const int axis = a[0] > 0 ? 0 : a[1] > 0 ? 1 : 2;
    MultiIndex lower = a, unit{};
    --lower[axis], unit[axis] = 1;
    for (const auto& term : chain_[find(lower)]) {
      ChainTerm outer{term.order + 1, term.coefficient, term.factors};
      outer.factors.push_back(find(unit));
      add(chain_[s], std::move(outer));
      for (std::size_t k = 0; k < term.factors.size(); ++k) {
        ChainTerm inner = term;
        MultiIndex raised = streams_[term.factors[k]];
        ++raised[axis];
        inner.factors[k] = find(raised);
        add(chain_[s], std::move(inner));
      }
    }
  }
}

int JetBasis::find(const MultiIndex& derivative) const {
  const auto found = std::find(streams_.begin(), streams_.end(), derivative);
  return found == streams_.end() ? -1 : static_cast<int>(found - streams_.begin());
}

}  // namespace cambium::superres
