#pragma once
#include <cstdint>

namespace cambium::sparse {

/// Size in bytes of the data cache of this level (1 to 3) available to one core, from the operating system; 32 kB, 512
/// kB, 16 MB if unknown.
std::int64_t cache_bytes(int level);

}  // namespace cambium::sparse
