#include "basis.hpp"

#include <algorithm>

namespace kinetic_generate {
namespace {

/// Sum of the exponents that are larger than one (Arnold and Awanou 2011).
int superlinear(const Exponents& e) {
  int sum = 0;
  for (int n : e) sum += n > 1 ? n : 0;
  return sum;
}

int total(const Exponents& e) {
  int sum = 0;
  for (int n : e) sum += n;
  return sum;
}

/// Every vector of `dimensions` exponents up to `highest`, by superlinear degree, then degree.
std::vector<Exponents> all(int dimensions, int highest) {
  std::vector<Exponents> out{{}};
  for (int d = 0; d < dimensions; ++d) {
    std::vector<Exponents> longer;
    for (const auto& e : out)
      for (int n = 0; n <= highest; ++n) {
        longer.push_back(e);
        longer.back().push_back(n);
      }
    out = longer;
  }
  std::stable_sort(out.begin(), out.end(), [](const Exponents& a, const Exponents& b) {
    return superlinear(a) != superlinear(b) ? superlinear(a) < superlinear(b) : total(a) < total(b);
  });
  return out;
}

}  // namespace

Basis::Basis(int cdim_, int vdim_, int order_, bool tensor_)
    : cdim(cdim_), vdim(vdim_), order(order_), tensor(tensor_) {
  const bool hybrid = !tensor && order == 1;
  const int velocity_order = hybrid ? 2 : order;
  auto inside = [&](const Exponents& x, const Exponents& v) {
    if (tensor) return true;
    return hybrid ? superlinear(v) <= 2 : superlinear(x) + superlinear(v) <= order;
  };
  for (const auto& x : all(cdim, order))
    if (inside(x, Exponents(vdim, 0))) conf.push_back(x);
  for (const auto& v : all(vdim, velocity_order)) {
    int n = 0;
    for (const auto& x : conf) n += inside(x, v);
    if (!n) continue;
    first.push_back(group.empty() ? 0 : modes());
    group.push_back(v);
    count.push_back(n);
  }
}

int Basis::find_group(const Exponents& velocity) const {
  const auto at = std::find(group.begin(), group.end(), velocity);
  return at == group.end() ? -1 : static_cast<int>(at - group.begin());
}

int Basis::group_of(int mode) const {
  int g = 0;
  while (mode >= first[g] + count[g]) ++g;
  return g;
}

Exponents Basis::exponents(int mode) const {
  const int g = group_of(mode);
  Exponents e = conf[mode - first[g]];
  e.insert(e.end(), group[g].begin(), group[g].end());
  return e;
}

int Basis::find(const Exponents& e) const {
  const int g = find_group(Exponents(e.begin() + cdim, e.end()));
  if (g < 0) return -1;
  const auto at = std::find(conf.begin(), conf.begin() + count[g], Exponents(e.begin(), e.begin() + cdim));
  return at == conf.begin() + count[g] ? -1 : first[g] + static_cast<int>(at - conf.begin());
}

std::vector<int> Basis::face(int dimension) const {
  std::vector<int> out;
  for (int k = 0; k < modes(); ++k)
    if (exponents(k)[dimension] == 0) out.push_back(k);
  return out;
}

int Basis::highest(int dimension) const {
  int n = 0;
  for (int k = 0; k < modes(); ++k) n = std::max(n, exponents(k)[dimension]);
  return n;
}

std::string Basis::name() const {
  return std::to_string(cdim) + "x" + std::to_string(vdim) + "v_p" + std::to_string(order) + (tensor ? "_tensor" : "");
}

}  // namespace kinetic_generate
