#include "plugins/superres/convection/convection_cost.hpp"

#include <fmt/format.h>

#include <cmath>

#include "core/base/error.hpp"
#include "plugins/superres/scheme/row_share.hpp"
#include "plugins/superres/scheme/rows.hpp"

namespace cambium::superres {

namespace {

constexpr double word = 8.0, solutions = Stepper::stage_count;
constexpr double between_lengths = 5.0, between_averages = 10.0;  ///< steps, as in Convection

/// Numbers at the ends of a slab that go to all others, of one stage: those of the Poisson equation's modes (two parts
/// each) and of what diffuses.
struct Ends {
  double poisson, diffusion;
  double all() const { return 2.0 * (poisson + diffusion); }  ///< the first row and the last
};

}  // namespace

std::string ConvectionCost::summary() const {
  return fmt::format("{} x {} cells, {} fields", keys_.cells[0], keys_.cells[1], fields_);
}

StepCost ConvectionCost::of(int ranks, double times) const {
  using Pattern = StepMessages::Pattern;
  const double grow = std::sqrt(times);
  const int nx = 2 * static_cast<int>(std::lround(0.5 * keys_.cells[0] * grow));
  const int nz = static_cast<int>(std::lround(keys_.cells[1] * grow));
  require_rows(nz, ranks);
  const int carried = fields_ - 1, pitch = pitch_of(nx), length = periodic_ ? nx : 2 * nx,
            half = padded(length / 2 + 1);
  const double m = std::ceil(static_cast<double>(nz) / ranks), n = nx, p = ranks;
  const Ends ends{2.0 * half, static_cast<double>(carried) * padded(nx)};
  StepCost out;
  out.parts = fmt::format("slabs of {:.0f} rows", m);
  out.items = m * nx;
  // Explicit terms, two sweeps of each tridiagonal system, transforms there and back, divergence and correction; and on
  // several ranks the gains: two rows of 2 P numbers for each end, anew when the step has another length.
  const double gains = 2.0 * ranks * 2.0 * (ends.poisson + ends.diffusion), several = ranks > 1 ? 1.0 : 0.0;
  out.operations =
      solutions * (m * n * (60.0 * carried + 40.0 + 5.0 * std::log2(length) * length / n) + several * 2.0 * gains) +
      several * solutions * 4.0 * carried * 4.0 * (2.0 * p) * (2.0 * p) / between_lengths;
  out.moved = word * solutions * (m * n * (8.0 * carried + 14.0) + several * gains);
  out.repeated = word * solutions * several * gains;
  const double rows = m + 2.0;
  out.memory = word * (rows * pitch * (fields_ + 2.0 * carried + 1.0) + m * padded(length) +
                       rows * (2.0 * half + 16.0) + m * half * (ranks > 2 ? 2.0 : 1.0) +
                       (periodic_ ? 0.0 : rows * padded(length)) + several * (8.0 * fields_ * pitch));
  // Gains of three lengths of diffusion and of the Poisson equation, and two copies of the ends of all ranks each.
  out.memory += word * several * (2.0 * 2.0 * p + 2.0 * p * 2.0) * (solutions * ends.diffusion + ends.poisson);
  if (ranks == 1) return out;
  const double neighbours = ranks > 2 ? 2.0 : 1.0;
  const auto halo = [&](const char* name, double fields, double behind) {
    const double bytes = solutions * neighbours * fields * pitch * word;
    out.messages.push_back({name, Pattern::neighbours, solutions, solutions * neighbours, bytes, bytes, 1, behind});
  };
  halo("rows of all fields", fields_, 0.3);
  halo("rows of the pressure", 1.0, 0.1);
  const double given = solutions * ends.all() * word;
  out.messages.push_back({"ends of slabs", Pattern::gather, 4.0 * solutions, 0.0, given, (p - 1.0) * given, 1, 0.2});
  const double lengths = solutions * 2.0 / between_lengths, coefficients = lengths * 4.0 * carried * word;
  out.messages.push_back(
      {"a new length of the step", Pattern::gather, lengths, 0.0, coefficients, (p - 1.0) * coefficients});
  const double sums = word * (1.0 / between_lengths + 9.0 / between_averages);
  out.messages.push_back(
      {"Courant number, averages", Pattern::reduce, 1.0 / between_lengths + 1.0 / between_averages, 0.0, sums, sums});
  return out;
}

}  // namespace cambium::superres
