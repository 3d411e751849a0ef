#pragma once
#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "plugins/md/nep/angular_terms.hpp"
#include "plugins/md/nep/harmonics.hpp"
#include "plugins/md/nep/near_atoms.hpp"
#include "plugins/md/nep/nep_file.hpp"
#include "plugins/md/nep/radial_functions.hpp"

namespace cambium::md {

/// Energy of one atom and its gradient with respect to the neighbours' positions: descriptor forward, network,
/// descriptor backward. Lanes of a pack are neighbours of one type. Harmonics to degree L. Memory is reused from atom
/// to atom.
template <class P, int L>
class NepAtom {
 public:
  using Shapes = Harmonics<L>;

  /// model_type: type of the model by type of the deck.
  NepAtom(const NepFile& model, std::vector<int> model_type)
      : m_(model), type_(std::move(model_type)), terms_{model.l_max, model.fourth, model.fifth}, norm_(Shapes::norms()),
        range_(type_.size()), q_(model.dim()), by_q_(model.dim()), sums_(model.angular_functions * Shapes::count),
        weights_(sums_.size()) {}

  /// Energy (eV) of atom i with neighbours j (n entries of its row). `push(row, g, d)` gets the gradient g of the
  /// energy (eV/Å) with respect to the position of each neighbour at distance d, possibly several times.
  template <class Push>
  double operator()(const double* positions, int i, const int* j, int n, double cutoff, Push&& push) {
    descriptor(positions, i, j, n, cutoff);
    const double energy = network();
    radial_gradient(push);
    angular_gradient(push);
    return energy + repulsion(push);
  }

  /// Fills q(), the unscaled descriptor.
  void descriptor(const double* positions, int i, const int* j, int n, double cutoff) {
    own_ = type_[static_cast<int>(positions[4 * static_cast<std::int64_t>(i) + 3])];
    candidates_.find(positions, i, j, n, cutoff, static_cast<int>(type_.size()));
    sort(radial_, m_.rc_radial);
    sort(angular_, m_.rc_angular);
    radial_sums();
    angular_sums();
    for (int k = 0; k < m_.angular_functions; ++k)
      terms_.invariants(sums_.data() + k * Shapes::count, q_.data() + m_.radial_functions + k, m_.angular_functions);
  }
  const std::vector<double>& q() const { return q_; }

 private:
  double range_of(const std::vector<double>& by_type, int deck_type) const {
    return 0.5 * (by_type[own_] + by_type[type_[deck_type]]);
  }

  void sort(NearAtoms<P>& near, const std::vector<double>& by_type) {
    for (std::size_t t = 0; t < range_.size(); ++t) range_[t] = range_of(by_type, static_cast<int>(t));
    candidates_.sort_into(near, range_);
  }

  /// Calls f(pack number, first row, radial cut-off, coefficients) for every pack of neighbours.
  template <class F>
  void packs(const NearAtoms<P>& near, const std::vector<double>& cutoffs, const std::vector<double>& c, int per_pair,
             F&& f) {
    for (const auto& group : near.groups) {
      const double* own = c.data() + (own_ * m_.types() + type_[group.type]) * per_pair;
      const double range = range_of(cutoffs, group.type);
      for (int k = group.first; k < group.last; k += P::width) f(k / P::width, k, range, own);
    }
  }

  void radial_sums() {
    const int count = m_.radial_functions;
    radial_slope_.resize(static_cast<std::size_t>(count) * radial_.size() / P::width);
    total_.assign(count, P(0.0));
    value_.resize(count);
    const RadialFunctions functions{count, m_.radial_basis};
    packs(radial_, m_.rc_radial, m_.radial, count * m_.radial_basis, [&](int pack, int k, double range, auto* c) {
      functions(P::load(radial_.r.data() + k), range, c, value_.data(), radial_slope_.data() + pack * count);
      for (int n = 0; n < count; ++n) total_[n] += value_[n];
    });
    for (int n = 0; n < count; ++n) q_[n] = sum(total_[n]);
  }

  typename Shapes::template Parts<P> shapes(int k, P& ux, P& uy, P& uz, P& inverse_r) const {
    inverse_r = reciprocal(P::load(angular_.r.data() + k));
    ux = P::load(angular_.x.data() + k) * inverse_r;
    uy = P::load(angular_.y.data() + k) * inverse_r;
    uz = P::load(angular_.z.data() + k) * inverse_r;
    return {ux, uy, uz};
  }

  void angular_sums() {
    const int count = m_.angular_functions;
    const std::size_t packs_of_all = angular_.size() / P::width;
    angular_value_.resize(count * packs_of_all);
    angular_slope_.resize(count * packs_of_all);
    total_.assign(sums_.size(), P(0.0));
    const RadialFunctions functions{count, m_.angular_basis};
    packs(angular_, m_.rc_angular, m_.angular, count * m_.angular_basis, [&](int pack, int k, double range, auto* c) {
      P* const g = angular_value_.data() + pack * count;
      functions(P::load(angular_.r.data() + k), range, c, g, angular_slope_.data() + pack * count);
      P ux, uy, uz, inverse_r, y[Shapes::count];
      Shapes::values(shapes(k, ux, uy, uz, inverse_r), y);
      for (int n = 0; n < count; ++n)
        for (int s = 0; s < Shapes::count; ++s)
          total_[n * Shapes::count + s] = fma(g[n], y[s], total_[n * Shapes::count + s]);
    });
    for (std::size_t s = 0; s < sums_.size(); ++s) sums_[s] = norm_[s % Shapes::count] * sum(total_[s]);
  }

  /// Returns the energy; by_q_ becomes its gradient with respect to the unscaled descriptor.
  double network() {
    const auto& net = m_.networks[own_];
    const int dim = m_.dim();
    std::fill(by_q_.begin(), by_q_.end(), 0.0);
    for (int d = 0; d < dim; ++d) q_[d] *= m_.scale[d];
    double energy = -net.bias;
    for (int n = 0; n < m_.neurons; ++n) {
      const double* w = net.w0.data() + n * dim;
      double in = -net.b0[n];
      for (int d = 0; d < dim; ++d) in += w[d] * q_[d];
      const double t = std::tanh(in), slope = net.w1[n] * (1.0 - t * t);
      energy += net.w1[n] * t;
      for (int d = 0; d < dim; ++d) by_q_[d] += slope * w[d];
    }
    for (int d = 0; d < dim; ++d) by_q_[d] *= m_.scale[d];
    return energy;
  }

  template <class Push>
  void give(const NearAtoms<P>& near, int k, P gx, P gy, P gz, Push&& push) const {
    double lanes[3][P::width];
    gx.store(lanes[0]);
    gy.store(lanes[1]);
    gz.store(lanes[2]);
    for (int lane = 0; lane < P::width; ++lane) {
      if (near.row[k + lane] < 0) return;  // the rest of the pack is padding
      const double g[3] = {lanes[0][lane], lanes[1][lane], lanes[2][lane]};
      const double d[3] = {near.x[k + lane], near.y[k + lane], near.z[k + lane]};
      push(near.row[k + lane], g, d);
    }
  }

  template <class Push>
  void radial_gradient(Push&& push) {
    const int count = m_.radial_functions;
    for (int k = 0; k < radial_.size(); k += P::width) {
      P slope = 0.0;
      for (int n = 0; n < count; ++n) slope = fma(P(by_q_[n]), radial_slope_[k / P::width * count + n], slope);
      slope *= reciprocal(P::load(radial_.r.data() + k));
      give(radial_, k, slope * P::load(radial_.x.data() + k), slope * P::load(radial_.y.data() + k),
           slope * P::load(radial_.z.data() + k), push);
    }
  }

  template <class Push>
  void angular_gradient(Push&& push) {
    const int count = m_.angular_functions;
    std::fill(weights_.begin(), weights_.end(), 0.0);
    for (int n = 0; n < count; ++n)
      terms_.add_gradient(sums_.data() + n * Shapes::count, by_q_.data() + m_.radial_functions + n, count,
                          weights_.data() + n * Shapes::count);
    for (std::size_t s = 0; s < weights_.size(); ++s) weights_[s] *= norm_[s % Shapes::count];
    for (int k = 0; k < angular_.size(); k += P::width) {
      const P *const g = angular_value_.data() + k / P::width * count, *const slope =
                                                                           angular_slope_.data() + k / P::width * count;
      P ux, uy, uz, inverse_r, y[Shapes::count], h[Shapes::count], t[3], along = 0.0;
      const auto parts = shapes(k, ux, uy, uz, inverse_r);
      Shapes::values(parts, y);
      for (int s = 0; s < Shapes::count; ++s) {
        P by_value = 0.0, by_slope = 0.0;
        for (int n = 0; n < count; ++n) {
          const P w = weights_[n * Shapes::count + s];
          by_value = fma(g[n], w, by_value);
          by_slope = fma(slope[n], w, by_slope);
        }
        h[s] = by_value;
        along = fma(by_slope, y[s], along);
      }
      Shapes::gradient(parts, h, t);
      along -= inverse_r * fma(t[0], ux, fma(t[1], uy, t[2] * uz));  // only motion across the distance rotates it
      give(angular_, k, fma(along, ux, t[0] * inverse_r), fma(along, uy, t[1] * inverse_r),
           fma(along, uz, t[2] * inverse_r), push);
    }
  }

  /// Half of each pair energy belongs to this atom.
  template <class Push>
  double repulsion(Push&& push) {
    if (m_.repulsion.empty()) return 0.0;
    double energy = 0.0;
    for (int k = 0; k < candidates_.count; ++k) {
      const auto& pair = m_.repulsion[own_ * m_.types() + type_[static_cast<int>(candidates_.type[k])]];
      const double r = std::sqrt(candidates_.r2[k]);
      if (r >= pair.outer) continue;
      double phi = 0.0, slope = 0.0;
      for (int e = 0; e < 4; ++e) {
        const double rate = pair.rate[e] * pair.inverse_a, term = pair.share[e] * std::exp(-rate * r);
        phi += term;
        slope -= rate * term;
      }
      double value = pair.charges * phi / r, by_r = pair.charges * (slope - phi / r) / r;
      if (r > pair.inner) {
        const double per = constants::pi / (pair.outer - pair.inner), x = per * (r - pair.inner);
        const double fade = 0.5 + 0.5 * std::cos(x), fade_slope = -0.5 * per * std::sin(x);
        by_r = by_r * fade + value * fade_slope;
        value *= fade;
      }
      energy += 0.5 * value;
      const double d[3] = {candidates_.x[k], candidates_.y[k], candidates_.z[k]};
      const double g[3] = {0.5 * by_r / r * d[0], 0.5 * by_r / r * d[1], 0.5 * by_r / r * d[2]};
      push(candidates_.row[k], g, d);
    }
    return energy;
  }

  const NepFile& m_;
  std::vector<int> type_;
  AngularTerms terms_;
  std::array<double, Shapes::count> norm_;
  int own_ = 0;  ///< model type of the atom
  Candidates<P> candidates_;
  NearAtoms<P> radial_, angular_;
  std::vector<double> range_, q_, by_q_, sums_, weights_;
  std::vector<P> radial_slope_, angular_value_, angular_slope_, total_, value_;
};

}  // namespace cambium::md
