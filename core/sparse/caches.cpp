#include "core/sparse/caches.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <string>

namespace cambium::sparse {

namespace {

/// The C library's sysconf() sums the third-level caches of all clusters of a CPU, of which a core can use one.
std::int64_t told(int level) {
  for (int index = 0; index < 8; ++index) {
    const std::string folder = fmt::format("/sys/devices/system/cpu/cpu0/cache/index{}/", index);
    int found = 0;
    std::string type;
    std::int64_t size = 0;
    char unit = ' ';
    if (!(std::ifstream(folder + "level") >> found)) break;
    if (found != level || !(std::ifstream(folder + "type") >> type) || type == "Instruction") continue;
    std::ifstream(folder + "size") >> size >> unit;
    return size * (unit == 'K' ? 1024 : unit == 'M' ? 1048576 : 1);
  }
  return 0;
}

}  // namespace

std::int64_t cache_bytes(int level) {
  static const std::array<std::int64_t, 3> bytes = [] {
    std::array<std::int64_t, 3> out{32 << 10, 512 << 10, 16 << 20};
    for (int l = 1; l <= 3; ++l)
      if (const auto size = told(l); size > 0) out[l - 1] = size;
    return out;
  }();
  return bytes[std::clamp(level, 1, 3) - 1];
}

}  // namespace cambium::sparse
