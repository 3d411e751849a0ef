#pragma once
#include <array>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "core/io/hdf5/h5.hpp"
#include "plugins/kinetic/fields/field_model.hpp"

namespace cambium::kinetic {

/// A voltage over time.
using Voltage = std::function<double(double time)>;

/// A series circuit from ground to a conducting wall of potential V_w: with the current I into the wall
///   L dI/dt + R I + Q/C = V(t) - V_w,   dQ/dt = I.
/// Charge and current are those of wall_charge: per area in one dimension, per length in two.
struct WallCircuit {
  WallSide wall;
  double resistance = 0.0, inductance = 0.0;
  std::optional<double> capacitance;  ///< none: no capacitor
  Voltage voltage;
};

/// A wall whose potential is given over time.
struct WallVoltage {
  WallSide wall;
  Voltage voltage;
};

/// Circuits and voltages that walls are connected to.
struct WallDrives {
  std::vector<WallCircuit> circuits;
  std::vector<WallVoltage> voltages;
};

/// The circuits of a run with the charge of each capacitor and the current of each inductor, in three slots like the
/// distribution functions.
class WallCircuits {
 public:
  explicit WallCircuits(std::vector<WallCircuit> circuits);

  std::span<const WallCircuit> all() const { return circuits_; }
  /// Into the wall of circuit k, of a slot in which it has this potential.
  double current(std::size_t k, int slot, double wall_potential, double time) const;
  /// One stage, with the potentials of the walls and the time of slot `stage.in`.
  void stage(const Stage& stage, std::span<const double> wall_potential, double time);
  /// Frequency of circuit k, of which a step must be shorter than the inverse. `elastance` is by how much a charge
  /// raises the potential of its wall.
  double frequency(std::size_t k, double elastance) const;

  void save(io::Group& group) const;
  /// InputError when the file has other circuits; at rest where it has none.
  void load(const io::Group& group);

 private:
  struct State {
    double charge = 0.0, current = 0.0;
  };
  std::vector<WallCircuit> circuits_;
  std::array<std::vector<State>, 3> state_;
};

}  // namespace cambium::kinetic
