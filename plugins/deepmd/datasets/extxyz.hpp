#pragma once
#include "core/deck/describe.hpp"
#include "plugins/deepmd/data/extxyz_keys.hpp"
#include "plugins/deepmd/datasets/held_samples.hpp"

namespace cambium::deepmd {

/// Frames of extended XYZ files with energies, forces and virials or stresses.
class ExtxyzSet : public train::Dataset {
 public:
  struct Params : ExtxyzKeys {
    std::vector<std::string> files;
    static void describe(deck::Describe<Params>& d);
  };
  ExtxyzSet(const Params& params, Context&) : params_(params) {}

  void open(Context&) override;
  std::int64_t size() const override { return samples_.size(); }
  std::vector<train::FieldInfo> fields() const override { return sample_fields(); }
  std::vector<train::SamplePtr> read(std::span<const std::int64_t> ids) override { return samples_.at(ids); }
  std::int64_t bytes_read() const override { return samples_.bytes(); }

 private:
  Params params_;
  HeldSamples samples_;
};

}  // namespace cambium::deepmd
