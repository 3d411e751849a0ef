#pragma once
#include <memory>
#include <optional>
#include <vector>

#include "core/deck/describe.hpp"
#include "core/plugin/physics.hpp"
#include "plugins/superres/convection/initial_state.hpp"
#include "plugins/superres/convection/statistics.hpp"
#include "plugins/superres/convection/stepper.hpp"
#include "plugins/superres/samples/network_correction.hpp"

namespace cambium::superres {

/// Keys common to all convection physics.
struct ConvectionKeys {
  double rayleigh = 0.0, prandtl = 1.0;
  std::vector<int> cells;  ///< along x and z, or x, y and z
  double stretching = 0.0;
  double end_time = 0.0;
  double courant = 1.0;
  double max_timestep = 0.05;
  double sample_interval = 0.0;
  double average_from = 0.0;
  InitialState initial;
  std::optional<std::string> correction;
  bool allow_other_parameters = false;

  bool spatial() const { return cells.size() == 3; }
  int nx() const { return cells.front(); }
  int ny() const { return spatial() ? cells[1] : 0; }
  int nz() const { return cells.back(); }
};

/// "" or an error message about cells along x and z or, if `three` is allowed, x, y and z.
std::string wrong_cells(const std::vector<int>& cells, bool three);
/// "" or an error message about waves of the initial state that the cells would show as longer ones.
std::string wrong_waves(const ConvectionKeys& keys);

/// Declares those keys for a Params that derives from them. `three`: also for three dimensions.
template <class P>
void describe_convection(deck::Describe<P>& d, bool three = false) {
  d("rayleigh", &ConvectionKeys::rayleigh, "Rayleigh number g alpha dT H^3 / (nu kappa)").positive();
  d("prandtl", &ConvectionKeys::prandtl, "Prandtl number nu / kappa").positive().def(1.0);
  d("cells", &ConvectionKeys::cells,
    three ? "cells along x and z; three values, along x, y and z, for three dimensions" : "cells along x and z")
      .example("[512, 128]");
  d("stretching", &ConvectionKeys::stretching,
    "s of the faces z = 1/2 (1 + tanh(s (2 k/n - 1)) / tanh s); 0: all rows of one height")
      .non_negative()
      .def(1.2);
  d("end_time", &ConvectionKeys::end_time, "free-fall times after which the run ends").positive();
  d("cfl", &ConvectionKeys::courant,
    three ? "largest (|u|/dx + |w|/dz) dt, with |v|/dy in three dimensions" : "largest (|u|/dx + |w|/dz) dt")
      .formerly("courant")
      .positive()
      .at_most(1.7)
      .def(1.0);
  d("max_timestep", &ConvectionKeys::max_timestep, "longest time step, free-fall times").positive().def(0.05);
  d("sample_interval", &ConvectionKeys::sample_interval,
    "steps are shortened so that every multiple of this time is met; 0: only the end")
      .non_negative()
      .def(0.0);
  d("average_from", &ConvectionKeys::average_from, "time at which the averages in the summary begin")
      .non_negative()
      .def(0.0);
  d("initial", &ConvectionKeys::initial, "state at the start");
  d("correction", &ConvectionKeys::correction,
    "model file of a network trained on a data set 'corrections', whose increments of b, u and w are added after each "
    "interval of its training; none by default");
  d("allow_other_parameters", &ConvectionKeys::allow_other_parameters,
    "true: 'correction' may have been trained on flows with another Rayleigh or Prandtl number or other plates; the "
    "run "
    "warns of it")
      .def(false);
  d.check([three](const P& p) { return wrong_cells(p.cells, three); });
  d.check([](const P& p) { return wrong_waves(p); });
  d.check([](const P& p) {
    return p.cells.size() != 3 && p.initial.wavelengths_y > 0
               ? "'initial.wavelengths_y' is for three dimensions: give three 'cells', along x, y and z"
               : "";
  });
}

void require_room(const ConvectionKeys& keys, const Comm& comm);
/// Collective: returns the keys if there is enough memory for the cells. InputError otherwise, before any of it is
/// allocated.
template <class P>
const P& with_room(const P& keys, const Comm& comm) {
  require_room(keys, comm);
  return keys;
}

/// Common part of this plugin's physics: state, time step and its length, averages.
class Convection {
 public:
  Convection(const ConvectionKeys& keys, const Grid& grid, const Fluid& fluid, Context& context);

  void declare(State& state);
  void initialise(State& state, Context& context);
  void restore(State& state, const io::Group& saved);
  void save(io::Group& group) const;
  void schedule(Schedule& schedule);
  double timestep() const { return dt_; }
  bool finished() const { return time_ >= keys_.end_time * (1.0 - 1e-12); }
  double progress() const { return time_ / keys_.end_time; }
  Physics::Work work() const;
  std::vector<Citation> citations() const;
  std::string summary() const;

  /// Declares global fields of face coordinates, so that outputs find the grid in the state, and numbers of the flow.
  void declare_grid(State& state);

  Stepper stepper;
  TimeAverages averages;
  /// Collective: largest |div u| over all ranks.
  double divergence();
  const Fluid& fluid() const { return stepper.owned().fluid; }
  const Grid& grid() const { return stepper.owned().slab.grid; }
  const ConvectionKeys& keys() const { return keys_; }

 private:
  void choose_timestep(std::int64_t step, double time);
  void align(double time);
  void load_correction();
  /// Collective: adds the network's increments at the end of each of its training intervals.
  void correct(const State& state, double time);
  void warn_of_coarse_cells() const;
  void warn_of_no_averages() const;
  void sample(std::int64_t step, double time, double dt);

  ConvectionKeys keys_;
  Context& context_;
  std::unique_ptr<NetworkCorrection> correction_;
  std::vector<double> x_faces_, y_faces_, z_faces_, periodic_, flow_;  ///< grid and flow for outputs
  double free_dt_ = 0.0, dt_ = 0.0, time_ = 0.0, sampled_at_ = 0.0;
};

}  // namespace cambium::superres
