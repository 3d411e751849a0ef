#pragma once
#include "core/parallel/comm.hpp"
#include "plugins/superres/convection/explicit_terms.hpp"
#include "plugins/superres/convection/flow.hpp"
#include "plugins/superres/convection/interfaces.hpp"

namespace cambium::superres {

/// Crank-Nicolson diffusion along z of u, w, b, v and further scalars: (1 - c d2/dz2) delta = rhs with c = alpha dt/2
/// times viscosity or diffusivity, and homogeneous conditions on the plates. One object per stage of the time step;
/// tridiagonal systems whose coefficients depend only on the row.
///
/// By columns, for devices: a thread sweeps a few columns through all rows. By rows, for the host: right-hand sides
/// were eliminated when they were computed (Elimination), and rows are substituted one after the other, so that other
/// work on a row follows while it is in cache.
class WallNormalDiffusion {
 public:
  WallNormalDiffusion(const Comm& comm, const Slab& slab, const Fluid& fluid);
  /// Collective: coefficients for a new length alpha dt; no-op if it is unchanged.
  void set(double alpha_dt);
  /// Collective: adds delta to the transported fields of `flow`, and to w on the face shared by this rank's top row and
  /// the rank above. `rhs` (slots, m+2, columns) is lost.
  void add(const Flow& flow, const Fields& rhs);

  Elimination elimination() const { return {inverse_, behind_, sweep_}; }
  /// Collective, for an eliminated `rhs`: adds the contributions of the ranks on both sides, also to w on that shared
  /// face. Then add_rows() of all steps, the last first.
  void join(const Flow& flow, const Fields& rhs);
  /// Adds delta in the rows of steps first..last-1; (slots, columns) of the previous step is kept.
  void add_rows(const Flow& flow, const Fields& rhs, int first, int last);

  /// Bytes sent for ends of slabs so far, in three dimensions.
  std::int64_t bytes_sent() const { return superres::bytes_sent(parts_); }

  // Steps of add(), for this class: public, because nvcc does not accept kernels in private members.
  void eliminate(const Part& part, const Fields& rhs);
  void substitute(const Part& part, const Flow& flow, const Fields& rhs);
  void take_ends(const Part& part, const Fields& rhs);
  void take_answers(const Part& part, const Flow& flow);

 private:
  struct Rows {
    std::vector<double> behind, diagonal, ahead;
  };  ///< in the order of the sweep
  Rows coefficients(int field, double c) const;
  bool fixed_on_plates(int field) const;
  double diffusivity(int field) const;

  Slab slab_;
  Fluid fluid_;
  RowLayout layout_;
  Sweep sweep_;
  int slots_;
  double alpha_dt_ = 0.0;
  View<double**> inverse_, behind_, ahead_;  ///< (slots, m+2), by steps of the sweep; `ahead` is divided by the pivot
  View<double**> reach_,
      fill_;  ///< (slots, m+2): response of the first row to row k; of row k to the rank behind
  View<double**> last_, from_behind_;  ///< (slots, columns): row of the step ahead, and of the rank behind
  std::vector<Part> parts_;
};

}  // namespace cambium::superres
