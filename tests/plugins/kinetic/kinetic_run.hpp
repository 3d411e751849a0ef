#pragma once
// Runs a kinetic physics from its parameters, step by step, without a deck.
#include <memory>

#include "core/run/advance.hpp"
#include "plugins/kinetic/physics/vlasov_maxwell.hpp"
#include "plugins/kinetic/physics/vlasov_poisson.hpp"

namespace cambium::kinetic {

template <class P>
class KineticRun {
 public:
  explicit KineticRun(const typename P::Params& params, MPI_Comm parent = MPI_COMM_WORLD)
      : comm(parent), context{comm, log, timing}, physics(std::make_unique<P>(params, context)) {
    physics->declare(state, context);
    physics->schedule(schedule);
  }
  void start() { physics->initialise(state, context); }
  void step() { advance(schedule, *physics, state, timing, false); }
  void until(double time) {
    while (state.time < time - 1e-9) step();
  }
  /// An observable by name.
  double operator()(const std::string& name) {
    const auto list = physics->observables();
    std::vector<double> values(list.size());
    physics->measure(state, context, values);
    for (std::size_t k = 0; k < list.size(); ++k)
      if (list[k].name == name) return values[k];
    throw InternalError("no observable " + name);
  }

  Comm comm;
  Log log;
  Timing timing;
  Context context;
  State state;
  Schedule schedule;
  std::unique_ptr<P> physics;
};

/// An expansion over the cells of each rank, in all cells on every rank. Collective.
inline std::vector<double> all_cells(const Vlasov& physics, const double* own) {
  const Species& first = *physics.species().front();
  const ConfGrid& grid = first.conf();
  const auto modes = static_cast<std::size_t>(grid.modes());
  std::vector<double> out(static_cast<std::size_t>(grid.whole_count()) * modes, 0.0);
  for (int cell = 0; cell < grid.count(); ++cell)
    std::copy_n(own + static_cast<std::size_t>(cell) * modes, modes,
                out.begin() + std::ptrdiff_t{grid.index(grid.place(cell))} * grid.modes());
  first.ranks().row().sum(out);  // each cell from one rank, zeros from the others
  return out;
}
inline std::vector<double> all_cells(const Vlasov& physics, const std::vector<double>& own) {
  return all_cells(physics, own.data());
}

inline DomainParams domain(std::vector<std::string> lower, std::vector<std::string> upper, std::vector<int> cells) {
  DomainParams d;
  d.lower = std::move(lower);
  d.upper = std::move(upper);
  d.cells = std::move(cells);
  return d;
}

inline SpeciesParams species(const std::string& name, const std::string& charge, const std::string& mass,
                             std::vector<std::string> lower, std::vector<std::string> upper, std::vector<int> cells,
                             const std::string& f0) {
  SpeciesParams s;
  s.name = name;
  s.charge = charge;
  s.mass = mass;
  s.f0 = f0;
  s.velocity.lower = std::move(lower);
  s.velocity.upper = std::move(upper);
  s.velocity.cells = std::move(cells);
  return s;
}

/// Electrons on a neutral background with one wave.
inline VlasovPoisson::Params wave(const std::string& k, int nx, int nv, const std::string& f0, double v_max = 6.0) {
  VlasovPoisson::Params p;
  p.parameters = {{"k", k}, {"a", "1e-4"}};
  p.domain = domain({"0"}, {"2*pi/k"}, {nx});
  p.species = {species("electron", "-1", "1", {std::to_string(-v_max)}, {std::to_string(v_max)}, {nv}, f0)};
  return p;
}

}  // namespace cambium::kinetic
