#pragma once

namespace cambium {
class Registry;
}

namespace cambium::train {

/// Data sets and loaders that a deck can name and that need no plugin.
void register_data(Registry& registry);

}  // namespace cambium::train
