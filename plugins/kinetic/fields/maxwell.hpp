#pragma once
#include <array>
#include <optional>
#include <string>
#include <vector>

#include "plugins/kinetic/fields/conf_ranks.hpp"
#include "plugins/kinetic/fields/field_model.hpp"

namespace cambium::kinetic {

/// Maxwell's equations in perfectly hyperbolic form (Munz et al., J. Comput. Phys. 161, 484 (2000)), discontinuous
/// Galerkin on configuration space:
///   dE/dt = c^2 curl B - chi c^2 grad phi - J/epsilon0,   dphi/dt = chi (rho/epsilon0 - div E),
///   dB/dt = -curl E - gamma grad psi,                     dpsi/dt = -gamma c^2 div B.
/// The central flux conserves the energy of the fields in space, the upwind flux damps what is not resolved.
///
/// Walls that reflect particles are perfect conductors. Others are open, with an upwind flux whatever that of the cells
/// is: outgoing waves leave, and incoming ones are those of the initial fields, so that a field at rest stays. Waves at
/// normal incidence leave completely; at an angle a to the normal (1 - cos a)/(1 + cos a) of their amplitude is
/// reflected.
class Maxwell : public FieldModel {
 public:
  enum Component { Ex, Ey, Ez, Bx, By, Bz, phi, psi, components };
  struct Options {
    double light_speed = 1.0, epsilon0 = 1.0;
    double clean_electric = 0.0, clean_magnetic = 0.0;  ///< chi and gamma
    bool upwind = false;
    bool driven = true;  ///< false: fields stay as they are (external ones)
  };
  /// For a rank that has the global grid, or one of several, whose `ranks` must outlive the fields.
  Maxwell(const ConfGrid& grid, const Options& options, const ConfRanks* ranks = nullptr,
          std::optional<ConfHalo> halo = {});

  /// Coefficients of one component in slot 0, in the cells of this rank.
  std::vector<double>& values(Component c) { return field_[0][c]; }

  void initialise(const Sources&) override { remember_outside(); }
  void stage(const Stage& stage, const Sources& before, const Sources& after) override;
  bool ahead() const override { return true; }
  const double* electric(int slot, int c) const override { return field_[slot][Ex + c].data(); }
  const double* magnetic(int slot, int c) const override { return field_[slot][Bx + c].data(); }
  double electric_energy(int slot) const override { return 0.5 * options_.epsilon0 * square(slot, Ex); }
  double magnetic_energy(int slot) const override {
    return 0.5 * options_.epsilon0 * options_.light_speed * options_.light_speed * square(slot, Bx);
  }
  double magnetic_wave_energy(int slot) const override;
  /// In a periodic domain the mean of div E is 0 whatever the charge is.
  bool neutralises() const override;
  std::vector<double> divergence() override;
  double frequency() const override;
  std::vector<Named> output() const override;
  void save(io::Group& group) const override;
  void load(const io::Group& group, const Sources&) override;
  void start_from(const io::Group& file, const Find& find, const Sources&) override;

  /// out = time derivative of a slot without sources; ghosts are those of the last stage's beginning.
  void derivative(int slot, std::vector<double> (&out)[components]) const;

 private:
  /// d(target)/dt holds factor * d(source)/dx_d.
  struct Term {
    int dimension, target, source;
    double factor;
  };
  double square(int slot, int first) const;
  /// Ghosts of a slot become those that other ranks have there.
  void exchange(int slot);
  void make_operators();
  void differentiate(const Term& term, int slot, std::vector<double>& out) const;
  void penalise(int d, int component, double speed, int slot, std::vector<double>& out) const;
  void penalise_open_walls(int d, int component, double speed, int slot, std::vector<double>& out) const;
  bool open(int d, bool high) const;
  bool any_open() const;
  void remember_outside();
  /// Coefficients of the cell beyond a face; `image` is used beyond a wall.
  const double* beyond(int cell, int d, int step, int component, int slot, std::vector<double>& image) const;
  double jump_speed(int d, int component) const;

  ConfGrid grid_;
  Options options_;
  const ConfRanks* ranks_;  ///< null: there is one rank
  std::optional<ConfHalo> halo_;
  std::vector<double> ghost_[components];  ///< of the slot that is differentiated
  std::vector<Term> terms_;
  struct Operators {
    SparseMatrix own, low, high;                 ///< central derivative
    SparseMatrix jump_own, jump_low, jump_high;  ///< what the upwind flux adds, per unit of speed
    SparseMatrix own_at_low, own_at_high;        ///< jump_own is their sum
  };
  std::array<Operators, 3> operators_;
  std::vector<double> field_[3][components];
  std::vector<double> outside_[components];  ///< initial fields, where a wall is open
};

/// Number of components that cells exchange: phi and psi only if they clean.
inline int told_components(const Maxwell::Options& options) {
  return options.clean_magnetic > 0.0   ? Maxwell::components
         : options.clean_electric > 0.0 ? Maxwell::psi
                                        : Maxwell::phi;
}

}  // namespace cambium::kinetic
