#pragma once
#include <memory>
#include <vector>

#include "core/deck/describe.hpp"
#include "core/io/hdf5/h5.hpp"
#include "core/train/kinds/dataset.hpp"

namespace cambium {

/// A data set as none of this build's own can be: empty, or with samples of several sizes. What the program says of
/// such ones guards data sets of plugins to come. Fields x (two numbers, of odd samples one when `uneven`) and y (one
/// number).
class OddDataset : public train::Dataset {
 public:
  struct Params {
    std::int64_t samples = 0;
    bool uneven = false;
    static void describe(deck::Describe<Params>& d) {
      d("samples", &Params::samples, "samples").at_least(0).def(0);
      d("uneven", &Params::uneven, "odd samples are shorter").def(false);
    }
  };
  OddDataset(const Params& params, Context&) : params_(params) {}
  void open(Context&) override {}
  std::int64_t size() const override { return params_.samples; }
  std::vector<train::FieldInfo> fields() const override { return {{"x", "", {-1}}, {"y", "", {1}}}; }
  std::vector<train::SamplePtr> read(std::span<const std::int64_t> ids) override {
    std::vector<train::SamplePtr> out;
    for (const auto id : ids) {
      const auto numbers =
          std::make_shared<std::vector<double>>(std::vector<double>{1.0, static_cast<double>(id), 0.5});
      auto sample = std::make_shared<train::Sample>();
      sample->id = id;
      sample->fields["x"] = io::tensor_of(numbers->data(), {params_.uneven && id % 2 == 1 ? 1 : 2});
      sample->fields["y"] = io::tensor_of(numbers->data() + 2, {1});
      sample->storage = numbers;
      sample->bytes = 24;
      out.push_back(std::move(sample));
    }
    return out;
  }

 private:
  Params params_;
};

}  // namespace cambium
