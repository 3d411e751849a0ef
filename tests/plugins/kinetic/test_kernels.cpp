// The generated kernels, in the solver that uses them, against brute-force quadrature: every configuration of the
// build.
#include <array>
#include <cstdio>
#include <map>

#include "core/parallel/kokkos.hpp"
#include "oracle.hpp"
#include "tests/catch.hpp"

using namespace cambium;
using namespace cambium::kinetic;

namespace {

struct Compared {
  double worst = 0.0, scale = 0.0;
};

/// Ways in which a right-hand side is computed; by_cells: as devices work.
struct Way {
  bool stretched, magnetic, upwind, by_cells;
};

/// Largest difference between the solver's right-hand side and the oracle's.
Compared compare(const Built& built, Precision precision, const Way& way, const Comm& comm) {
  const auto& [stretched, magnetic, upwind, by_cells] = way;
  PhaseGrid grid =
      (stretched ? stretched_grid(built.info.cdim, built.info.vdim) : small_grid(built.info.cdim, built.info.vdim));
  decompose(grid, comm, {});
  const auto solver = make_solver(built, precision, grid, comm);
  if (by_cells) solver->work_by_cells();
  Cells cells(grid, built.info);
  cells.fill(3);
  cells.to(*solver, 0);
  RandomFields fields(grid, built.info, -1.3, magnetic);
  fields.force.upwind = upwind;
  std::vector<double> moments(static_cast<std::size_t>(grid.conf_cells()) * built.info.conf * (grid.vdim + 2));
  solver->stage({0, 0, 1, 0.0, 0.0, 1.0}, fields.force, moments);
  solver->to_host_const(1);
  Oracle oracle(cells, fields.force);
  Compared out;
  std::vector<double> found(built.info.modes);
  for (int ic = 0; ic < grid.local_conf_cells(); ++ic)
    for (int iv = 0; iv < grid.local_velocity_cells(); ++iv) {
      solver->get(1, ic, iv, found.data());
      const auto wanted = oracle.rhs(ic, iv);
      for (int k = 0; k < built.info.modes; ++k) {
        out.worst = std::max(out.worst, std::abs(found[k] - wanted[k]));
        out.scale = std::max(out.scale, std::abs(wanted[k]));
      }
    }
  return out;
}

/// Configurations, stretched or not, by packs or by cells.
std::vector<std::tuple<Built, bool, bool>> all_ways() {
  std::vector<std::tuple<Built, bool, bool>> out;
  for (const auto& b : built())
    for (const bool stretched : {false, true})
      for (const bool by_cells : {false, true}) out.emplace_back(b, stretched, by_cells);
  return out;
}

}  // namespace

TEST_CASE("right-hand side equals quadrature for every configuration") {
  const Comm comm;
  for (const auto& b : built())
    for (const auto& [stretched, magnetic, upwind] : {std::array{false, false, false},
                                                      {false, true, false},
                                                      {false, true, true},
                                                      {true, true, false},
                                                      {true, true, true}})
      for (const bool by_cells : {false, true}) {
        const Way way{stretched, magnetic, upwind, by_cells};
        const bool in_double = !by_cells || !device_is_host;  // hosts go by cells in single precision
        const auto exact = in_double ? compare(b, Precision::float64, way, comm) : Compared{};
        INFO(b.info.name << " stretched " << stretched << " magnetic " << magnetic << " upwind " << upwind
                         << " by cells " << by_cells << ": differs by " << exact.worst << " of " << exact.scale);
        if (in_double) CHECK(exact.worst < 1e-13 * exact.scale);
        const auto single = compare(b, Precision::float32, way, comm);
        INFO("float32 differs by " << single.worst);
        CHECK(single.worst < 2e-6 * single.scale);
      }
}

TEST_CASE("moments equal quadrature for every configuration") {
  const Comm comm;
  for (const auto& [b, stretched, by_cells] : all_ways()) {
    PhaseGrid grid = stretched ? stretched_grid(b.info.cdim, b.info.vdim) : small_grid(b.info.cdim, b.info.vdim);
    decompose(grid, comm, {});
    const bool single = by_cells && device_is_host;
    const auto solver = make_solver(b, single ? Precision::float32 : Precision::float64, grid, comm);
    if (by_cells) solver->work_by_cells();
    Cells cells(grid, b.info);
    cells.fill(5);
    cells.to(*solver, 0);
    std::vector<double> found(static_cast<std::size_t>(grid.conf_cells()) * b.info.conf * (grid.vdim + 2), 0.0);
    auto wanted = found;
    solver->moments(0, found);
    const Projection rule(b.info.exponents, 4);
    Oracle oracle(cells, {});
    for (int ic = 0; ic < grid.conf_cells(); ++ic)
      for (int iv = 0; iv < grid.local_velocity_cells(); ++iv)
        for (int q = 0; q < rule.nodes(); ++q) {
          std::vector<double> z(grid.dimensions());
          for (int d = 0; d < grid.dimensions(); ++d) z[d] = rule.xi(q, d);
          double f = oracle.value(ic, iv, z) * rule.weight(q);
          for (int d = grid.cdim; d < grid.dimensions(); ++d) f *= 0.5 * oracle.width(iv, d);
          double square = 0.0;
          for (int e = 0; e < grid.vdim; ++e) square += std::pow(oracle.velocity(iv, e, z), 2);
          for (int k = 0; k < b.info.conf; ++k) {
            double chi = 1.0;
            for (int d = 0; d < grid.cdim; ++d) chi *= legendre(b.info.conf_exponents[k][d], z[d]);
            auto& row = wanted;
            const std::size_t at = static_cast<std::size_t>(ic) * (grid.vdim + 2) * b.info.conf + k;
            row[at] += chi * f;
            for (int e = 0; e < grid.vdim; ++e) row[at + (1 + e) * b.info.conf] += chi * f * oracle.velocity(iv, e, z);
            row[at + (1 + grid.vdim) * b.info.conf] += chi * f * square;
          }
        }
    double worst = 0.0, scale = 0.0;
    for (std::size_t k = 0; k < wanted.size(); ++k) {
      worst = std::max(worst, std::abs(found[k] - wanted[k]));
      scale = std::max(scale, std::abs(wanted[k]));
    }
    INFO(b.info.name << " stretched " << stretched << " by cells " << by_cells);
    CHECK(worst < (single ? 2e-6 : 1e-13) * scale);
  }
}

namespace {

/// A stage's result and its moments, between walls along x.
std::pair<std::vector<double>, std::vector<double>> between_walls(const Built& built, Wall low, Wall high,
                                                                  bool stretched, bool by_cells, const Comm& comm) {
  PhaseGrid grid =
      stretched ? stretched_grid(built.info.cdim, built.info.vdim, true) : small_grid(built.info.cdim, built.info.vdim);
  grid.axis[0].low_wall = low;
  grid.axis[0].high_wall = high;
  decompose(grid, comm, {});
  const auto solver = make_solver(built, Precision::float32, grid, comm);
  if (by_cells) solver->work_by_cells();
  Cells cells(grid, built.info);
  cells.fill(3);
  cells.to(*solver, 0);
  cells.to(*solver, 2);
  RandomFields fields(grid, built.info, -1.3, true);
  std::vector<double> moments(static_cast<std::size_t>(grid.conf_cells()) * built.info.conf * (grid.vdim + 2)), out;
  for (int again = 0; again < 2; ++again) {  // the second finds what the first has left
    std::fill(moments.begin(), moments.end(), 0.0);
    solver->stage({0, 2, 1, 0.25, 0.75, 0.1}, fields.force, moments);
  }
  solver->to_host_const(1);
  std::vector<double> found(built.info.modes);
  for (int ic = 0; ic < grid.local_conf_cells(); ++ic)
    for (int iv = 0; iv < grid.local_velocity_cells(); ++iv) {
      solver->get(1, ic, iv, found.data());
      out.insert(out.end(), found.begin(), found.end());
    }
  return {out, moments};
}

void check_equal(const std::vector<double>& found, const std::vector<double>& wanted) {
  double worst = 0.0, scale = 0.0;
  for (std::size_t k = 0; k < wanted.size(); ++k) {
    worst = std::max(worst, std::abs(found[k] - wanted[k]));
    scale = std::max(scale, std::abs(wanted[k]));
  }
  REQUIRE(found.size() == wanted.size());
  REQUIRE(scale > 0.0);
  CHECK(worst < 3e-6 * scale);
}

}  // namespace

TEST_CASE("cells as devices take them do the same between walls as packs") {
  const Comm comm;
  for (const auto& b : built())
    for (const auto& [low, high] :
         {std::pair(Wall::reflect, Wall::copy), {Wall::copy, Wall::reflect}, {Wall::absorb, Wall::reflect}})
      for (const bool stretched : {false, true}) {
        INFO(b.info.name << " stretched " << stretched);
        const auto cells = between_walls(b, low, high, stretched, true, comm),
                   packs = between_walls(b, low, high, stretched, false, comm);
        check_equal(cells.first, packs.first);
        check_equal(cells.second, packs.second);
      }
}

// Counts of the same work in the published kernels with each face once (mul + add per cell, volume and all faces).
TEST_CASE("operation counts are not above those of the published kernels") {
  const std::map<std::string, int> published = {
      {"1x1v_p2", 409}, {"1x2v_p2", 2211}, {"1x3v_p2", 9325}, {"2x2v_p2", 11223}, {"2x3v_p2", 49173}};
  for (const auto& b : built()) {
    const int flops = b.info.multiplications + b.info.additions;
    std::printf("%-16s %4d modes %6d non-zeros %6d mul + %5d add = %6d", b.info.name.c_str(), b.info.modes,
                b.info.nonzeros, b.info.multiplications, b.info.additions, flops);
    if (const auto p = published.find(b.info.name); p != published.end()) {
      std::printf("   (published: %d)", p->second);
      CHECK(flops <= p->second);
    }
    std::printf("\n");
  }
}
