#include "core/pair/pair_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/base/key_error.hpp"

namespace cambium {

void PairTableParams::describe(deck::Describe<PairTableParams>& d) {
  d("error", &PairTableParams::error,
    "largest error of a force, relative to it or to 1 eV/angstrom, whichever is larger; of an energy likewise, "
    "relative "
    "to it or to 1 eV")
      .positive()
      .def(1e-9);
  d("inner", &PairTableParams::from,
    "inner distance of the table; below it the formula is evaluated; default: a third of the cut-off")
      .formerly("from")
      .unit("angstrom")
      .positive();
}

/// Coefficients of the cubic in t from 0 to `width` with these values and slopes (per interval) at both ends.
static void hermite(double v0, double s0, double v1, double s1, double width, double* c) {
  c[0] = v0;
  c[1] = s0 / width;
  c[2] = (3.0 * (v1 - v0) - 2.0 * s0 - s1) / (width * width);
  c[3] = (2.0 * (v0 - v1) + s0 + s1) / (width * width * width);
}

static double cubic(const double* c, double t) { return ((c[3] * t + c[2]) * t + c[1]) * t + c[0]; }

double PairTable::fill(const Formula& formula, double* energies, double* forces) const {
  const double part = std::ldexp(1.0, -grid_.bits);  // of an octave
  // At r^2; slopes are those over `width`, of the force by fourth-order differences over half of it, of the energy from
  // the force: -f/2.
  struct End {
    PairTable::Value value;
    double force_slope;
  };
  const auto end = [&](double r2, double width) {
    const auto force = [&](double at) { return formula(at).force_over_r; };
    const double d = 0.25 * width, near = force(r2 + d) - force(r2 - d), far = force(r2 + 2 * d) - force(r2 - 2 * d);
    return End{formula(r2), (8.0 * near - far) / (12.0 * d) * width};
  };
  double worst = 0.0;
  for (int k = 0; k < intervals_; ++k) {
    const double begin = grid_.begin(k), width = grid_.begin(k + 1) - begin;
    const End low = end(begin, width), high = end(begin + width, width);
    double *e = energies + 4 * k, *f = forces + 4 * k;
    hermite(low.value.energy, -0.5 * width * low.value.force_over_r, high.value.energy,
            -0.5 * width * high.value.force_over_r, part, e);
    hermite(low.value.force_over_r, low.force_slope, high.value.force_over_r, high.force_slope, part, f);
    for (const double t : {0.25, 0.5, 0.75}) {
      const double r2 = begin + t * width, r = std::sqrt(r2);
      const Value exact = formula(r2);
      const double force = r * exact.force_over_r;
      const double error = std::max(std::abs(cubic(e, t * part) - exact.energy) / std::max(1.0, std::abs(exact.energy)),
                                    std::abs(r * cubic(f, t * part) - force) / std::max(1.0, std::abs(force)));
      if (!(error <= worst)) worst = error;  // also if it is NaN
    }
  }
  return worst;
}

PairTable::PairTable(std::span<const Formula> pairs, double cutoff, const PairTableParams& params)
    : from_(params.from.value_or(cutoff / 3.0)), to_(cutoff) {
  if (!(from_ < cutoff))
    throw KeyError(
        "pair.table.from", "table.inner",
        fmt::format(
            "table: `inner` is {:g} Å and the cut-off {:g} Å; within `inner` the formula is computed, so it must "
            "be smaller",
            from_, cutoff));
  std::vector<double> energies, forces;
  for (grid_.bits = 4;; ++grid_.bits) {
    grid_.first = 0;
    grid_.first = grid_.interval(from_ * from_);
    intervals_ = static_cast<int>(grid_.interval(cutoff * cutoff)) + 1;
    const std::size_t numbers = 4 * static_cast<std::size_t>(intervals_);
    energies.resize(numbers * pairs.size());
    forces.resize(numbers * pairs.size());
    error_ = 0.0;
    for (std::size_t p = 0; p < pairs.size(); ++p) {
      const double error = fill(pairs[p], &energies[numbers * p], &forces[numbers * p]);
      if (!(error <= error_)) error_ = error;
    }
    if (error_ <= params.error) break;
    if (grid_.bits == most_bits || !std::isfinite(error_))
      throw KeyError(
          "pair.table.error", "table.error",
          fmt::format(
              "table: {} intervals from {:g} to {:g} Å are too few for an error of {:.1e}; give a larger `error`",
              intervals_, from_, cutoff, params.error));
  }
  const auto move = [](const std::vector<double>& from, const std::string& name) {
    const View<double*> to(name, from.size());
    const auto host = Kokkos::create_mirror_view(to);
    std::copy(from.begin(), from.end(), host.data());
    Kokkos::deep_copy(to, host);
    return to;
  };
  energies_ = move(energies, "pair_energies");
  forces_ = move(forces, "pair_forces");
}

std::string PairTable::summary() const {
  return fmt::format("from a table over r² of {} intervals, beginning at {:.4g} Å, within {:.1e} of the formula",
                     intervals_, from_, error_);
}

}  // namespace cambium
