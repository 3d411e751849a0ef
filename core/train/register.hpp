#pragma once

namespace cambium {
class Registry;
}

namespace cambium::train {

/// Everything that the training layer adds to decks and that needs no Torch.
void register_training(Registry& registry);

}  // namespace cambium::train
