// Moments and fields of a rank: those of its own cells, and together those of one rank.
#include <algorithm>

#include "compare_runs.hpp"
#include "plugins/kinetic/fields/cells_file.hpp"
#include "plugins/kinetic/fields/conf_ranks.hpp"

using namespace cambium;
using namespace cambium::kinetic;

// Waves of all components, with cleaning, through every kind of wall and cut.
TEST_CASE("each rank has moments and fields of its own cells, and together those of one rank") {
  const int n = Comm().size();
  const std::vector<std::array<Wall, 2>> walls{{Wall::periodic, Wall::periodic},
                                               {Wall::reflect, Wall::periodic},
                                               {Wall::absorb, Wall::reflect},
                                               {Wall::periodic, Wall::copy}};
  for (const auto& wall : walls)
    for (bool upwind : {false, true}) {
      VlasovMaxwell::Params p;
      p.basis.order = 1;
      p.domain = domain({"0", "0"}, {"4*pi", "2*pi"}, {8, 5});
      p.domain.lower_wall = p.domain.upper_wall = {wall[0], wall[1]};
      p.species = {species("electron", "-1", "1", {"-6", "-6"}, {"6", "6"}, {4, 6},
                           "(1 + 0.1*cos(0.5*x)*cos(y)) * maxwellian(vx, 0.2, 1) * maxwellian(vy, 0, 1.2)"),
                   species("ion", "1", "20", {"-3", "-3"}, {"3", "3"}, {4, 4},
                           "maxwellian(vx, 0, 0.5) * maxwellian(vy, 0.1, 0.5)")};
      p.fields.E = {"0.1*sin(x + y)", "0.2*cos(y)", "0.05*sin(0.5*x)"};
      p.fields.B = {"0.1*sin(y)", "0.1*cos(0.5*x)", "0.3 + 0.1*sin(0.5*x - y)"};
      p.fields.clean_electric = p.fields.clean_magnetic = 0.7;
      p.fields.flux = upwind ? VlasovMaxwell::FieldParams::Flux::upwind : VlasovMaxwell::FieldParams::Flux::central;
      p.observables.growth_rate = GrowthParams{};
      std::vector<std::vector<int>> cuts{{n, 1, 1, 1}, {1, n, 1, 1}, {}};
      const bool mirrors = wall[0] == Wall::reflect || wall[1] == Wall::reflect;
      if (n == 4) cuts.push_back({2, 2, 1, 1});
      if (n == 4 && !mirrors) {
        cuts.push_back({2, 1, 1, 2});
        cuts.push_back({1, 2, 2, 1});
      }
      for (const auto& cut : cuts) {
        auto q = p;
        q.ranks = cut;
        KineticRun<VlasovMaxwell> whole(p, MPI_COMM_SELF), part(q);
        whole.start();
        part.start();
        for (int k = 0; k < 5; ++k) {
          whole.step();
          part.step();
        }
        INFO("walls " << static_cast<int>(wall[0]) << " " << static_cast<int>(wall[1]) << ", upwind " << upwind
                      << ", cut " << (cut.empty() ? 0 : cut[0]) << " " << (cut.empty() ? 0 : cut[1]));
        CHECK(furthest_fields(part, whole) < 1e-13);
        CHECK(difference(part, whole) < 1e-13);
        for (const char* name :
             {"electric_energy", "magnetic_energy", "total_energy", "particles", "temperature_ion"}) {
          const double found = part(name), wanted = whole(name);
          INFO(name);
          CHECK(found == Approx(wanted).epsilon(1e-12));
        }
        check_shares(*part.physics);
      }
    }
}

TEST_CASE("the potential of each rank's cells is that of one rank") {
  const int n = Comm().size();
  struct Case {
    Wall wall;
    int order;
    std::vector<int> cells;
  };
  for (const auto& [wall, order, cells] : {Case{Wall::periodic, 1, {8, 6}}, Case{Wall::absorb, 1, {8, 6}},
                                           Case{Wall::periodic, 2, {8, 6}}, Case{Wall::periodic, 1, {5, 7}}}) {
    VlasovPoisson::Params p;
    p.basis.order = order;
    p.domain = domain({"0", "0"}, {"4*pi", "4*pi"}, cells);
    p.domain.lower_wall = p.domain.upper_wall = {Wall::periodic, wall};
    p.species = {species("electron", "-1", "1", {"-5", "-5"}, {"5", "5"}, {4, 4},
                         "(1 + 0.1*cos(0.5*x)*cos(0.5*y) + 0.05*sin(x + 0.5*y)) * maxwellian(vx) * maxwellian(vy)")};
    p.background = "1";
    std::vector<std::vector<int>> cuts{{n, 1, 1, 1}, {1, n, 1, 1}, {1, 1, 1, n}};
    if (n == 4) {
      cuts.push_back({2, 2, 1, 1});
      cuts.push_back({1, 2, 2, 1});
    }
    for (const auto& cut : cuts) {
      auto q = p;
      q.ranks = cut;
      KineticRun<VlasovPoisson> whole(p, MPI_COMM_SELF), part(q);
      whole.start();
      part.start();
      for (int k = 0; k < 3; ++k) {
        whole.step();
        part.step();
      }
      INFO("wall " << static_cast<int>(wall) << ", order " << order << ", " << cells[0] << " x " << cells[1]
                   << " cells, cut " << cut[0] << " " << cut[1]);
      CHECK(furthest_fields(part, whole) < 1e-12);
      CHECK(part("electric_energy") == Approx(whole("electric_energy")).epsilon(1e-12));
      check_shares(*part.physics);
    }
  }
}

/// Electrons and ions on a line between walls of every kind.
static VlasovPoisson::Params between(Wall particles, std::vector<std::string> walls, int order, int cells) {
  VlasovPoisson::Params p;
  p.basis.order = order;
  p.domain = domain({"-1"}, {"7"}, {cells});
  p.domain.lower_wall = p.domain.upper_wall = {particles};
  p.species = {
      species("electron", "-1", "1", {"-5"}, {"5"}, {12}, "(1 + 0.2*sin(pi*(x + 1)/4))*maxwellian(v, 0.2, 1)"),
      species("ion", "1", "30", {"-1.5"}, {"1.5"}, {8}, "(1 + 0.1*cos(pi*(x + 1)/2))*maxwellian(v, 0.1, 0.3)")};
  if (walls.empty()) return p;
  p.wall_potential.emplace();
  p.wall_potential->lower = {walls[0]};
  p.wall_potential->upper = {walls[1]};
  return p;
}

TEST_CASE("the potential of a line is divided, whatever its ends do") {
  const int n = Comm().size();
  struct Case {
    Wall particles;
    std::vector<std::string> walls;
  };
  const std::vector<Case> cases{{Wall::periodic, {}},
                                {Wall::absorb, {"0.3", "-0.2"}},
                                {Wall::absorb, {"floating", "0.5"}},
                                {Wall::absorb, {"0.5", "floating"}},
                                {Wall::absorb, {"floating", "floating"}},
                                {Wall::absorb, {"symmetry", "0.1"}},
                                {Wall::absorb, {"0.1", "symmetry"}},
                                {Wall::absorb, {"symmetry", "floating"}},
                                {Wall::absorb, {"floating", "symmetry"}},
                                {Wall::reflect, {"symmetry", "symmetry"}}};
  for (const auto& c : cases)
    for (int order : {1, 2})
      for (int cells : {10, 13}) {
        auto p = between(c.particles, c.walls, order, cells), q = p;
        q.ranks = {n, 1};
        KineticRun<VlasovPoisson> whole(p, MPI_COMM_SELF), part(q);
        whole.start();
        part.start();
        for (int k = 0; k < 4; ++k) {
          whole.step();
          part.step();
        }
        INFO("walls " << (c.walls.empty() ? "none" : c.walls[0] + ", " + c.walls[1]) << ", order " << order << ", "
                      << cells << " cells on " << n << " ranks");
        CHECK(furthest_fields(part, whole) < 1e-12);
        check_shares(*part.physics);
        const auto readings = part.physics->fields()->readings(), wanted = whole.physics->fields()->readings();
        for (std::size_t k = 0; k < wanted.size(); ++k) {
          INFO(wanted[k].name);
          CHECK(std::abs(readings[k].value - wanted[k].value) < 1e-12);
        }
      }
}

/// Electrons and ions in a plane; `walls`: potentials of lower x, upper x, lower y, upper y, "" along periodic axes.
static VlasovPoisson::Params in_plane(const std::vector<std::string>& walls, int order, std::vector<int> cells) {
  VlasovPoisson::Params p;
  p.basis.order = order;
  p.domain = domain({"0", "-1"}, {"4", "2"}, std::move(cells));
  const auto kind = [&](std::size_t w) {
    if (walls[w].empty()) return Wall::periodic;
    return walls[w] == "symmetry" ? Wall::reflect : Wall::absorb;
  };
  p.domain.lower_wall = {kind(0), kind(2)};
  p.domain.upper_wall = {kind(1), kind(3)};
  p.species = {species("electron", "-1", "1", {"-6", "-6"}, {"6", "6"}, {6, 6},
                       "(1 + 0.2*sin(pi*x/2)*cos(2*pi*y/3) + 0.1*cos(pi*x/4))*maxwellian(vx, 0.2, 1)*maxwellian(vy)"),
               species("ion", "1", "30", {"-6", "-6"}, {"6", "6"}, {6, 6},  // as many, where velocities are coarse, too
                       "(1 + 0.1*cos(pi*x/2))*maxwellian(vx, 0.2, 1)*maxwellian(vy)")};
  p.wall_potential.emplace();
  p.wall_potential->lower = {walls[0], walls[2]};
  p.wall_potential->upper = {walls[1], walls[3]};
  return p;
}

TEST_CASE("the potential of a plane is divided, whatever its walls do") {
  const int n = Comm().size();
  const std::vector<std::vector<std::string>> cases{{"0.3", "-0.2", "", ""},
                                                    {"", "", "floating", "0.5"},
                                                    {"floating", "floating", "", ""},
                                                    {"0.1", "symmetry", "floating", "-0.3"},
                                                    {"", "", "symmetry", "symmetry"},
                                                    {"floating", "symmetry", "symmetry", "floating"},
                                                    {"symmetry", "0.2", "0.1", "symmetry"}};
  for (const auto& walls : cases)
    for (int order : {1, 2})
      for (const auto& cells : {std::vector<int>{5, 3}, {3, 6}}) {
        std::vector<std::vector<int>> cuts{{n, 1, 1, 1}, {1, n, 1, 1}};
        if (n == 4) cuts = {{2, 2, 1, 1}};
        if (n == 4 && std::ranges::count(walls, "symmetry") == 0) cuts.push_back({1, 2, 2, 1});  // mirrors need vx
        for (const auto& cut : cuts) {
          if (cut[0] > cells[0] || cut[1] > cells[1]) continue;
          auto p = in_plane(walls, order, cells), q = p;
          q.ranks = cut;
          KineticRun<VlasovPoisson> whole(p, MPI_COMM_SELF), part(q);
          whole.start();
          part.start();
          for (int k = 0; k < 2; ++k) {
            whole.step();
            part.step();
          }
          INFO("walls " << walls[0] << ", " << walls[1] << "; " << walls[2] << ", " << walls[3] << ", order " << order
                        << ", " << cells[0] << " x " << cells[1] << " cells, cut " << cut[0] << " " << cut[1]);
          CHECK(furthest_fields(part, whole) < 1e-12);
          check_shares(*part.physics);
          const auto readings = part.physics->fields()->readings(), wanted = whole.physics->fields()->readings();
          REQUIRE(readings.size() == wanted.size());
          for (std::size_t k = 0; k < wanted.size(); ++k) {
            INFO(wanted[k].name);
            CHECK(std::abs(readings[k].value - wanted[k].value) < 1e-12);
          }
        }
      }
}

TEST_CASE("cells that touch a brick come from the ranks that have them") {
  const Comm comm;
  const int n = comm.size();
  std::vector<std::vector<int>> cuts{{n, 1, 1}, {1, n, 1}, {1, 1, n}};
  if (n == 4) {
    cuts.push_back({2, 2, 1});
    cuts.push_back({1, 2, 2});
    cuts.push_back({2, 1, 2});
  }
  for (const auto& cut : cuts)
    for (bool walls : {false, true}) {
      PhaseGrid phase;
      phase.cdim = 2;
      phase.vdim = 1;
      for (int d = 0; d < 3; ++d) phase.axis[d].cells = phase.axis[d].count = d == 0 ? 7 : d == 1 ? 5 : 8;
      if (walls) phase.axis[0].low_wall = phase.axis[0].high_wall = Wall::absorb;
      decompose(phase, comm, cut);
      const ConfGrid grid = conf_grid(phase, {{0, 0}, {1, 0}}), whole = grid.whole();
      const ConfRanks ranks(phase, comm);
      ConfHalo halo(phase, grid, comm);
      std::vector<double> fields[3], ghosts[3];
      for (int f = 0; f < 3; ++f)
        for (int cell = 0; cell < grid.count(); ++cell)
          for (int k = 0; k < 2; ++k) fields[f].push_back(100 * grid.index(grid.place(cell)) + 10 * f + k);
      halo.exchange(fields, ghosts);
      bool right = true;
      for (int cell = 0; cell < grid.count(); ++cell)
        for (int d = 0; d < 2; ++d)
          for (int step : {-1, 1}) {
            const int next = grid.neighbour(cell, d, step),
                      wanted = whole.neighbour(whole.index(grid.place(cell)), d, step);
            right = right && (next < 0) == (wanted < 0);
            for (int f = 0; f < 3 && next >= 0; ++f)
              for (int k = 0; k < 2; ++k)
                right = right &&
                        (next < grid.count() ? fields[f][2 * next + k] : ghosts[f][2 * (next - grid.count()) + k]) ==
                            100 * wanted + 10 * f + k;
          }
      io::File file = io::File::in_memory("cells");
      write_cells(file, "cells", ranks, grid, fields[1], 2);
      if (comm.root()) {
        const auto all = file.read<std::vector<double>>("cells");
        REQUIRE(std::ssize(all) == 2 * whole.count());
        for (int cell = 0; cell < whole.count(); ++cell) right = right && all[2 * cell + 1] == 100 * cell + 11;
        for (int rank = 0; rank < ranks.row().size(); ++rank) {  // as each of them would read it
          const ConfGrid brick = ranks.brick(rank);
          const auto own = read_cells(file, "cells", brick, 2);
          for (int cell = 0; cell < brick.count(); ++cell)
            right = right && own[2 * cell] == 100 * grid.index(brick.place(cell)) + 10;
        }
      }
      INFO("cut " << cut[0] << "," << cut[1] << "," << cut[2] << ", walls " << walls);
      CHECK(right);
      CHECK(ranks.row().size() * ranks.column().size() == n);
    }
}

TEST_CASE("species are cut alike in configuration space, whatever their velocities") {
  for (int ranks : {1, 2, 3, 4, 8, 12, 64})
    for (int fine : {4, 64}) {
      std::vector<PhaseGrid> grids(2);
      for (auto& g : grids) {
        g.cdim = 1;
        g.vdim = 2;
        g.axis[0].cells = 64;
        for (int d : {1, 2}) g.axis[d].cells = &g == &grids[0] ? 64 : fine;
      }
      const auto cuts = cuts_of(grids, ranks);
      REQUIRE(cuts.size() == 2);
      CHECK(cuts[0][0] == cuts[1][0]);
      for (std::size_t s = 0; s < 2; ++s) {
        CHECK(cuts[s][0] * cuts[s][1] * cuts[s][2] == ranks);
        for (int d = 0; d < 3; ++d) CHECK(cuts[s][d] <= grids[s].axis[d].cells);
      }
      if (fine == 64) CHECK(cuts[0] == cuts_of({grids[0]}, ranks).front());
    }
}

// Four cells of configuration space for each rank and species of which one alone could cut its velocities.
TEST_CASE("few cells and species that differ") {
  const int n = Comm().size();
  auto params = [&](std::vector<int> cells) {
    VlasovMaxwell::Params p;
    p.domain = domain({"0"}, {"4*pi"}, std::move(cells));
    p.species = {
        species("electron", "-1", "1", {"-5", "-5"}, {"5", "5"}, {16, 4},
                "(1 + 0.1*cos(0.5*x)) * maxwellian(vx, 0.3, 1) * maxwellian(vy, 0, 0.9)"),
        species("ion", "1", "10", {"-6", "-6"}, {"6", "6"}, {4, 4}, "maxwellian(vx, 0, 0.9) * maxwellian(vy, 0, 0.9)")};
    p.species[0].collisions = CollisionParams{CollisionParams::Operator::bgk, "0.4"};
    p.fields.E = {"-0.2*sin(0.5*x)", "0.1*cos(x)"};
    return p;
  };
  for (int cells : {4, 6}) {
    KineticRun<VlasovMaxwell> whole(params({cells}), MPI_COMM_SELF), part(params({cells}));
    whole.start();
    part.start();
    for (int k = 0; k < 3; ++k) {
      whole.step();
      part.step();
    }
    INFO(cells << " cells, " << n << " ranks");
    CHECK(furthest_fields(part, whole) < 1e-13);
    check_shares(*part.physics);
  }
}

TEST_CASE("collisions of ranks that share cells") {
  const int n = Comm().size();
  for (const auto& cut : std::vector<std::vector<int>>{{1, n, 1}, {1, 1, n}, {n, 1, 1}}) {
    VlasovMaxwell::Params p;
    p.domain = domain({"0"}, {"4*pi"}, {12});
    p.species = {species("electron", "-1", "1", {"-5", "-5"}, {"5", "5"}, {8, 6},
                         "(1 + 0.1*cos(0.5*x)) * maxwellian(vx, 0.3, 1) * maxwellian(vy, 0, 1.2)")};
    p.fields.E = {"-0.2*sin(0.5*x)", "0.1*cos(x)"};
    p.species[0].collisions = CollisionParams{CollisionParams::Operator::bgk, "0.4*(1 + 0.5*cos(x))"};
    auto q = p;
    q.ranks = cut;
    KineticRun<VlasovMaxwell> whole(p, MPI_COMM_SELF), part(q);
    whole.start();
    part.start();
    for (int k = 0; k < 4; ++k) {
      whole.step();
      part.step();
    }
    CHECK(difference(part, whole) < 1e-13);
    CHECK(furthest_fields(part, whole) < 1e-13);
  }
}
