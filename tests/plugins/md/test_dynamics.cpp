// What a step says of numbers that are none: the rank that holds the atom names it, the others say that it is
// elsewhere.
#include <limits>

#include "core/base/error.hpp"
#include "core/particles/lattice.hpp"
#include "plugins/md/domain/domain.hpp"
#include "plugins/md/dynamics/dynamics.hpp"
#include "tests/catch.hpp"

using namespace cambium;

namespace {

constexpr double nan_value = std::numeric_limits<double>::quiet_NaN();

/// No forces and no energy but what is set here.
class Unsound : public Potential {
 public:
  double energy = 0.0;
  std::int64_t bad_force_of = 0;  ///< tag
  void bind(std::span<const Species>) override {}
  double cutoff() const override { return 3.0; }
  void compute(const Particles& p, const NeighborList&, GhostExchange&, const ForceRequest&, ForceOutput& out,
               Context&) override {
    out.energy = energy;
    const auto tag = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), p.tag);
    const auto f = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), p.f);
    for (int i = 0; i < p.nlocal; ++i)
      if (tag(i) == bad_force_of) f(i, 1) = nan_value;
    Kokkos::deep_copy(p.f, f);
  }
};

struct World {
  Comm comm;
  Log log;
  Timing timing;
  Context context{comm, log, timing};
  Particles p = crystal(comm);
  md::Domain domain{comm, p.box};
  Unsound potential;
  md::Dynamics dynamics{p, domain, potential, 0.5, context};

  World() { dynamics.rebuild(); }
  static Particles crystal(const Comm& comm) {
    LatticeSpec spec;
    spec.type = LatticeType::bcc;
    spec.a = 4.0;
    spec.cells = {4, 4, 4};
    spec.species = {"Cs", "Cl"};
    return particles_of(make_lattice(spec, comm, 1));
  }
  int row_of(std::int64_t wanted) const {
    const auto tag = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), p.tag);
    for (int i = 0; i < p.nlocal; ++i)
      if (tag(i) == wanted) return i;
    return -1;
  }
};

/// What is said, and whether it leaves the word to another rank.
template <class F>
std::pair<std::string, bool> said(const F& call) {
  try {
    call();
  } catch (const NumericalError& error) {
    return {error.what(), error.elsewhere()};
  }
  return {"nothing", false};
}

}  // namespace

TEST_CASE("a force that is no number") {
  World w;
  w.potential.bad_force_of = 5;
  const auto [text, elsewhere] = said([&] { w.dynamics.compute_forces(true, 12); });
  if (w.row_of(5) >= 0) {
    CHECK(text.starts_with("step 12: the force of atom 5 ("));
    CHECK(!elsewhere);
  } else {
    CHECK(text == "step 12: a force on another rank is not a finite number");
    CHECK(elsewhere);
  }
}

TEST_CASE("a position that is no number") {
  World w;
  w.dynamics.compute_forces(true, 0);
  const int row = w.row_of(5);
  const auto x = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), w.p.x);
  if (row >= 0) x(row, 2) = nan_value;
  Kokkos::deep_copy(w.p.x, x);
  w.dynamics.drift(1e-3);
  const auto [text, elsewhere] = said([&] { w.dynamics.update_neighbors(13); });
  if (row >= 0) {
    CHECK(text.starts_with("step 13: the position of atom 5 ("));
    CHECK(!elsewhere);
  } else {
    CHECK(text == "step 13: a position on another rank is not a finite number");
    CHECK(elsewhere);
  }
}

TEST_CASE("sound forces with an energy that is no number") {
  World w;
  if (w.comm.rank() == 0) w.potential.energy = nan_value;
  w.dynamics.compute_forces(true, 0);
  CHECK(said([&] { w.dynamics.measure(); }).first ==
        "the potential energy is not a finite number; use a shorter timestep, minimise first, or check for overlapping "
        "atoms");
}
