#pragma once
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
  std::string summary() const { return {}; }
  std::vector<Citation> citations() const { return {}; }
};

/// The template's: P. M. Morse, Phys. Rev. 34, 57 (1929).
struct MorseFormula {
  struct Params {
    double depth = 0.0;     ///< D, eV
    double width = 0.0;     ///< a, 1/Å
    double distance = 0.0;  ///< r0, Å
    double cutoff = 0.0;    ///< Å
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
    P epsilon, sigma_squared;

    CAMBIUM_FN PairValue<P> operator()(P r2) const {
      const P inverse = reciprocal(r2), s2 = sigma_squared * inverse, s6 = s2 * s2 * s2;
      return {4.0 * epsilon * s6 * (s6 - 1.0), 24.0 * epsilon * s6 * (2.0 * s6 - 1.0) * inverse};
    }
  };
  static Model<double> coefficients(const Params& p) { return {p.epsilon, p.sigma * p.sigma}; }
};

}  // namespace cambium::md
