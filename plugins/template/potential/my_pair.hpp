#pragma once
#include <fmt/format.h>

#include "core/base/error.hpp"
#include "core/base/pack_math.hpp"
#include "core/deck/describe.hpp"
#include "core/plugin/pair_potential.hpp"

namespace cambium::my_pair {

/// Morse pair potential, E(r) = D [(1 - exp(-a (r - r0)))^2 - 1] - shift, for r below the cut-off; the shift makes
/// E(cutoff) = 0. P. M. Morse, Phys. Rev. 34, 57 (1929).
struct MyPairForm {
  static constexpr const char* label = "my_pair";

  /// Keys of the deck. This declaration is also their validation, their documentation and their JSON schema.
  struct Params {
    double depth = 0.0;     ///< D, eV
    double width = 0.0;     ///< a, 1/Å
    double distance = 0.0;  ///< r0, Å
    double cutoff = 0.0;    ///< Å

    static void describe(deck::Describe<Params>& d) {
      d("depth", &Params::depth, "depth D of the well").unit("eV").positive();
      d("width", &Params::width, "inverse width a of the well").unit("1/angstrom").positive();
      d("distance", &Params::distance, "distance r0 of least energy").unit("angstrom").positive();
      d("cutoff", &Params::cutoff, "cut-off radius").unit("angstrom").positive();
      d.check([](const Params& p) -> std::string {
        if (p.cutoff > p.distance) return "";
        return fmt::format("cutoff ({} angstrom) must be greater than distance ({} angstrom)", p.cutoff, p.distance);
      });
    }
  };
  Params params;

  /// The formula: energy, and -(dE/dr)/r, at the squared distance r2. P is a SIMD pack of values, so that several pairs
  /// are computed at once.
  template <class P>
  struct Model {
    P depth, width, distance;

    CAMBIUM_FN PairValue<P> operator()(P r2) const {
      const P r = sqrt(r2), x = exp(width * (distance - r));
      return {depth * x * (x - 2.0), 2.0 * depth * width * x * (x - 1.0) * reciprocal(r)};
    }
  };

  /// Coefficients and cut-off of a pair of atom types.
  PairTerms<Model> pair(std::span<const Species> species, int, int) const {
    if (species.size() == 1) return {{params.depth, params.width, params.distance}, params.cutoff};
    throw InputError(
        fmt::format("my_pair has one set of parameters, for one species; the structure has {}", species.size()));
  }
  Truncation truncation() const { return Truncation::shift; }
  double cutoff() const { return params.cutoff; }

  std::string summary() const {
    return fmt::format("my_pair, D = {} eV, a = {} 1/Å, r0 = {} Å, cut-off {} Å (shifted)", params.depth, params.width,
                       params.distance, params.cutoff);
  }
  std::vector<Citation> citations() const {
    return {{"Morse1929",
             "@article{Morse1929,\n  author = {Morse, Philip M.},\n  title = {Diatomic molecules according to the wave "
             "mechanics. {II}. Vibrational levels},\n  journal = {Physical Review},\n  volume = {34},\n  pages = "
             "{57--64},\n  year = {1929},\n  doi = {10.1103/PhysRev.34.57}\n}\n"}};
  }
};

using MyPair = PairPotential<MyPairForm>;

}  // namespace cambium::my_pair
