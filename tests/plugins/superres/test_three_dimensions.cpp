// Convection in three dimensions beside the two-dimensional solver, whose rows it has as planes.
#include <map>

#include "core/io/checkpoint.hpp"
#include "core/parallel/random.hpp"
#include "plugins/superres/convection/plane_fft.hpp"
#include "tests/plugins/superres/convection_case.hpp"
#include "tests/shared_scratch.hpp"

using namespace cambium;
using namespace cambium::superres;
using namespace cambium::superres::test;

namespace {

/// A plane flow in the section y = 0, the same at all y; v begins as zero.
void extrude(const Flow& flat, const Flow& flow) {
  const auto from = on_host(flat.fields);
  const auto to = Kokkos::create_mirror_view(flow.fields);
  for (int f = 0; f < 4; ++f)
    for (int row = 1; row <= flow.rows(); ++row)
      for (int line = 0; line < flow.layout.lines; ++line)
        for (int i = 0; i < flow.nx(); ++i)
          to(f, row, flow.layout.begin(line) + i) = from(f, row + flow.slab.first, margin + i);
  Kokkos::deep_copy(flow.fields, to);
}

Fluid some_fluid(double viscosity) {
  Fluid fluid;
  fluid.viscosity = fluid.diffusivity = viscosity;
  return fluid;
}

/// Fills the interior with numbers that belong to places, not to ranks; w on the lower plate stays zero.
void fill_random(const Flow& flow) {
  const auto host = Kokkos::create_mirror_view(flow.fields);
  for (int f = 0; f <= field_v; ++f)
    for (int row = 1; row <= flow.rows(); ++row)
      for (int line = 0; line < flow.layout.lines; ++line)
        for (int i = 0; i < flow.nx(); ++i) {
          const int k = flow.slab.first + row - 1;
          host(f, row, flow.layout.begin(line) + i) =
              f == field_w && k == 0 ? 0.0 : Random4(3, Stream::test, (k * 1000 + line) * 1000 + i, f).normal(0);
        }
  Kokkos::deep_copy(flow.fields, host);
}

const char* const box =
    "{rayleigh: 1e5, prandtl: 0.7, aspect_ratio: 2, aspect_ratio_y: 1.5, cells: [20, 12, 18], end_time: 50, "
    "initial: {noise: 0.5}}";

/// Largest difference between the owned cells and the same cells of a run on one rank, and the largest value.
std::pair<double, double> difference(const Flow& a, const Flow& b, const Comm& comm) {
  double worst = 0.0, most = 0.0;
  const auto here = on_host(a.fields), there = on_host(b.fields);
  for (int f = 0; f <= field_v; ++f)
    for (int row = 1; row <= a.rows(); ++row)
      for (int line = 0; line < a.layout.lines; ++line)
        for (int i = 0; i < a.nx(); ++i) {
          const int column = a.layout.begin(line) + i;
          worst =
              std::max(worst, std::fabs(here(f, row, column) - there(f, row + a.slab.first - b.slab.first, column)));
          most = std::max(most, std::fabs(here(f, row, column)));
        }
  return {comm.max(worst), comm.max(most)};
}

}  // namespace

TEST_CASE("a flow that does not depend on y is that of two dimensions") {
  const Comm comm, alone(MPI_COMM_SELF);
  const Grid section = Grid::make(24, 16, 2.0, 1.0, 1.3, true);
  for (const Wall plates : {Wall::no_slip, Wall::free_slip}) {
    Fluid fluid = some_fluid(3e-3);
    fluid.plates = plates;
    Stepper flat(alone, Slab::make(section, 0, 1), fluid);
    set_initial_state({.noise = 0.5}, flat.flow(), 5);
    Stepper solid(comm, Slab::make(section.extruded(6, 1.1), comm.rank(), comm.size()), fluid);
    extrude(flat.flow(), solid.flow());
    for (Stepper* stepper : {&flat, &solid}) {
      stepper->fill_ghosts();
      stepper->start();
      for (int k = 0; k < 100; ++k) stepper->step(0.01);
    }
    const auto a = on_host(flat.flow().fields), b = on_host(solid.flow().fields);
    const Flow& flow = solid.flow();
    double worst = 0.0, most = 0.0, across = 0.0;
    for (int row = 1; row <= flow.rows(); ++row)
      for (int line = 0; line < 6; ++line)
        for (int i = 0; i < 24; ++i) {
          const int column = flow.layout.begin(line) + i;
          for (int f = 0; f < 4; ++f) {
            worst = std::max(worst, std::fabs(a(f, row + flow.slab.first, margin + i) - b(f, row, column)));
            most = std::max(most, std::fabs(b(f, row, column)));
          }
          across = std::max(across, std::fabs(b(field_v, row, column)));
        }
    CHECK(comm.max(most) > 0.1);
    CHECK(comm.max(worst) < 1e-12);
    CHECK(comm.max(across) < 1e-12);
    const Means flat_means = means_of(flat.flow(), alone), means = means_of(flow, comm);
    for (const auto member :
         {&Means::kinetic, &Means::flux_z, &Means::strain, &Means::gradient, &Means::bottom, &Means::top})
      CHECK(means.*member == Approx(flat_means.*member).epsilon(1e-11));
  }
}

TEST_CASE("x and y are alike") {
  // The flow turned about the vertical: u of the one is v of the other.
  const Comm comm(MPI_COMM_SELF);
  const Grid wide = Grid::make(12, 10, 1.7, 1.0, 1.3, true).extruded(8, 1.1),
             deep = Grid::make(8, 10, 1.1, 1.0, 1.3, true).extruded(12, 1.7);
  Stepper first(comm, Slab::make(wide, 0, 1), some_fluid(5e-3)), second(comm, Slab::make(deep, 0, 1), some_fluid(5e-3));
  fill_random(first.flow());
  const auto turned = [](int f) { return f == field_u ? field_v : f == field_v ? field_u : f; };
  const auto a = on_host(first.flow().fields);
  const auto b = Kokkos::create_mirror_view(second.flow().fields);
  const RowLayout from = first.flow().layout, to = second.flow().layout;
  for (int f = 0; f <= field_v; ++f)
    for (int k = 1; k <= 10; ++k)
      for (int j = 0; j < 8; ++j)
        for (int i = 0; i < 12; ++i) b(turned(f), k, to.begin(i) + j) = a(f, k, from.begin(j) + i);
  Kokkos::deep_copy(second.flow().fields, b);
  for (Stepper* stepper : {&first, &second}) {
    stepper->fill_ghosts();
    stepper->start();
    for (int k = 0; k < 10; ++k) stepper->step(1e-3);
  }
  const auto c = on_host(first.flow().fields), d = on_host(second.flow().fields);
  double worst = 0.0;
  for (int f = 0; f <= field_v; ++f)
    for (int k = 1; k <= 10; ++k)
      for (int j = 0; j < 8; ++j)
        for (int i = 0; i < 12; ++i)
          worst = std::max(worst, std::fabs(d(turned(f), k, to.begin(i) + j) - c(f, k, from.begin(j) + i)));
  CHECK(worst < 1e-11);
  CHECK(diffusive_limit(first.flow()) == Approx(diffusive_limit(second.flow())));
  CHECK(largest_courant_rate(first.flow(), comm) == Approx(largest_courant_rate(second.flow(), comm)));
}

TEST_CASE("projection leaves no divergence in three dimensions") {
  const Comm comm;
  for (const auto& [nx, ny, nz] : {std::array{16, 8, 16}, {30, 14, 17}, {12, 36, 19}}) {
    const Grid grid = Grid::make(nx, nz, 2.0, 1.0, 1.5, true).extruded(ny, 1.3);
    Stepper stepper(comm, Slab::make(grid, comm.rank(), comm.size()), some_fluid(0.1));
    fill_random(stepper.flow());
    stepper.fill_ghosts();
    const double before = comm.max(largest_divergence(stepper.flow()));
    stepper.start();
    INFO("cells " << nx << " x " << ny << " x " << nz << ", ranks " << comm.size());
    CHECK(before > 1.0);
    CHECK(comm.max(largest_divergence(stepper.flow())) < 1e-12 * before);
  }
}

TEST_CASE("advection does no work and creates no variance in three dimensions") {
  const Comm comm;
  const Slab slab = Slab::make(Grid::make(24, 20, 2.0, 1.0, 1.5, true).extruded(10, 0.9), comm.rank(), comm.size());
  Fluid fluid = some_fluid(0.0);
  fluid.bottom = fluid.top = 0.0;
  Stepper stepper(comm, slab, fluid);
  fill_random(stepper.flow());
  stepper.fill_ghosts();
  stepper.start();
  const Flow& flow = stepper.flow();
  Fields h("h", 4, slab.rows + 2, flow.layout.columns()), r("r", 4, slab.rows + 2, flow.layout.columns());
  explicit_terms(flow, stages[0], 1.0, h, r, 1, flow.rows() + 1);
  const auto f = on_host(flow.fields), t = on_host(h);
  double work = 0.0, variance = 0.0, size = 0.0;
  for (int row = 1; row <= slab.rows; ++row)
    for (int line = 0; line < 10; ++line)
      for (int i = flow.layout.begin(line); i < flow.layout.begin(line) + 24; ++i) {
        const int k = slab.first + row - 1;
        const double cell = slab.grid.height(k), face = slab.grid.between(k);
        const double buoyancy = 0.5 * (f(field_b, row - 1, i) + f(field_b, row, i));
        const double lift = k == 0 ? 0.0 : t(field_w, row, i) - buoyancy;
        work += (f(field_u, row, i) * t(field_u, row, i) + f(field_v, row, i) * t(slot_of(field_v), row, i)) * cell +
                f(field_w, row, i) * lift * face;
        variance += f(field_b, row, i) * t(field_b, row, i) * cell;
        size += std::fabs(f(field_u, row, i) * t(field_u, row, i) * cell);
      }
  size = comm.sum(size);
  CHECK(std::fabs(comm.sum(work)) < 1e-12 * size);
  CHECK(std::fabs(comm.sum(variance)) < 1e-12 * size);
}

TEST_CASE("both orders of a transformed plane hold the same modes") {
  for (const auto& [nx, ny] : {std::pair{16, 12}, {12, 30}, {64, 8}}) {
    const PlaneFft plain(nx, ny, false), turned(nx, ny, true);
    View<double**> in("in", ny, padded(nx)), back("back", ny, padded(nx) + 8);
    const auto x = Kokkos::create_mirror_view(in);
    for (int j = 0; j < ny; ++j)
      for (int i = 0; i < nx; ++i) x(j, i) = Random4(9, Stream::test, j, i).normal(0);
    Kokkos::deep_copy(in, x);
    // By wave numbers and, in the order in which a plane has them, the four parts of a pair.
    std::map<std::pair<int, int>, std::vector<double>> modes[2];
    for (const PlaneFft* fft : {&plain, &turned}) {
      View<double*> out("out", 2 * fft->half());
      fft->forward(in, 0, out.data());
      const auto host = on_host(out);
      auto& of = modes[fft == &turned];
      for (int part = 0; part < 2; ++part)
        for (int j = 0; j < fft->half(); ++j)
          if (const double value = host(part * fft->half() + j); value != 0.0)
            of[{fft->mode_x(j), fft->mode_y(j)}].push_back(value);
      fft->backward(out.data(), back, 8);
      const auto again = on_host(back);
      double worst = 0.0;
      for (int j = 0; j < ny; ++j)
        for (int i = 0; i < nx; ++i) worst = std::max(worst, std::fabs(again(j, 8 + i) - x(j, i)));
      CHECK(worst < 1e-13);
    }
    CHECK(modes[0].size() == static_cast<std::size_t>((nx / 2 + 1) * (ny / 2 + 1)));
    REQUIRE(modes[0].size() == modes[1].size());
    double worst = 0.0;
    for (const auto& [mode, values] : modes[0]) {
      const auto& others = modes[1][mode];
      REQUIRE(values.size() == others.size());
      for (std::size_t k = 0; k < values.size(); ++k) worst = std::max(worst, std::fabs(values[k] - others[k]));
    }
    CHECK(worst < 1e-12);
  }
}

TEST_CASE("sweeps by rows and by columns give the same flow") {
  const Comm comm;
  Fluid closed = some_fluid(5e-3), dyed = some_fluid(3e-3);
  closed.plates_conduct = false;
  closed.left = 0.5;
  closed.right = -0.5;
  dyed.scalars.push_back({.name = "dye", .meaning = "a colour", .diffusivity = 2e-3, .bottom = 1.0, .top = 0.0});
  const Grid plates = Grid::make(36, 22, 3.0, 1.0, 1.5, true), square = Grid::make(20, 18, 1.0, 1.0, 1.5, false);
  const std::pair<Grid, Fluid> cases[] = {{plates, dyed},
                                          {square, closed},
                                          {plates.extruded(6, 1.1), dyed},
                                          {Grid::make(100, 16, 3.0, 1.0, 1.5, true).extruded(60, 2.0), dyed}};
  for (const auto& [grid, fluid] : cases) {
    INFO(grid.nx << " x " << grid.ny << " x " << grid.nz << " cells");
    const auto stepped = [&](Sweeps sweeps) {
      auto out = std::make_unique<Stepper>(comm, Slab::make(grid, comm.rank(), comm.size()), fluid, sweeps);
      set_initial_state({.noise = 0.5}, out->flow(), 5);
      out->fill_ghosts();
      out->start();
      for (int k = 0; k < 10; ++k) out->step(0.003);
      return out;
    };
    const auto rows = stepped(Sweeps::by_rows), columns = stepped(Sweeps::by_columns);
    const Flow& flow = rows->flow();
    const auto a = on_host(flow.fields), b = on_host(columns->flow().fields);
    double worst = 0.0, most = 0.0;
    for (int f = 0; f <= flow.carried(); ++f)
      for (int row = 0; row <= flow.rows() + 1; ++row)
        for (int line = 0; line < flow.layout.lines; ++line)
          for (int i = -1; i <= flow.nx(); ++i) {
            const int column = flow.layout.begin(line) + i;
            worst = std::max(worst, std::fabs(a(f, row, column) - b(f, row, column)));
            most = std::max(most, std::fabs(a(f, row, column)));
          }
    CHECK(comm.max(most) > 0.1);
    CHECK(comm.max(worst) < 1e-13);
  }
}

TEST_CASE("any number of ranks gives the same flow in three dimensions") {
  Plates divided(box, MPI_COMM_WORLD), alone(box, MPI_COMM_SELF);
  for (int k = 0; k < 40; ++k) {
    divided.advance();
    alone.advance();
  }
  const auto [worst, most] = difference(divided.flow(), alone.flow(), divided.comm());
  CHECK(most > 0.1);
  CHECK(worst < 1e-12 * most);
  for (const int column : {nusselt_low, nusselt_volume, kinetic, dissipation, thermal_dissipation})
    CHECK(divided.measure(column) == Approx(alone.measure(column)).epsilon(1e-12));
}

TEST_CASE("a restart in three dimensions gives the same bits, and goes on with another number of ranks") {
  Plates straight(box, MPI_COMM_WORLD), resumed(box, MPI_COMM_WORLD), alone(box, MPI_COMM_SELF);
  const SharedScratch scratch(straight.comm());
  const std::string path = scratch.file("restart.h5");
  const auto read = [&](Plates& run) {
    const io::Checkpoint checkpoint(path, run.comm());
    checkpoint.restore(run.state(), [](std::int64_t) {});
    run.physics().restore(run.state(), run.context(), checkpoint.file().group("physics"), true);
  };
  for (int k = 0; k < 17; ++k) straight.advance();
  straight.write(path);
  read(resumed);
  for (int k = 0; k < 17; ++k) {
    straight.advance();
    resumed.advance();
  }
  CHECK(difference(straight.flow(), resumed.flow(), straight.comm()).first == 0.0);
  CHECK(straight.time() == resumed.time());
  read(alone);
  for (int k = 0; k < 17; ++k) alone.advance();
  const auto [worst, most] = difference(straight.flow(), alone.flow(), straight.comm());
  CHECK(most > 0.1);
  CHECK(worst < 1e-12 * most);
}

TEST_CASE("bytes of a rank do not grow with the number of ranks in three dimensions", "[bytes]") {
  const Comm world;
  const Grid grid = Grid::make(32, 16, 2.0, 1.0, 1.2, true).extruded(16, 1.0);
  std::map<int, double> bytes;  // of the busiest rank, by the number of ranks
  for (int ranks = 1; ranks <= world.size(); ranks *= 2) {
    MPI_Comm some = MPI_COMM_NULL;
    MPI_Comm_split(world.handle(), world.rank() < ranks ? 0 : MPI_UNDEFINED, world.rank(), &some);
    double sent = 0.0;
    if (some != MPI_COMM_NULL) {
      const Comm comm(some);
      Stepper stepper(comm, Slab::make(grid, comm.rank(), comm.size()), some_fluid(1e-2));
      set_initial_state({.noise = 0.2}, stepper.flow(), 5);
      stepper.fill_ghosts();
      stepper.start();
      stepper.step(0.01);
      stepper.flow();
      const auto before = stepper.bytes_sent();
      stepper.step(0.01);
      stepper.flow();
      sent = static_cast<double>(stepper.bytes_sent() - before);
      MPI_Comm_free(&some);
    }
    bytes[ranks] = world.max(sent);
  }
  const RowLayout layout = RowLayout::of(grid);
  const double halos = 2.0 * (5 + 1) * layout.columns(),
               ends = 2.0 * PlaneFft::half_of(32, 16) + 4.0 * padded(layout.span());
  CHECK(bytes[1] == 0.0);
  for (const auto& [ranks, sent] : bytes) {
    INFO(ranks << " ranks send " << sent << " B a step");
    CHECK(sent <= 3.0 * 8.0 * (halos + 4.0 * ends));
    if (ranks > 1) CHECK(sent >= 3.0 * 8.0 * 2.0 * ends);  // what was counted was sent
  }
}
