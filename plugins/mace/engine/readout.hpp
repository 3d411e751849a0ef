#pragma once
#include "plugins/mace/model/mace_model.hpp"

namespace cambium::mace {

/// Energy of a readout (without scale); its gradient with respect to the features is added.
double read_out(const Readout& readout, double activation, const double* features, double scale, double* gradient);

}  // namespace cambium::mace
