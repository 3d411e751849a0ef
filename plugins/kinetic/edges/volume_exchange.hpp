#pragma once
#include <vector>

#include "plugins/kinetic/edges/wall_exchange.hpp"
#include "plugins/kinetic/species/species.hpp"

namespace cambium::kinetic {

/// What a species gains and loses inside of the domain.
class VolumeExchange {
 public:
  VolumeExchange(Species& species, const VelocityTables& tables) : species_(species), tables_(tables) {}

  /// The source of unit rate is what slot 1 holds.
  void take_source();
  /// c times the source into f[out] and `fresh`. Returns its flow, per unit of c: this rank's share, as below.
  Flow add_source(int out, double c, std::vector<double>& fresh);
  /// f[out] -= c rate f[in], a rate per cell of configuration space. Returns what is lost.
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
