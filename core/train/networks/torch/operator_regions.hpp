#pragma once

namespace cambium::train {

/// Reports Torch's operators as regions of a running profile from now on, by class; matrix products with their
/// operations.
void observe_operators();

}  // namespace cambium::train
