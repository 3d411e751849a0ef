// Conversion of samples to frames with their neighbours.
#include <fmt/format.h>

#include "core/base/key_error.hpp"
#include "plugins/deepmd/networks/deep_potential.hpp"

namespace cambium::deepmd {

FramePtr FrameCache::get(const train::Sample& sample, const std::vector<std::string>& type_map, double rcut) {
  const std::uint64_t key = fingerprint(sample);
  if (const auto found = frames_.find(key); found != frames_.end()) return found->second;
  auto frame = std::make_shared<const TrainingFrame>(frame_of(sample, type_map, rcut));
  if (bytes_ + frame->bytes() <= limit_) {
    frames_[key] = frame;
    bytes_ += frame->bytes();
  }
  return frame;
}

/// Requires as many parameters as the energy networks take.
FramePtr DeepPotentialNetwork::frame_of_sample(const train::Sample& sample) {
  FramePtr frame = cache_.get(sample, shape_.type_map, shape_.rcut);
  const auto require = [&](const char* name, const std::vector<double>& values, int wanted) {
    if (wanted == 0 || std::ssize(values) == wanted) return;
    throw KeyError("deep_potential.parameters", fmt::format("numb_{}", name),
                   fmt::format("the energy network takes {} value(s) of {} for this frame, sample {} has {}", wanted,
                               name, sample.id, values.size()));
  };
  require("fparam", frame->fparam, shape_.fparam.size);
  require("aparam", frame->aparam, shape_.aparam.size * frame->atoms());
  return frame;
}

std::vector<FramePtr> DeepPotentialNetwork::frames(std::span<const train::SamplePtr> samples) {
  std::vector<FramePtr> out;
  for (const auto& sample : samples) out.push_back(frame_of_sample(*sample));
  return out;
}

}  // namespace cambium::deepmd
