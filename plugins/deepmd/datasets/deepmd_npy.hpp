#pragma once
#include "core/deck/describe.hpp"
#include "plugins/deepmd/datasets/held_samples.hpp"

namespace cambium::deepmd {

/// Systems in DeePMD-kit's formats deepmd/npy and deepmd/hdf5, one sample per frame, in the order of the deck and of
/// the sets. Everything is held in memory.
class DeepmdNpy : public train::Dataset {
 public:
  struct Params {
    std::vector<std::string> systems;
    static void describe(deck::Describe<Params>& d);
  };
  DeepmdNpy(const Params& params, Context&) : params_(params) {}

  void open(Context&) override;
  std::int64_t size() const override { return samples_.size(); }
  std::vector<train::FieldInfo> fields() const override { return sample_fields(); }
  std::vector<train::SamplePtr> read(std::span<const std::int64_t> ids) override { return samples_.at(ids); }
  std::int64_t bytes_read() const override { return samples_.bytes(); }

 private:
  void add(const std::string& path, const std::string& key);
  Params params_;
  HeldSamples samples_;
};

}  // namespace cambium::deepmd
