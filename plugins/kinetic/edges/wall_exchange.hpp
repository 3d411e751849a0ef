#pragma once
#include <string>
#include <vector>

#include "plugins/kinetic/edges/face_tables.hpp"

namespace cambium::kinetic {

/// Flow per time: particles, momentum over mass of each velocity dimension, integral of v^2 f.
using Flow = std::vector<double>;

/// One absorbing wall and one species: the outflow through it, and what it gives back.
class WallExchange {
 public:
  WallExchange(const VelocityTables& tables, int dimension, bool high);

  int dimension() const { return dimension_; }
  bool high() const { return high_; }
  /// Fraction that is reflected specularly, and the width of the Maxwellian that emitted particles have.
  void set_return(const VelocityTables& tables, double reflection, double vt, const std::function<double(double)>& sum);
  double reflection() const { return reflection_; }

  /// Flow of a slot through the faces of this rank's cells at the wall: [face][component], contribution of this rank.
  const std::vector<double>& measure(const Solver& solver, int slot);
  int faces() const { return static_cast<int>(side_.size()); }
  double face_area() const { return area_; }
  const std::vector<double>& flows() const { return flows_; }  ///< result of measure()
  /// Sum of the result of measure() over faces.
  Flow total() const;
  /// Adds c times what a wall gives back of f[in], and `emitted` particles per time and face, to f[out] and, for this
  /// rank, to its moments in `fresh`. Returns the emission, per unit of c: contribution of this rank.
  Flow give_back(Solver& solver, int in, int out, double c, const std::vector<double>& emitted,
                 std::vector<double>& fresh);

 private:
  template <class T>
  void measure_on(const Solver& solver, int slot);
  template <class T>
  void give_back_on(Solver& solver, int in, int out, double c);

  int dimension_, components_, conf_;
  bool high_;
  double reflection_ = 0.0, area_ = 1.0;
  std::vector<int> side_;
  std::vector<double> flows_;
  Flow of_emission_;                                    ///< of a particle per time
  View<int*> cells_, incoming_;                         ///< at the wall; velocity cells that move inwards
  View<int*> exponent_, across_, partner_, conf_mode_;  ///< of modes: see ReturnOfCell
  View<double*> outflow_, moments_, emission_, found_, emitted_, added_, streaming_, edge_;
};

}  // namespace cambium::kinetic
