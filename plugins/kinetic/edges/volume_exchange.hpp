#pragma once
#include <vector>

#include "plugins/kinetic/edges/wall_exchange.hpp"
#include "plugins/kinetic/species/species.hpp"

namespace cambium::kinetic {

/// Gains and losses of a species inside the domain.
class VolumeExchange {
 public:
  VolumeExchange(Species& species, const VelocityTables& tables) : species_(species), tables_(tables) {}

  /// Takes the content of slot 1 as the source of unit rate.
  void take_source();
  /// Adds c times the source to f[out] and `fresh`. Returns its flow, per unit of c: contribution of this rank, as
  /// below.
  Flow add_source(int out, double c, std::vector<double>& fresh);
  /// f[out] -= c rate f[in], with a rate per cell of configuration space. Returns the loss.
  Flow lose(int in, int out, double c, const std::vector<double>& rate, std::vector<double>& fresh);
  /// c times new particles of density n, an expansion over this rank's cells, and of temperature T.
  Flow make(int out, double c, const std::vector<double>& n, double temperature, std::vector<double>& fresh);

 private:
  template <class T>
  void add_source_on(int out, double c);
  template <class T>
  void lose_on(int in, int out, double c, const std::vector<double>& rate);
  template <class T>
  void make_on(int out, double c, const std::vector<double>& n);
  /// Totals of moments over this rank's cells.
  Flow totals(const std::vector<double>& moments) const;

  Species& species_;
  const VelocityTables& tables_;
  View<char*> source_;
  std::vector<double> source_moments_;
  Flow source_flow_;
  double temperature_ = -1.0;    ///< of maxwellian_
  View<double*> maxwellian_;     ///< [iv][k]
  std::vector<double> of_mode_;  ///< [component][conf mode]: its moments
  View<int*> conf_mode_;
};

}  // namespace cambium::kinetic
