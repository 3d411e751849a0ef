#pragma once
#include <array>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/base/tensor_ref.hpp"
#include "plugins/kinetic/solver/layout.hpp"

namespace cambium::kinetic {

/// Properties of the modes of a configuration that are known without its kernels.
struct BasisInfo {
  std::string name;
  int cdim = 1, vdim = 1, order = 2, modes = 0, conf = 0;
  bool tensor = false;
  std::vector<std::vector<int>> exponents;               ///< [mode][dimension]
  std::vector<std::vector<int>> conf_exponents;          ///< [conf mode][dimension]
  int multiplications = 0, additions = 0, nonzeros = 0;  ///< per cell and right-hand side, each face once
};

/// Values of the acceleration's fields in this rank's cells of configuration space, PhaseGrid::local_conf order:
/// component c of conf mode k in cell i is field[c][i * conf + k]. Absent components are null.
struct ForceField {
  double charge_over_mass = 0.0;
  const double* electric[3] = {nullptr, nullptr, nullptr};
  const double* magnetic[3] = {nullptr, nullptr, nullptr};
  bool upwind = false;  ///< the acceleration's flux: upwind at the nodes of a face, or mean and penalty
  bool any() const { return charge_over_mass != 0.0 && (electric[0] || magnetic[0] || magnetic[1] || magnetic[2]); }
};

/// One stage of a Runge-Kutta step: f[out] = a f[base] + b f[in] + c L(f[in]), where L is the right-hand side of the
/// Vlasov equation. `out` differs from `in` and may be `base`. a is 0 or 1 - b, to rounding: the distribution function
/// takes 1 - b.
struct Stage {
  int in = 0, base = 0, out = 1;
  double a = 0.0, b = 1.0, c = 0.0;
};

/// The distribution function of one species on this rank: three copies of it (slots 0, 1, 2) and the fused stage.
///
/// Layout: packs of W cells along x, W the width of the machine's vectors. Lane l of pack j holds cell l m + j, with m
/// = ceil(n / W), so that neighbours along x are complete packs except for the first and the last. Then, from slow to
/// fast: other configuration dimensions, x packs, velocity cells (last dimension fastest), modes, lanes.
class Solver {
 public:
  virtual ~Solver() = default;
  virtual const BasisInfo& basis() const = 0;
  virtual const PhaseGrid& grid() const = 0;

  /// Coefficients of a cell of this rank, by local indices (PhaseGrid::local_conf, local_velocity order).
  virtual void set(int slot, int conf_cell, int velocity_cell, const double* coefficients) = 0;
  virtual void get(int slot, int conf_cell, int velocity_cell, double* coefficients) const = 0;
  /// Host changes made by set() become visible to the kernels, on all ranks of the grid when on one; and the other way
  /// round before get().
  virtual void to_device(int slot) = 0;
  virtual void to_host_const(int slot) const = 0;
  /// Calls of these two so far: on a device each copies a complete distribution function. Steps make none.
  std::int64_t copies() const { return copies_; }

  /// A slot on the device, for kernels other than a stage (packs_of in packs.hpp): its value type and layout.
  struct Storage {
    Precision precision;
    const Layout& layout;
    void* data;
  };
  virtual Storage storage(int slot) const = 0;
  /// On all ranks of the grid: such a kernel has changed a slot.
  virtual void changed(int slot) = 0;

  /// Collective among neighbours. Adds this rank's contribution to the moments of f[out] to `moments`: component c (M0,
  /// M1 of each velocity dimension, M2) of conf mode k in cell i at (i * (vdim + 2) + c) * conf + k. Returns the
  /// largest sum of frequencies (2p+1)|speed|/width of this rank for the state f[in]: a step dt is stable when dt times
  /// it is below 1.
  virtual double stage(const Stage& stage, const ForceField& force, std::vector<double>& moments) = 0;
  /// Possibility of fusing two stages into one pass on this rank: it needs no cut of velocity space, no walls that give
  /// particles back, and a few slabs of velocity space in the cache; it pays if no cache holds the distribution
  /// function. Ranks may differ: query all.
  enum class Fusing { impossible, possible, pays };
  virtual Fusing fusing() const = 0;
  /// Two stages in one pass, the second following the first while its input is in the cache: first.out == second.in is
  /// never stored. Results are the same as with two calls of stage(). Needs both fields beforehand.
  struct Half {
    Stage stage;
    ForceField force;
    std::vector<double>* moments;
  };
  virtual std::array<double, 2> stages(const Half& first, const Half& second) = 0;
  /// Adds this rank's contribution to the moments of a slot.
  virtual void moments(int slot, std::vector<double>& moments) const = 0;
  /// Makes stages run as on a device, whatever this one is: for tests. Only if one rank has all; on hosts only in
  /// single precision (std::logic_error).
  virtual void work_by_cells() = 0;
  /// Sum of squares of the coefficients times the cell volume, over this rank: the integral of f^2.
  virtual double square_integral(int slot) const = 0;
  /// Memory of the distribution functions here, with two stages fused wherever possible (`fused`) or never.
  virtual std::size_t bytes(bool fused) const = 0;

 protected:
  mutable std::int64_t copies_ = 0;
};

/// A configuration that this build has.
struct Built {
  BasisInfo info;
  std::unique_ptr<Solver> (*make_double)(const PhaseGrid&, const Comm&);
  std::unique_ptr<Solver> (*make_float)(const PhaseGrid&, const Comm&);
};
const std::vector<Built>& built();

/// InputError, with the option that builds it, when this build lacks the configuration.
const Built& find_built(int cdim, int vdim, int order, bool tensor);
std::unique_ptr<Solver> make_solver(const Built& built, Precision precision, const PhaseGrid& grid, const Comm& comm);

}  // namespace cambium::kinetic
