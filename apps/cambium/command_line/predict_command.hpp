#pragma once
#include "core/plugin/command.hpp"

namespace cambium {
class Registry;
}

namespace cambium::train {

/// `cambium predict MODEL FILE [--output OUT]`: the stage `predict` without a deck. FILE is HDF5 or netCDF-4, with
/// arrays of the names under which the model was trained. The registry outlives the command.
Command predict_command(Registry& registry);

}  // namespace cambium::train
