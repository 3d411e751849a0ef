#pragma once
#include <string>
#include <vector>

#include "core/io/hdf5/h5.hpp"
#include "plugins/kinetic/deck/params.hpp"

namespace cambium::kinetic {

/// Exponential rate of the fields' amplitude from the history of their energy, W ~ exp(2 gamma t).
class GrowthFit {
 public:
  explicit GrowthFit(const GrowthParams& params) : params_(params) {}

  void add(double time, double energy) { time_.push_back(time), energy_.push_back(energy); }
  struct Result {
    bool found = false;
    double gamma = 0.0;
    double omega = 0.0;  ///< 0 when the fit is not to an oscillation
    int points = 0;      ///< samples, or peaks
    double from = 0.0, to = 0.0;
  };
  Result fit() const;
  std::string line() const;

  void save(io::Group& group) const;
  void load(const io::Group& group);

 private:
  GrowthParams params_;
  std::vector<double> time_, energy_;
};

}  // namespace cambium::kinetic
