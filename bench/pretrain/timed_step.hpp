#pragma once
#include "bench/pretrain/peers.hpp"

namespace cambium::pretrain {

struct StepSettings {
  std::int64_t batch = 64;
  int turns = 3, steps = 10;
};

/// Training steps of a `field_encoder` of pairs of fields over two axes, one of them periodic: both encoded, InfoNCE,
/// derivatives, AdamW. Adds step_ms, on more ranks ranks_step_ms of the same batch distributed; returns "" or the
/// problem. Collective.
std::string time_step(const StepSettings& settings, Peers& peers, nlohmann::json& out, Context& context);

}  // namespace cambium::pretrain
