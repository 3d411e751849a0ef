#pragma once

namespace cambium {

class Registry;

/// Adds every measurement of this build (CMake option CAMBIUM_BENCHES) to those that `cambium bench` knows.
void register_benches(Registry& registry);

}  // namespace cambium
