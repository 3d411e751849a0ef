#pragma once
#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "core/base/pack_math.hpp"
#include "core/plugin/pair_potential.hpp"

namespace cambium::md {

/// A pair form as plugins/template/potential has it, with the least that a form needs: what a plugin outside the tree
/// runs. `Formula` has Params, with a cut-off (Å), the Model, and coefficients(params).
template <class Formula>
struct OutsideForm {
  static constexpr const char* label = "outside_form";
  using Params = typename Formula::Params;
  template <class P>
  using Model = typename Formula::template Model<P>;
  Params params;

  PairTerms<Model> pair(std::span<const Species>, int, int) const {
    return {Formula::coefficients(params), params.cutoff};
  }
  Truncation truncation() const { return Truncation::shift; }
  double cutoff() const { return params.cutoff; }
  const std::optional<PairTableParams>& table() const requires requires { params.table; }
  { return params.table; }
  std::string summary() const { return label; }
  std::vector<Citation> citations() const { return {}; }
};

/// The template's: P. M. Morse, Phys. Rev. 34, 57 (1929).
struct MorseFormula {
  struct Params {
    double depth = 0.0;     ///< D, eV
    double width = 0.0;     ///< a, 1/Å
    double distance = 0.0;  ///< r0, Å
    double cutoff = 0.0;    ///< Å
    std::optional<PairTableParams> table;
  };
  template <class P>
  struct Model {
    P depth, width, distance;

    CAMBIUM_FN PairValue<P> operator()(P r2) const {
      const P r = sqrt(r2), x = exp(width * (distance - r));
      return {depth * x * (x - 2.0), 2.0 * depth * width * x * (x - 1.0) * reciprocal(r)};
    }
  };
  static Model<double> coefficients(const Params& p) { return {p.depth, p.width, p.distance}; }
};

/// Lennard-Jones, written a second time.
struct TwelveSixFormula {
  struct Params {
    double epsilon = 0.0;  ///< eV
    double sigma = 0.0;    ///< Å
    double cutoff = 0.0;   ///< Å
  };
  template <class P>
  struct Model {
    P c12, c6;

    CAMBIUM_FN PairValue<P> operator()(P r2) const {
      const P s2 = reciprocal(r2), s6 = s2 * s2 * s2;
      return {s6 * (c12 * s6 - c6), s6 * s2 * (12.0 * c12 * s6 - 6.0 * c6)};
    }
  };
  static Model<double> coefficients(const Params& p) {
    const double a = 4.0 * p.epsilon * std::pow(p.sigma, 6);
    return {a * std::pow(p.sigma, 6), a};
  }
};

}  // namespace cambium::md
