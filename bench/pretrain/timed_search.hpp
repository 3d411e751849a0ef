#pragma once
#include "bench/pretrain/peers.hpp"

namespace cambium::pretrain {

struct SearchSettings {
  std::int64_t rows = 1000000, columns = 128, queries = 1000, count = 10;
  double recall = 0.99;
  int turns = 3;
};

/// Adds KIND_* to `out`; returns "" or the problem.
std::string time_search(const std::string& kind, const SearchSettings& settings, Peers& peers, nlohmann::json& out,
                        Context& context);

}  // namespace cambium::pretrain
