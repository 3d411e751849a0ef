#pragma once
#include "core/deck/describe.hpp"
#include "plugins/deepmd/train/sample.hpp"

namespace cambium::deepmd {

/// Systems of DeePMD-kit's deepmd/npy format, one sample a frame, in the order of the deck and of the sets. Everything
/// is held in memory.
class DeepmdNpy : public train::Dataset {
 public:
  struct Params {
    std::vector<std::string> systems;
    static void describe(deck::Describe<Params>& d);
  };
  DeepmdNpy(const Params& params, Context&) : params_(params) {}

  void open(Context&) override;
  std::int64_t size() const override { return static_cast<std::int64_t>(samples_.size()); }
  std::vector<train::FieldInfo> fields() const override { return sample_fields(); }
  std::vector<train::SamplePtr> read(std::span<const std::int64_t> ids) override;
  std::int64_t bytes_read() const override { return bytes_; }

 private:
  Params params_;
  std::vector<train::SamplePtr> samples_;
  std::int64_t bytes_ = 0;
};

/// Frames of extended XYZ files with energies, forces and virials or stresses.
class ExtxyzSet : public train::Dataset {
 public:
  struct Params {
    std::vector<std::string> files;
    std::string energy = "energy", force = "forces", virial = "virial", stress = "stress";
    std::string energy_unit = "eV", length_unit = "angstrom";
    static void describe(deck::Describe<Params>& d);
  };
  ExtxyzSet(const Params& params, Context&) : params_(params) {}

  void open(Context&) override;
  std::int64_t size() const override { return static_cast<std::int64_t>(samples_.size()); }
  std::vector<train::FieldInfo> fields() const override { return sample_fields(); }
  std::vector<train::SamplePtr> read(std::span<const std::int64_t> ids) override;
  std::int64_t bytes_read() const override { return bytes_; }

 private:
  Params params_;
  std::vector<train::SamplePtr> samples_;
  std::int64_t bytes_ = 0;
};

}  // namespace cambium::deepmd
