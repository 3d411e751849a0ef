#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "core/io/hdf5/h5.hpp"

namespace cambium::md {

/// Sums over the lines of thermo.csv, for the results of a stage. Checkpoints hold them, so that the results of a
/// resumed run are those of all its lines.
struct LineAverages {
  std::int64_t lines = 0;
  double first_time = 0.0, last_time = 0.0;            ///< ps
  double first_conserved = 0.0, last_conserved = 0.0;  ///< eV
  double first_potential = 0.0, last_potential = 0.0;  ///< eV
  double temperature_sum = 0.0, pressure_sum = 0.0;    ///< K, bar

  void add(double time, double conserved, double potential, double temperature, double pressure) {
    if (lines == 0) {
      first_time = time;
      first_conserved = conserved;
      first_potential = potential;
    }
    last_time = time;
    last_conserved = conserved;
    last_potential = potential;
    temperature_sum += temperature;
    pressure_sum += pressure;
    ++lines;
  }

  void save(io::Group& group) const {
    const std::vector<double> all{static_cast<double>(lines),
                                  first_time,
                                  last_time,
                                  first_conserved,
                                  last_conserved,
                                  first_potential,
                                  last_potential,
                                  temperature_sum,
                                  pressure_sum};
    group.write(dataset, all)
        .set_attribute("doc",
                       "lines of thermo.csv; first and last time [ps], conserved and potential energy [eV]; "
                       "sums of temperature [K] and pressure [bar]");
  }

  /// Stays empty for the checkpoints of versions that did not store the sums.
  void load(const io::Group& group) {
    const auto all = group.exists(dataset) ? group.read<std::vector<double>>(dataset) : std::vector<double>();
    if (all.size() != 9) return;
    lines = static_cast<std::int64_t>(all[0]);
    double* const places[] = {&first_time,      &last_time,      &first_conserved, &last_conserved,
                              &first_potential, &last_potential, &temperature_sum, &pressure_sum};
    for (std::size_t k = 0; k < 8; ++k) *places[k] = all[k + 1];
  }

 private:
  static constexpr const char* dataset = "line_averages";
};

}  // namespace cambium::md
