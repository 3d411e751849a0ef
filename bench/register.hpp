#pragma once

namespace cambium {

class Registry;

/// Registers all benches of this build (CMake option CAMBIUM_BENCHES) for `cambium bench`.
void register_benches(Registry& registry);

}  // namespace cambium
