#pragma once
#include <optional>
#include <string>
#include <vector>

#include "core/plugin/check.hpp"
#include "core/plugin/physics.hpp"
#include "plugins/cosmo/gravity/particle_mesh.hpp"
#include "plugins/cosmo/gravity/spectrum.hpp"
#include "plugins/cosmo/gravity/theory.hpp"
#include "plugins/cosmo/gravity/time_steps.hpp"

namespace cambium::cosmo {

/// Power in bins of wave number at one time, (Mpc/h)^3: of the particles, and of cheaper approximations for the same
/// realisation.
struct Spectra {
  double a = 1.0;
  Bins bins;
  std::vector<double> power;     ///< of the particles, including shot noise
  std::vector<double> linear;    ///< of the initial density, scaled by linear growth
  std::vector<double> lpt;       ///< of particles displaced by perturbation theory to this time
  std::vector<double> expected;  ///< ensemble mean, by linear growth
  double shot_noise = 0.0;       ///< of as many particles at random positions
};

/// Growth of structure in dark matter: particles begin where Lagrangian perturbation theory puts them and move by kick,
/// drift and kick over steps of the scale factor, by the forces of a particle mesh. Lengths in Mpc/h, times in 1/H0;
/// the time of the state is the scale factor.
class ParticleMeshPhysics : public Physics, public Checked {
 public:
  struct Params {
    Cosmology cosmology;
    double box = 0.0, start = 0.02, end = 1.0;
    int particles = 0, time_steps = 50, order = 2;
    std::optional<int> mesh;
    Clouds assignment = Clouds::triangular;
    Spacing spacing = Spacing::logarithmic;
    static void describe(deck::Describe<Params>& d);
  };
  ParticleMeshPhysics(const Params& params, Context& context);

  void declare(State&, Context&) override;
  void initialise(State&, Context&) override;
  void restore(State&, Context&, const io::Group& saved, bool same_ranks) override;
  void resize(State&, std::int64_t rows) override { matter_.resize(rows); }
  void schedule(Schedule&) override;
  double timestep(const State& state) const override { return times_.after(state.step + 1) - times_.after(state.step); }
  std::string time_unit() const override { return ""; }
  std::vector<Observable> observables() const override;
  void measure(const State&, Context&, std::span<double> values) override;
  std::optional<GridFields> grid_fields(const State&, const Comm&) const override;
  bool finished() const override { return step_ >= params_.time_steps; }
  bool ends() const override { return true; }
  double progress(const State&) const override { return static_cast<double>(step_) / params_.time_steps; }
  Work work(const State&) const override { return {matter_.particles(), "particle"}; }
  std::vector<Result> results() const override { return results_; }
  std::vector<std::string> report() const override { return lines_; }
  std::vector<Citation> citations() const override;
  std::string summary() const override;
  void examine(Check& check) override;

  const Params& params() const { return params_; }
  const ParticleMesh& matter() const { return matter_; }
  const Theory& theory() const { return theory_; }
  /// Collective: at the current time.
  Spectra spectra() const;

 private:
  /// Collective: what follows from the particles.
  void begin_at(std::int64_t step);
  double growth() const;
  void write_page();

  Params params_;
  const Comm& comm_;
  TimeSteps times_;
  ParticleMesh matter_;
  Theory theory_;
  View<double*> start_waves_;  ///< of the initial density on the mesh
  std::int64_t step_ = 0;
  std::vector<Result> results_;
  std::vector<std::string> lines_;
};

}  // namespace cambium::cosmo
