#include "plugins/submatrix/dftb/filling.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/base/constants.hpp"
#include "plugins/submatrix/matrices/matrix_system.hpp"

namespace cambium::submatrix {

void FillingKeys::describe(deck::Describe<FillingKeys>& d) {
  d("type", &FillingKeys::type, "occupation of states near the Fermi level: fermi, gaussian or methfessel_paxton")
      .options({{"fermi", Kind::fermi}, {"gaussian", Kind::gaussian}, {"methfessel_paxton", Kind::methfessel_paxton}})
      .def(Kind::fermi);
  d("temperature", &FillingKeys::temperature, "electronic temperature, or k_B times it the width of the smearing")
      .unit("K")
      .non_negative()
      .def(0.0);
  d("order", &FillingKeys::order, "order of methfessel_paxton").range(1, 8).def(2);
}

namespace {

constexpr double smallest_kt = 1e-8;  // degenerate levels are equally occupied at 0 K, too

double hermite(int n, double x) {
  double before = 0.0, h = 1.0;
  for (int k = 0; k < n; ++k) {
    const double next = 2.0 * x * h - 2.0 * k * before;
    before = h;
    h = next;
  }
  return h;
}

/// Occupation and entropy of a state x kT above mu.
struct State {
  double f, entropy;
};

State fermi(double x) {
  if (x > 700.0) return {0.0, 0.0};
  if (x < -700.0) return {1.0, 0.0};
  const double f = 1.0 / (1.0 + std::exp(x)), g = 1.0 / (1.0 + std::exp(-x));
  return {f, (f > 0.0 ? -f * std::log(f) : 0.0) + (g > 0.0 ? -g * std::log(g) : 0.0)};
}

/// Only the highest order contributes to the entropy: lower orders cancel.
State smeared(double x, int order) {
  const double e = std::exp(-x * x);
  double a = 1.0 / std::sqrt(constants::pi), f = 0.5 * std::erfc(x);
  for (int l = 1; l <= order; ++l) {
    a *= -0.25 / l;
    f += a * hermite(2 * l - 1, x) * e;
  }
  return {f, 0.5 * a * hermite(2 * order, x) * e};
}

class States {
 public:
  States(const std::vector<double>& e, const std::vector<double>& w, const FillingKeys& keys)
      : e_(e), w_(w), keys_(keys), functions_(e.size() / w.size()),
        kt_(std::max(smallest_kt, boltzmann_hartree * keys.temperature)) {}

  double weight(std::size_t state) const { return w_[state / functions_]; }
  State at(std::size_t state, double mu) const {
    const double x = (e_[state] - mu) / kt_;
    if (keys_.type == FillingKeys::Kind::fermi) return fermi(x);
    return smeared(x, keys_.type == FillingKeys::Kind::gaussian ? 0 : keys_.order);
  }
  double count(double mu) const {
    double sum = 0.0;
    for (std::size_t k = 0; k < e_.size(); ++k) sum += 2.0 * weight(k) * at(k, mu).f;
    return sum;
  }
  /// HOMO and LUMO of this number of electrons.
  void edges(double electrons, Occupied& out) const {
    std::vector<std::size_t> order(e_.size());
    std::iota(order.begin(), order.end(), 0);
    std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return e_[a] < e_[b]; });
    constexpr double rounding = 1e-9, beyond = 1.0;
    double sum = 0.0;
    out.homo = e_[order.front()] - beyond;
    out.lumo = e_[order.back()] + beyond;
    for (const auto k : order) {
      if (sum > electrons - rounding) {
        out.lumo = e_[k];
        return;
      }
      out.homo = e_[k];
      sum += 2.0 * weight(k);
      if (sum > electrons + rounding) {  // partly filled
        out.lumo = e_[k];
        return;
      }
    }
  }
  double mu(double electrons, const Occupied& edges) const {
    const double middle = 0.5 * (edges.homo + edges.lumo);
    if (std::abs(count(middle) - electrons) < 1e-10 * std::max(1.0, electrons)) return middle;
    const auto [first, last] = std::minmax_element(e_.begin(), e_.end());
    double low = *first - 50.0 * kt_ - 1.0, high = *last + 50.0 * kt_ + 1.0;
    for (int k = 0; k < 200; ++k) {
      const double m = 0.5 * (low + high);
      if (m <= low || m >= high) break;
      (count(m) < electrons ? low : high) = m;
    }
    return 0.5 * (low + high);
  }
  double kt() const { return kt_; }

 private:
  const std::vector<double>&e_, &w_;
  const FillingKeys& keys_;
  std::size_t functions_;
  double kt_;
};

}  // namespace

Occupied fill(const std::vector<double>& e, const std::vector<double>& w, double electrons, const FillingKeys& keys) {
  const States states(e, w, keys);
  Occupied out;
  states.edges(electrons, out);
  out.mu = states.mu(electrons, out);
  for (std::size_t k = 0; k < e.size(); ++k) {
    const State s = states.at(k, out.mu);
    out.f.push_back(s.f);
    out.electrons += 2.0 * states.weight(k) * s.f;
    out.band_energy += 2.0 * states.weight(k) * s.f * e[k];
    out.entropy_term -= 2.0 * states.weight(k) * states.kt() * s.entropy;
  }
  out.mu_down = out.mu;
  return out;
}

namespace {

/// Sums over states with two electrons become those of states with one.
Occupied with_one_electron(Occupied both) {
  for (double* sum : {&both.electrons, &both.band_energy, &both.entropy_term}) *sum *= 0.5;
  return both;
}

}  // namespace

Occupied fill(const std::vector<double>& e, const std::vector<double>& w, const ElectronNumbers& electrons,
              const FillingKeys& keys) {
  if (!electrons.polarised) return fill(e, w, electrons.all, keys);
  if (!electrons.unpaired) {
    std::vector<double> twice(w);
    twice.insert(twice.end(), w.begin(), w.end());
    return with_one_electron(fill(e, twice, 2.0 * electrons.all, keys));
  }
  const auto half = e.begin() + std::ssize(e) / 2;
  Occupied out = with_one_electron(fill({e.begin(), half}, w, electrons.all + *electrons.unpaired, keys));
  const Occupied down = with_one_electron(fill({half, e.end()}, w, electrons.all - *electrons.unpaired, keys));
  out.f.insert(out.f.end(), down.f.begin(), down.f.end());
  out.mu_down = down.mu;
  out.electrons += down.electrons;
  out.band_energy += down.band_energy;
  out.entropy_term += down.entropy_term;
  out.homo = std::max(out.homo, down.homo);
  out.lumo = std::min(out.lumo, down.lumo);
  return out;
}

}  // namespace cambium::submatrix
