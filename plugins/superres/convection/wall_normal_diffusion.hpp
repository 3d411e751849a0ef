#pragma once
#include "core/parallel/comm.hpp"
#include "plugins/superres/convection/explicit_terms.hpp"
#include "plugins/superres/convection/flow.hpp"
#include "plugins/superres/convection/interfaces.hpp"

namespace cambium::superres {

/// Crank-Nicolson diffusion along z of u, w, b, v and further scalars: (1 - c d2/dz2) delta = rhs with c = alpha dt/2
/// times viscosity or diffusivity, and homogeneous conditions on the plates. One object per stage of the time step;
/// tridiagonal systems whose coefficients depend on the row only.
///
/// By columns, for devices: a thread sweeps a few columns through all rows. By rows, for the host: right-hand sides
/// were eliminated as they were made (Elimination), and rows come back one after the other, so that other work on a row
/// follows while it is in the cache.
class WallNormalDiffusion {
 public:
  WallNormalDiffusion(const Comm& comm, const Slab& slab, const Fluid& fluid);
  /// Collective: coefficients of a new length alpha dt; nothing happens when it is the old one.
  void set(double alpha_dt);
  /// Collective: adds delta to what `flow` carries, and to w on the face that this rank's top row shares with the rank
  /// above. `rhs` (slots, m+2, columns) is lost.
  void add(const Flow& flow, const Fields& rhs);

  Elimination elimination() const { return {inverse_, behind_, sweep_}; }
  /// Collective, of an eliminated `rhs`: what the ranks on both sides add, also to w on that shared face. Then
  /// add_rows() of all steps, the last first.
  void join(const Flow& flow, const Fields& rhs);
  /// Adds delta in the rows of steps first..last-1; (slots, columns) of the step before is kept.
  void add_rows(const Flow& flow, const Fields& rhs, int first, int last);

  /// B that ends of slabs took so far, in three dimensions.
  std::int64_t bytes_sent() const { return superres::bytes_sent(parts_); }

  // Steps of add(), for this class: public since nvcc takes no kernel in a private member.
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
      fill_;  ///< (slots, m+2): what the first row feels of row k; what row k feels of the rank behind
  View<double**> last_, from_behind_;  ///< (slots, columns): the row of the step ahead, and that of the rank behind
  std::vector<Part> parts_;
};

}  // namespace cambium::superres
