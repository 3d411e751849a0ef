#pragma once
#include <cstdint>

namespace cambium::sparse {

/// Bytes of the data cache of this level (1 to 3) that one core reaches, as the operating system tells; 32 kB, 512 kB,
/// 16 MB where it does not.
std::int64_t cache_bytes(int level);

}  // namespace cambium::sparse
