#pragma once
#include <array>
#include <memory>
#include <optional>

#include "core/deck/describe.hpp"
#include "core/train/kinds/dataset.hpp"

namespace cambium::pretrain {

/// Synthetic patterns: the positions of spots depend on the class, and all are shifted and rotated together for each
/// sample.
struct MadeUpImages {
  std::int64_t samples = 1000, size = 16, classes = 4;
  double noise = 0.1;
  std::int64_t seed = 1;
  static void describe(deck::Describe<MadeUpImages>& d);
};

/// Images of one channel with labels, entire or as halves: then `field` is one half and `partner` the other. Integer
/// values are divided by 255. Held in memory.
class Images : public train::Dataset {
 public:
  enum class Halves { none, top_bottom, left_right };
  struct Params {
    std::string file, images, labels;
    std::optional<MadeUpImages> made_up;
    Halves halves = Halves::none;
    std::optional<std::array<std::int64_t, 2>> range;
    static void describe(deck::Describe<Params>& d);
  };
  Images(const Params& params, Context&) : params_(params) {}

  void open(Context& context) override;
  std::int64_t size() const override { return std::ssize(samples_); }
  std::vector<train::FieldInfo> fields() const override;
  std::vector<train::SamplePtr> read(std::span<const std::int64_t> ids) override;

 private:
  struct Pictures;
  Pictures pictures() const;
  Params params_;
  std::int64_t rows_ = 0, columns_ = 0;  ///< of a sample
  std::vector<train::SamplePtr> samples_;
};

}  // namespace cambium::pretrain
