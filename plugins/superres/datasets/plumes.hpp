#pragma once
#include <memory>
#include <string>
#include <vector>

#include "core/deck/describe.hpp"
#include "core/train/kinds/dataset.hpp"
#include "plugins/superres/datasets/baselines.hpp"
#include "plugins/superres/datasets/labels.hpp"

namespace cambium::superres {

/// Snapshots of convection with labelled plumes: fields by (x, z), the class of each point by a rule given in the deck,
/// and a flag for periodic x. The rule uses the velocity; a network gets only `fields`.
class Plumes : public train::Dataset {
 public:
  struct Params {
    std::vector<std::string> data, fields;
    int frames = 0, every = 1;
    std::optional<bool> periodic;
    PlumeRule plume;
    static void describe(deck::Describe<Params>& d);
  };
  Plumes(const Params& params, Context&) : params_(params) {}

  void open(Context& context) override;
  std::int64_t size() const override { return std::ssize(images_); }
  /// Each of `fields` (nx, nz) float32, "classes" (nx, nz) u8, "wraps" (1) float64.
  std::vector<train::FieldInfo> fields() const override;
  std::vector<train::SamplePtr> read(std::span<const std::int64_t> ids) override;
  std::vector<Citation> citations() const override;

  /// Inputs of baselines without a network; temperatures are empty if b is not among `fields`.
  PlumeImage image(std::int64_t id) const;

 private:
  struct Image {
    std::vector<std::vector<float>> fields;
    std::vector<std::uint8_t> classes;
    double wraps = 0.0;
  };
  void add(const std::string& path, Context& context);

  Params params_;
  std::int64_t nx_ = 0, nz_ = 0;
  std::vector<std::shared_ptr<const Image>> images_;
};

}  // namespace cambium::superres
