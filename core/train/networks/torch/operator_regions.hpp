#pragma once

namespace cambium::train {

/// From now on Torch's operators are regions of a profile that is taken, by class, products with their operations.
void observe_operators();

}  // namespace cambium::train
