#include "plugins/cosmo/boxes/latin_hypercube.hpp"

#include <algorithm>
#include <numeric>

#include "core/parallel/random.hpp"

namespace cambium::cosmo {

static constexpr auto hypercube_stream = static_cast<Stream>(71);  // this plugin's own

std::vector<std::vector<double>> latin_hypercube(std::int64_t points, std::int64_t dimensions, std::uint64_t seed) {
  std::vector<std::vector<double>> out(points, std::vector<double>(dimensions));
  for (std::int64_t d = 0; d < dimensions; ++d) {
    std::vector<std::size_t> order(out.size());
    std::vector<double> key, within;
    for (std::int64_t i = 0; i < points; ++i) {
      const Random4 random(seed, hypercube_stream, static_cast<std::uint64_t>(i), static_cast<std::uint64_t>(d));
      key.push_back(random.uniform(0));
      within.push_back(random.uniform(1));
    }
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return key[a] < key[b]; });
    for (std::size_t rank = 0; rank < order.size(); ++rank)
      out[order[rank]][d] = (static_cast<double>(rank) + within[order[rank]]) / static_cast<double>(points);
  }
  return out;
}

}  // namespace cambium::cosmo
