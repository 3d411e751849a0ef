#pragma once
#include <vector>

#include "core/io/hdf5/h5.hpp"
#include "core/parallel/comm.hpp"
#include "core/plugin/result.hpp"
#include "plugins/superres/convection/flow.hpp"

namespace cambium::superres {

/// Instantaneous means over the volume and the walls, in free-fall units. Every gradient is that of the scheme itself,
/// so that its balances of energy and heat close to rounding in a steady state.
struct Means {
  double kinetic = 0.0;                                     ///< <u^2 + v^2 + w^2>/2
  double flux_x = 0.0;                                      ///< <u b>
  double flux_z = 0.0;                                      ///< <w b>
  double strain = 0.0;                                      ///< <|grad u|^2 + |grad v|^2 + |grad w|^2>
  double gradient = 0.0;                                    ///< <|grad b|^2>
  double bottom = 0.0, top = 0.0, left = 0.0, right = 0.0;  ///< -db/dn of the walls: along z (plates), along x (sides)
  double largest_u = 0.0, largest_w = 0.0;                  ///< by find_largest()
};

/// Collective, one sum over ranks; ghosts must be up to date.
Means means_of(const Flow& flow, const Comm& comm);
/// Collective: |u| and |w| at their largest.
void find_largest(Means& means, const Flow& flow, const Comm& comm);

/// Averages over time, each sample weighted by the time since the previous one.
class TimeAverages {
 public:
  void add(const Means& means, double weight);
  double weight() const { return weight_; }
  long samples() const { return samples_; }
  /// Throws InternalError when nothing was added.
  Means mean() const;
  /// Mean kinetic energy as a result that states the length of the averaging time.
  Result kinetic_energy(const Means& mean) const;
  void save(io::Group& group) const;
  void load(const io::Group& group);

 private:
  std::vector<double> sums_ = std::vector<double>(9, 0.0);
  double weight_ = 0.0;
  std::int64_t samples_ = 0;
};

}  // namespace cambium::superres
