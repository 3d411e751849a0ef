#include "plugins/superres/convection/convection_cost.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "core/base/error.hpp"
#include "plugins/superres/convection/plane_fft.hpp"
#include "plugins/superres/convection/row_share.hpp"
#include "plugins/superres/convection/rows.hpp"

namespace cambium::superres {

namespace {

constexpr double word = 8.0, solutions = Stepper::stage_count;
constexpr double between_lengths = 5.0, between_averages = 10.0;  ///< steps, as in Convection

/// Values in one row of a slab that are coupled across all ranks, for one stage: those of the Poisson equation's modes
/// (two parts each) and of the diffusing fields.
struct Ends {
  double poisson, diffusion;
  double row() const { return poisson + diffusion; }
};

/// Number of levels on which `ranks` ranks are joined, two groups at a time.
double joins(int ranks) { return std::bit_width(static_cast<unsigned>(ranks) - 1u); }

/// Values stored for each matrix of the interfaces in a join.
constexpr double factors = 7.0;

/// Quantities that determine the messages of a rank.
struct Sizes {
  int ranks, fields, carried, pitch;  ///< values in a stored row
  bool spatial;
  Ends ends;
};

/// Two rows of each rank in equal parts to the ranks that solve for them, and as much back. In two parts each, which
/// wait together.
void add_shares(StepCost& out, const Sizes& s) {
  using Pattern = StepMessages::Pattern;
  const double others = s.ranks - 1.0, exchanges = 2.0 * 2.0 * 2.0 * solutions;
  const double bytes = 4.0 * solutions * s.ends.row() * word * others / s.ranks;
  out.messages.push_back(
      {"ends of slabs, in shares", Pattern::neighbours, exchanges, exchanges * others, bytes, bytes, 1, 0.2});
  const double lengths = solutions * 2.0 / between_lengths, answers = lengths * 4.0 * s.carried * word;
  out.messages.push_back({"a new length of the step", Pattern::gather, lengths, 0.0, answers, answers * others});
}

/// Joins of slabs. In two parts each, which wait together: two messages a round. A group sends both of its outer rows,
/// but none at a plate, so that the busiest rank sends two on all levels but the last. It receives one less, or is at a
/// plate and has one neighbour less.
void add_joins(StepCost& out, const Sizes& s) {
  using Pattern = StepMessages::Pattern;
  const double levels = joins(s.ranks), row = solutions * s.ends.row() * word,
               beside = solutions * (s.fields + 1.0) * s.pitch * word;
  const double given = (2.0 * levels - 1.0) * row, joins_made = 2.0 * solutions * levels;
  const double taken = s.ranks > 2 ? std::max(given - row, given - beside) : given;
  out.messages.push_back({"ends of slabs", Pattern::neighbours, joins_made, 2.0 * joins_made, given, taken, 1, 0.2});
  const double lengths = solutions * 2.0 / between_lengths * levels, coefficients = lengths * 4.0 * s.carried * word;
  out.messages.push_back(
      {"a new length of the step", Pattern::neighbours, lengths, lengths, coefficients, coefficients});
}

void add_messages(StepCost& out, const Sizes& s) {
  using Pattern = StepMessages::Pattern;
  const double neighbours = s.ranks > 2 ? 2.0 : 1.0;
  const auto halo = [&](const char* name, double fields, double behind) {
    const double bytes = solutions * neighbours * fields * s.pitch * word;
    out.messages.push_back({name, Pattern::neighbours, solutions, solutions * neighbours, bytes, bytes, 1, behind});
  };
  halo("rows of all fields", s.fields, 0.3);
  halo("rows of the pressure", 1.0, 0.1);
  if (s.spatial)
    add_shares(out, s);
  else
    add_joins(out, s);
  const double sums = word * (1.0 / between_lengths + 9.0 / between_averages);
  out.messages.push_back(
      {"Courant number, averages", Pattern::reduce, 1.0 / between_lengths + 1.0 / between_averages, 0.0, sums, sums});
}

}  // namespace

std::string ConvectionCost::summary() const {
  return fmt::format("{} cells, {} fields", fmt::join(keys_.cells, " x "), fields_);
}

StepCost ConvectionCost::of(int ranks, double times) const {
  const bool spatial = keys_.spatial();
  const double grow = std::pow(times, spatial ? 1.0 / 3.0 : 0.5);
  const auto even = [grow](int cells) { return 2 * static_cast<int>(std::lround(0.5 * cells * grow)); };
  const int nx = even(keys_.nx()), ny = even(keys_.ny()), nz = static_cast<int>(std::lround(keys_.nz() * grow));
  require_rows(nz, ranks);
  Grid grid;
  grid.nx = nx;
  grid.ny = ny;
  const RowLayout layout = RowLayout::of(grid);
  const int carried = fields_ - 1, pitch = layout.columns(), length = periodic_ ? nx : 2 * nx,
            half = spatial ? PlaneFft::half_of(nx, ny) : padded(length / 2 + 1);
  const double m = std::ceil(static_cast<double>(nz) / ranks), n = static_cast<double>(nx) * layout.lines;
  const Ends ends{2.0 * half, static_cast<double>(carried) * padded(layout.span())};
  StepCost out;
  out.parts = fmt::format("slabs of {:.0f} {}", m, spatial ? "planes" : "rows");
  out.items = m * n;
  // Explicit terms, two sweeps of each tridiagonal system, forward and backward transforms, divergence and correction;
  // and on several ranks the joins of slabs (two rows of each group, and those of this rank), or the column-wise
  // solution.
  const double several = ranks > 1 ? 1.0 : 0.0, levels = spatial ? several : joins(ranks),
               joined = levels * (spatial ? 12.0 : 6.0) * ends.row();
  const double transforms = 5.0 * std::log2(length) * length / nx + (spatial ? 5.0 * std::log2(ny) : 0.0),
               terms = spatial ? 85.0 : 60.0;
  out.operations = solutions * (m * n * (terms * carried + 40.0 + transforms) + 2.0 * joined);
  out.moved = word * solutions * (m * n * (8.0 * carried + 14.0) + joined);
  out.repeated = word * solutions * joined;
  const double rows = m + 2.0, batch = !device_is_host ? m : spatial ? 1.0 : std::min(m, 16.0);
  out.memory =
      word * (rows * pitch * (fields_ + 2.0 * carried + 1.0) + batch * layout.lines * padded(length) +
              rows * (2.0 * half + 16.0) + m * half * (ranks > 2 ? 2.0 : 1.0) +
              (periodic_ ? 0.0 : batch * padded(length)) + 3.0 * carried * pitch + several * (8.0 * fields_ * pitch));
  // Three step lengths of diffusion and the Poisson equation, each with the ends of three groups and two rows, and the
  // latter with its own factors for every mode. The column-wise solution has them for every column.
  const double divided = solutions * ends.diffusion + ends.poisson;
  out.memory +=
      word * (spatial ? several * 16.0 * divided : several * 8.0 * divided + levels * factors * 0.5 * ends.poisson);
  if (ranks == 1) return out;
  add_messages(out, {ranks, fields_, carried, pitch, spatial, ends});
  return out;
}

}  // namespace cambium::superres
