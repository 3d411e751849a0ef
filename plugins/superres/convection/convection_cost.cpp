#include "plugins/superres/convection/convection_cost.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "core/base/error.hpp"
#include "plugins/superres/convection/row_share.hpp"
#include "plugins/superres/convection/rows.hpp"

namespace cambium::superres {

namespace {

constexpr double word = 8.0, solutions = Stepper::stage_count;
constexpr double between_lengths = 5.0, between_averages = 10.0;  ///< steps, as in Convection

/// Numbers in one row of a slab of which all ranks must know something, of one stage: those of the Poisson equation's
/// modes (two parts each) and of what diffuses.
struct Ends {
  double poisson, diffusion;
  double row() const { return poisson + diffusion; }
};

/// Levels on which so many ranks join, two groups at a time.
double joins(int ranks) { return std::bit_width(static_cast<unsigned>(ranks) - 1u); }

/// Numbers that a join keeps for each matrix of the interfaces.
constexpr double factors = 7.0;

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
  const double m = std::ceil(static_cast<double>(nz) / ranks), n = nx;
  const Ends ends{2.0 * half, static_cast<double>(carried) * padded(nx)};
  StepCost out;
  out.parts = fmt::format("slabs of {:.0f} rows", m);
  out.items = m * nx;
  // Explicit terms, two sweeps of each tridiagonal system, transforms there and back, divergence and correction; and on
  // several ranks the joins of slabs: two rows of each group, and those of this rank.
  const double levels = joins(ranks), joined = levels * 6.0 * ends.row(), several = ranks > 1 ? 1.0 : 0.0;
  out.operations = solutions * (m * n * (60.0 * carried + 40.0 + 5.0 * std::log2(length) * length / n) + 2.0 * joined);
  out.moved = word * solutions * (m * n * (8.0 * carried + 14.0) + joined);
  out.repeated = word * solutions * joined;
  const double rows = m + 2.0;
  out.memory = word * (rows * pitch * (fields_ + 2.0 * carried + 1.0) + m * padded(length) +
                       rows * (2.0 * half + 16.0) + m * half * (ranks > 2 ? 2.0 : 1.0) +
                       (periodic_ ? 0.0 : rows * padded(length)) + several * (8.0 * fields_ * pitch));
  // Three lengths of diffusion and the Poisson equation, each with the ends of three groups and two rows, and the
  // latter with factors of its own for every mode.
  out.memory +=
      word * (several * 8.0 * (solutions * ends.diffusion + ends.poisson) + levels * factors * 0.5 * ends.poisson);
  if (ranks == 1) return out;
  const double neighbours = ranks > 2 ? 2.0 : 1.0;
  const auto halo = [&](const char* name, double fields, double behind) {
    const double bytes = solutions * neighbours * fields * pitch * word;
    out.messages.push_back({name, Pattern::neighbours, solutions, solutions * neighbours, bytes, bytes, 1, behind});
  };
  halo("rows of all fields", fields_, 0.3);
  halo("rows of the pressure", 1.0, 0.1);
  // In two parts each, which wait together: two messages a round. A group sends both of its outer rows, but none at a
  // plate, so that the busiest rank sends two on all levels but the last. It receives one less again, or lies at a
  // plate, and has one neighbour less.
  const double row = solutions * ends.row() * word, beside = solutions * (fields_ + 1.0) * pitch * word;
  const double given = (2.0 * levels - 1.0) * row, joins_made = 2.0 * solutions * levels;
  const double taken = ranks > 2 ? std::max(given - row, given - beside) : given;
  out.messages.push_back({"ends of slabs", Pattern::neighbours, joins_made, 2.0 * joins_made, given, taken, 1, 0.2});
  const double lengths = solutions * 2.0 / between_lengths * levels, coefficients = lengths * 4.0 * carried * word;
  out.messages.push_back(
      {"a new length of the step", Pattern::neighbours, lengths, lengths, coefficients, coefficients});
  const double sums = word * (1.0 / between_lengths + 9.0 / between_averages);
  out.messages.push_back(
      {"Courant number, averages", Pattern::reduce, 1.0 / between_lengths + 1.0 / between_averages, 0.0, sums, sums});
  return out;
}

}  // namespace cambium::superres
