#pragma once

namespace cambium {
class Registry;
}

namespace cambium::train {

/// Registers all types of the training layer that do not need Torch.
void register_training(Registry& registry);

}  // namespace cambium::train
