#pragma once

namespace cambium {
class Registry;
}

namespace cambium::train {

/// Networks that need Torch. In the library cambium::torch.
void register_torch(Registry& registry);

}  // namespace cambium::train
