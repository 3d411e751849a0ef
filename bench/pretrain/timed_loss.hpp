#pragma once
#include "bench/pretrain/peers.hpp"

namespace cambium::pretrain {

struct LossSettings {
  std::int64_t samples = 4096, width = 64;
  int turns = 3, calls = 3;
};

/// Value and derivatives of the losses v3 and infonce in single precision. Adds SCHEME_ms to `out`; returns "" or the
/// problem.
std::string time_loss(const LossSettings& settings, Peers& peers, nlohmann::json& out);

}  // namespace cambium::pretrain
