#include "plugins/submatrix/matrices/ring.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <numeric>

#include "core/base/constants.hpp"
#include "core/base/key_error.hpp"
#include "core/parallel/random.hpp"

namespace cambium::submatrix {

void RingInput::describe(deck::Describe<RingInput>& d) {
  d("atoms", &RingInput::atoms, "number of atoms of the ring, a multiple of four").at_least(4).def(1000);
  d("functions", &RingInput::functions, "number of functions of each atom").range(1, 64).def(4);
  d("gap", &RingInput::gap, "gap between the highest occupied and the lowest empty level; 0: a metal")
      .unit("hartree")
      .non_negative()
      .def(0.2);
  d("hopping", &RingInput::hopping, "mean coupling of neighbours").unit("hartree").positive().def(0.3);
  d("range", &RingInput::range,
    "decay length of couplings to further neighbours in units of two bonds; 0: neighbours alone")
      .range(0.0, 20.0)
      .def(1.0);
  d.check([](const RingInput& r) -> std::string {
    if (r.atoms % 4 != 0)
      return fmt::format("ring.atoms is {}; the gap lies at the edge of the zone: give a multiple of four", r.atoms);
    return {};
  });
}

namespace {

constexpr Stream rotations = stream("submatrix.ring");
constexpr double smallest_coupling = 1e-6;  // of that of neighbours
constexpr double side_scale = 0.5;          // width of full and empty bands, of that of the band with the gap

/// Couplings of the chain of one function per atom.
struct Couplings {
  double t1, t2;
  std::vector<double> decay;  ///< q^n
  double half_width;          ///< hartree, bound of the levels of the chain

  explicit Couplings(const RingInput& input) {
    const double q = input.range > 0.0 ? std::exp(-1.0 / input.range) : 0.0, half = 0.25 * input.gap * (1.0 + q);
    t1 = input.hopping + half;
    t2 = input.hopping - half;
    for (double f = 1.0; f >= smallest_coupling; f *= q) decay.push_back(f);
    half_width = (t1 + t2) / (1.0 - q);
  }
  int reach() const { return 2 * static_cast<int>(decay.size()) - 1; }
  /// Coupling of an atom of even or odd index to the one `distance` (odd) bonds ahead.
  double at(bool even, int distance) const {
    const bool strong = even == (distance > 0);
    return (strong ? t1 : t2) * decay[static_cast<std::size_t>((std::abs(distance) - 1) / 2)];
  }
};

/// Energy of function `f` of an atom, before rotation: the bands of odd ones are full, those of even ones empty.
double onsite(int f, const Couplings& c) { return f == 0 ? 0.0 : (f % 2 == 1 ? -1.0 : 1.0) * c.half_width; }
double scale(int f) { return f == 0 ? 1.0 : side_scale; }

/// The vector v of the reflection 1 - 2 v v^T that mixes the functions of an atom.
std::vector<double> reflection(int atom, int functions, std::uint64_t seed) {
  std::vector<double> v;
  double square = 0.0;
  for (int f = 0; f < functions; ++f) {
    const Random4 random(seed, rotations, static_cast<std::uint64_t>(atom), static_cast<std::uint64_t>(f / 4));
    v.push_back(2.0 * random.uniform(f % 4) - 1.0);
    square += v.back() * v.back();
  }
  for (double& x : v) x = square > 0.0 && functions > 1 ? x / std::sqrt(square) : 0.0;
  return v;
}

/// R_a diag(d) R_b of two reflections; row-major.
void add_rotated(const std::vector<double>& a, const std::vector<double>& d, const std::vector<double>& b,
                 double* out) {
  double middle = 0.0;
  for (std::size_t k = 0; k < d.size(); ++k) middle += a[k] * d[k] * b[k];
  for (std::size_t i = 0; i < d.size(); ++i)
    for (std::size_t j = 0; j < d.size(); ++j)
      *out++ = (i == j ? d[i] : 0.0) - 2.0 * a[i] * a[j] * d[j] - 2.0 * d[i] * b[i] * b[j] + 4.0 * middle * a[i] * b[j];
}

void check(const RingInput& input, const Couplings& c) {
  if (c.t2 < 0.0 || 0.5 * input.gap > side_scale * c.half_width)
    throw KeyError("matrices.ring.gap", "gap",
                   fmt::format("ring.gap is {:g} hartree, too wide for bands of hopping {:g} hartree; give a smaller "
                               "gap or a larger hopping",
                               input.gap, input.hopping));
  if (2 * c.reach() >= input.atoms)
    throw KeyError("matrices.ring.atoms", "atoms",
                   fmt::format("ring.atoms is {}, but couplings of range {:g} reach {} atoms to either side; give more "
                               "atoms or a smaller range",
                               input.atoms, input.range, c.reach()));
}

void add_column(const RingInput& input, const Couplings& c, int column, std::uint64_t seed, BlockColumns& out) {
  std::vector<std::pair<int, int>> rows{{column, 0}};
  for (int d = -c.reach(); d <= c.reach(); d += 2) rows.emplace_back((column + d + input.atoms) % input.atoms, d);
  std::sort(rows.begin(), rows.end());
  const std::vector<double> own = reflection(column, input.functions, seed);
  std::vector<double> diagonal(static_cast<std::size_t>(input.functions));
  out.start_column(column);
  for (const auto& [row, distance] : rows) {
    for (int f = 0; f < input.functions; ++f)
      diagonal[static_cast<std::size_t>(f)] = distance == 0 ? onsite(f, c) : scale(f) * c.at(column % 2 == 0, distance);
    add_rotated(reflection(row, input.functions, seed), diagonal, own, out.add_block(row));
  }
}

}  // namespace

std::vector<double> ring_levels(const RingInput& input) {
  const Couplings c(input);
  std::vector<double> out;
  const int cells = input.atoms / 2;
  for (int k = 0; k < cells; ++k) {
    const double angle = 2.0 * constants::pi * k / cells;
    std::complex<double> sum = 0.0;
    for (std::size_t n = 0; n < c.decay.size(); ++n) {
      const auto cell = static_cast<double>(n);
      sum += c.decay[n] * (c.t1 * std::polar(1.0, angle * cell) + c.t2 * std::polar(1.0, -angle * (cell + 1.0)));
    }
    for (int f = 0; f < input.functions; ++f)
      for (const double sign : {-1.0, 1.0}) out.push_back(onsite(f, c) + sign * scale(f) * std::abs(sum));
  }
  std::sort(out.begin(), out.end());
  return out;
}

MatrixSystem ring_matrices(const RingInput& input, std::uint64_t seed, const Comm& comm) {
  const Couplings c(input);
  check(input, c);
  auto layout =
      std::make_shared<const BlockLayout>(std::vector<int>(static_cast<std::size_t>(input.atoms), input.functions));
  const auto occupied = static_cast<std::int64_t>(input.atoms) / 2 * (1 + 2 * (input.functions / 2));
  MatrixSystem out{layout,
                   ColumnRanges::balanced(std::vector<double>(static_cast<std::size_t>(input.atoms), 1.0), comm.size()),
                   BlockColumns(layout),
                   BlockColumns(layout),
                   input.atoms,
                   2.0 * static_cast<double>(occupied),
                   {{{0, input.functions}}},
                   {},
                   "",
                   {}};
  for (int column = out.ranges.begin(comm.rank()); column < out.ranges.end(comm.rank()); ++column) {
    add_column(input, c, column, seed, out.hamiltonian);
    out.overlap.start_column(column);
    double* one = out.overlap.add_block(column);
    for (int f = 0; f < input.functions; ++f) one[f * (input.functions + 1)] = 1.0;
  }
  out.hamiltonian.finish();
  out.overlap.finish();
  const std::vector<double> levels = ring_levels(input);
  out.reference = {2.0 * std::accumulate(levels.begin(), levels.begin() + occupied, 0.0),
                   levels[static_cast<std::size_t>(occupied - 1)], levels[static_cast<std::size_t>(occupied)]};
  out.name = fmt::format("ring of {} atoms, gap {:g} hartree", input.atoms, input.gap);
  return out;
}

}  // namespace cambium::submatrix
