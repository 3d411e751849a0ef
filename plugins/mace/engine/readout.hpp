#pragma once
#include "plugins/mace/model/mace_model.hpp"

namespace cambium::mace {

/// Energy that a readout adds (without scale), and its gradient with respect to the features, added.
double read_out(const Readout& readout, double activation, const double* features, double scale, double* gradient);

}  // namespace cambium::mace
