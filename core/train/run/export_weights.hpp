#pragma once
#include <string>
#include <vector>

#include "core/deck/describe.hpp"
#include "core/plugin/check.hpp"
#include "core/plugin/task.hpp"

namespace cambium::train {

/// The stage `export`: weights of a model file as safetensors, with PyTorch's names and layouts. Keys and statistics of
/// the network are stored in the file's metadata.
class ExportWeights : public Task {
 public:
  struct Params {
    std::string model, file = "model.safetensors";
    static void describe(deck::Describe<Params>& d) {
      d("model", &Params::model, "model file that a train stage wrote").example("\"{run}/train/model.h5\"");
      d("file", &Params::file, "name of the file that is written, in the folder of the stage").def("model.safetensors");
    }
  };
  ExportWeights(const Params& params, Context&) : params_(params) {}
  void examine(Check&) override;
  Outcome run(Context& context) override;
  std::vector<Result> results() const override;
  std::vector<std::string> files() const override { return {params_.file}; }

 private:
  Params params_;
  double tensors_ = 0.0, parameters_ = 0.0;
};

}  // namespace cambium::train
