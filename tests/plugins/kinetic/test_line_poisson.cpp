// The potential of a line by sums along it, on any number of ranks, beside that of transforms and of a banded matrix;
// and the transforms beside their definition.
#include <random>

#include "core/base/constants.hpp"
#include "core/base/counts.hpp"
#include "plugins/kinetic/fields/conf_ranks.hpp"
#include "plugins/kinetic/fields/poisson.hpp"
#include "plugins/kinetic/solver/phase_grid.hpp"
#include "tests/catch.hpp"

using namespace cambium;
using namespace cambium::kinetic;

namespace {

/// Of all cells, the same on every rank; without a mean.
std::vector<double> random_charge(const ConfGrid& whole) {
  std::mt19937 random(whole.cells[0] + whole.modes());
  std::uniform_real_distribution<double> uniform(-1.0, 1.0);
  std::vector<double> out(whole.size());
  double mean = 0.0;
  for (auto& q : out) q = uniform(random);
  for (std::size_t k = 0; k < out.size(); k += at(whole.modes())) mean += out[k] / whole.count();
  for (std::size_t k = 0; k < out.size(); k += at(whole.modes())) out[k] -= mean;
  return out;
}

/// Of all cells' coefficients those of a rank.
std::vector<double> own_of(const ConfGrid& grid, const double* whole) {
  std::vector<double> out;
  for (int cell = 0; cell < grid.count(); ++cell) {
    const double* from = whole + std::ptrdiff_t{grid.index(grid.place(cell))} * grid.modes();
    out.insert(out.end(), from, from + grid.modes());
  }
  return out;
}

double furthest(const ConfGrid& grid, const double* found, const double* whole) {
  const auto wanted = own_of(grid, whole);
  double out = 0.0;
  for (std::size_t k = 0; k < wanted.size(); ++k) out = std::max(out, std::abs(found[k] - wanted[k]));
  return out;
}

}  // namespace

TEST_CASE("the potential of a line is that of transforms and of a banded matrix, on one rank and on several") {
  const Comm comm;
  const PotentialWall low{PotentialWall::Kind::fixed, 0.3}, high{PotentialWall::Kind::fixed, -0.2},
      mirror{PotentialWall::Kind::symmetry, 0.0}, floats{PotentialWall::Kind::floating, 0.0};
  std::vector<std::pair<PotentialWall, PotentialWall>> walls{{low, high},      {floats, high},   {low, floats},
                                                             {floats, floats}, {mirror, high},   {low, mirror},
                                                             {mirror, floats}, {floats, mirror}, {mirror, mirror}};
  for (std::size_t w = 0; w <= walls.size(); ++w)
    for (int order : {1, 2})
      for (int cells : {12, 13, 37}) {
        PhaseGrid phase;
        phase.cdim = phase.vdim = 1;
        for (int d : {0, 1}) phase.axis[d].cells = phase.axis[d].count = d ? 8 : cells;
        phase.axis[0].upper = 0.1 * cells;
        const bool periodic = w == walls.size();
        if (!periodic) phase.axis[0].low_wall = phase.axis[0].high_wall = Wall::absorb;
        decompose(phase, comm, {comm.size(), 1});
        std::vector<std::vector<int>> exponents{{0}, {1}};
        if (order == 2) exponents.push_back({2});
        const ConfGrid grid = conf_grid(phase, exponents), whole = grid.whole();
        const ConfRanks ranks(phase, comm);
        PotentialWalls both;
        if (!periodic) {
          both.lower[0] = walls[w].first;
          both.upper[0] = walls[w].second;
        }
        Poisson plain(whole, 2.0, both), sums(grid, 2.0, both, &ranks);
        const auto charge = random_charge(whole);
        REQUIRE(sums.collecting().size() == plain.collecting().size());
        for (std::size_t k = 0; k < plain.collecting().size(); ++k)
          plain.wall_charge(1)[k] = sums.wall_charge(1)[k] = k ? -0.4 : 0.4;
        plain.solve(charge, 1);
        sums.solve(own_of(grid, charge.data()), 1);
        INFO("walls " << w << ", order " << order << ", " << cells << " cells on " << comm.size() << " ranks");
        CHECK(furthest(grid, sums.potential().data(), plain.potential().data()) < 1e-12);
        CHECK(furthest(grid, sums.electric(1, 0), plain.electric(1, 0)) < 1e-11);
        for (std::size_t k = 0; k < plain.collecting().size(); ++k)
          CHECK(std::abs(sums.wall_potential()[k] - plain.wall_potential()[k]) < 1e-12);
      }
}

TEST_CASE("transforms of any length are what their definition says, whatever lies beside a line") {
  using Complex = Fourier::Complex;
  std::mt19937 random(7);
  std::uniform_real_distribution<double> uniform(-1.0, 1.0);
  for (const int n : {1, 2, 3, 4, 6, 7, 12, 16, 30, 45, 64, 77})
    for (const int lines : {1, 3, 8})
      for (const int sign : {-1, 1}) {
        const int stride = lines + 2;
        std::vector<Complex> values(at(n) * at(stride));
        for (auto& z : values) z = {uniform(random), uniform(random)};
        const auto before = values;
        const Fourier fourier(n);
        fourier(values.data(), lines, stride, sign);
        double furthest = 0.0;
        bool same = true;
        for (int l = 0; l < stride; ++l) {
          std::vector<Complex> alone;
          for (int j = 0; j < n; ++j) alone.push_back(before[at(j * stride + l)]);
          fourier(alone.data(), 1, 1, sign);
          for (int k = 0; k < n; ++k) {
            Complex sum = l < lines ? 0.0 : before[at(k * stride + l)];
            for (int j = 0; l < lines && j < n; ++j)
              sum += before[at(j * stride + l)] * std::polar(1.0, sign * 2.0 * constants::pi * j * k / n);
            furthest = std::max(furthest, std::abs(values[at(k * stride + l)] - sum));
            same = same && (l >= lines || values[at(k * stride + l)] == alone[at(k)]);
          }
        }
        INFO(n << " numbers, " << lines << " lines, sign " << sign);
        CHECK(furthest < 1e-12);
        CHECK(same);
      }
}
