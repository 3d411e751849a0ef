// Scalars that a flow carries besides its buoyancy.
#include "core/io/checkpoint.hpp"
#include "plugins/superres/convection/rows.hpp"
#include "tests/plugins/superres/convection_case.hpp"
#include "tests/shared_scratch.hpp"

using namespace cambium;
using namespace cambium::superres;
using namespace cambium::superres::test;

namespace {

/// A flow after some steps; further scalars begin as b does.
std::unique_ptr<Stepper> stepped(const Comm& comm, const Grid& grid, const Fluid& fluid) {
  auto out = std::make_unique<Stepper>(comm, Slab::make(grid, comm.rank(), comm.size()), fluid);
  Flow& flow = out->flow();
  set_initial_state({.noise = 0.2}, flow, 5);
  for (int f = flow.first_scalar(); f <= flow.carried(); ++f) Kokkos::deep_copy(flow.field(f), flow.field(field_b));
  out->fill_ghosts();
  out->start();
  for (int k = 0; k < 30; ++k) out->step(0.01);
  return out;
}

/// Whether field f of one flow has the bits of field g of another, ghost rows included.
bool same(const Flow& a, int f, const Flow& b, int g) {
  bool out = true;
  const auto first = on_host(a.fields), second = on_host(b.fields);
  for (int row = 0; row <= a.rows() + 1; ++row)
    for (int i = margin; i < margin + a.nx(); ++i) out = out && first(f, row, i) == second(g, row, i);
  return out;
}

/// Integral over the domain of s^power.
double integral(const Flow& flow, int field, int power, const Comm& comm) {
  double sum = 0.0;
  const auto fields = on_host(flow.fields);
  for (int row = 1; row <= flow.rows(); ++row)
    for (int i = margin; i < margin + flow.nx(); ++i)
      sum += std::pow(fields(field, row, i), power) * flow.slab.grid.height(flow.slab.first + row - 1) *
             flow.slab.grid.dx();
  return comm.sum(sum);
}

struct DyedSetup : PlatesSetup {
  explicit DyedSetup(const Params& params) : PlatesSetup(params) {}
  Fluid fluid() const {
    Fluid out = PlatesSetup::fluid();
    out.scalars.push_back({.name = "dye", .meaning = "a colour", .diffusivity = 3e-3, .bottom = 1.0, .top = 0.0});
    return out;
  }
};
using Dyed = Case<ConvectionPhysics<DyedSetup>>;
/// Scalars of two dimensions begin where v would stand.
constexpr int dye_field = field_v;
const char* const dyed_deck = "{rayleigh: 1e5, cells: [36, 22], width: 3, end_time: 50, initial: {noise: 0.2}}";

}  // namespace

TEST_CASE("a scalar with the buoyancy's keys has its bits, and the flow does not feel it") {
  const Comm comm;
  for (const bool periodic : {true, false}) {
    const Grid grid = periodic ? Grid::make(36, 22, 3.0, 1.0, 1.5, true) : Grid::make(30, 21, 1.0, 1.0, 1.2, false);
    Fluid fluid{1e-2, 2e-2};
    if (!periodic) {
      fluid.plates_conduct = false;
      fluid.left = 0.5;
      fluid.right = -0.5;
    }
    Fluid dyed = fluid;
    for (const double diffusivity : {5e-3, 2e-2})
      dyed.scalars.push_back({.name = "dye",
                              .meaning = "",
                              .diffusivity = diffusivity,
                              .plates_fix = fluid.plates_conduct,
                              .bottom = fluid.bottom,
                              .top = fluid.top,
                              .left = fluid.left,
                              .right = fluid.right});
    const auto plain = stepped(comm, grid, fluid), with = stepped(comm, grid, dyed);
    const Flow &a = plain->flow(), &b = with->flow();
    REQUIRE(b.fields.extent(0) == 6);
    for (int f = 0; f < 4; ++f) CHECK(same(a, f, b, f));
    CHECK(same(b, field_b, b, dye_field + 1));
    CHECK_FALSE(same(b, field_b, b, dye_field));
    CHECK(integral(b, dye_field, 2, comm) > integral(b, dye_field + 1, 2, comm));  // less is lost
  }
}

TEST_CASE("nothing of a scalar is lost where nothing passes the walls") {
  const Comm comm;
  Fluid fluid{1e-2, 1e-2};
  fluid.scalars.push_back({.name = "salt", .meaning = "", .diffusivity = 5e-3, .plates_fix = false});
  const Grid grid = Grid::make(36, 22, 3.0, 1.0, 1.5, true);
  Stepper stepper(comm, Slab::make(grid, comm.rank(), comm.size()), fluid);
  Flow& flow = stepper.flow();
  set_initial_state({.noise = 0.2}, flow, 5);
  const auto salted = on_host(flow.fields);
  for (int row = 1; row <= flow.rows(); ++row)
    for (int i = margin; i < margin + flow.nx(); ++i)
      salted(dye_field, row, i) = 1.0 + std::sin(0.3 * (i + flow.slab.first + row));
  Kokkos::deep_copy(flow.fields, salted);
  stepper.fill_ghosts();
  stepper.start();
  const double before = integral(stepper.flow(), dye_field, 1, comm);
  const double square = integral(stepper.flow(), dye_field, 2, comm);
  for (int k = 0; k < 30; ++k) stepper.step(0.01);
  CHECK(integral(stepper.flow(), dye_field, 1, comm) == Approx(before).epsilon(1e-12));
  CHECK(integral(stepper.flow(), dye_field, 2, comm) < 0.99 * square);
}

TEST_CASE("a physics that lists a scalar has it in state, checkpoints and pictures") {
  Dyed straight(dyed_deck, MPI_COMM_WORLD), resumed(dyed_deck, MPI_COMM_WORLD);
  const FieldSpec* dye = straight.state().find("dye");
  REQUIRE(dye);
  CHECK(dye->doc == "a colour");
  const SharedScratch scratch(straight.comm());
  const std::string path = scratch.file("dyed.h5");
  for (int k = 0; k < 17; ++k) straight.advance();
  io::write_checkpoint(path, straight.state(), straight.comm(), io::provenance_of(straight.context()),
                       [&](io::Group& root) {
                         auto group = root.create_group("physics");
                         straight.physics().save(group);
                       });
  {
    const io::Checkpoint checkpoint(path, resumed.comm());
    checkpoint.restore(resumed.state(), [](std::int64_t) {});
    resumed.physics().restore(resumed.state(), resumed.context(), checkpoint.file().group("physics"), true);
  }
  for (int k = 0; k < 17; ++k) {
    straight.advance();
    resumed.advance();
  }
  for (int f = 0; f <= dye_field; ++f) CHECK(same(straight.flow(), f, resumed.flow(), f));

  const auto drawn = straight.physics().grid_fields(straight.state(), straight.comm());
  REQUIRE(drawn);
  REQUIRE(drawn->fields.size() == 4);
  CHECK(drawn->fields[3].name == "dye");
  if (straight.comm().root()) {
    CHECK(std::ssize(drawn->fields[3].values) == drawn->cells());
    CHECK(drawn->fields[3].values[2] == on_host(straight.flow().fields)(dye_field, 1, margin + 2));
  }
}
