#pragma once
#include <memory>
#include <optional>

#include "core/train/kinds/dataset.hpp"
#include "plugins/pretrain/archive/simulations.hpp"

namespace cambium::pretrain {

/// One snapshot with its positive, as a sample: `field` and `partner` (channels, cells...) in float32, `periodic`
/// (axes), `parameters`, `simulation`, `moment`, `time`. Without a positive the field `partner` is absent.
struct Moment {
  std::int64_t simulation = 0, moment = 0;
  std::optional<std::int64_t> partner;  ///< another snapshot of the same simulation: the positive
};

std::vector<train::FieldInfo> field_infos(const Archive& archive, bool partners);
train::SamplePtr field_sample(std::int64_t id, const Moment& moment, std::shared_ptr<const Archive> archive);

}  // namespace cambium::pretrain
