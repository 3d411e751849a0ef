#pragma once
#include "plugins/relate/datasets/streams.hpp"

namespace cambium::relate {

/// Counter-based random numbers for one purpose.
struct Draw {
  Stream stream;
  std::uint64_t seed, what;
  Random4 at(std::int64_t id, std::int64_t k) const {
    return {seed, stream, static_cast<std::uint64_t>(id), what << 32 | static_cast<std::uint64_t>(k)};
  }
  double uniform(std::int64_t id, std::int64_t k) const { return at(id, k).uniform(0); }
  double normal(std::int64_t id, std::int64_t k) const { return at(id, k).normal(0); }
  std::int64_t below(std::int64_t count, std::int64_t id, std::int64_t k) const {
    return static_cast<std::int64_t>(uniform(id, k) * static_cast<double>(count));
  }
};

}  // namespace cambium::relate
