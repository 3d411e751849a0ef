#include "core/train/run/export_weights.hpp"

#include <fmt/format.h>

#include <filesystem>

#include "core/base/log.hpp"
#include "core/deck/about_key.hpp"
#include "core/parallel/agree.hpp"
#include "core/plugin/check.hpp"
#include "core/train/run/exported_head.hpp"
#include "core/train/weights/artifact.hpp"
#include "core/train/weights/safetensors.hpp"

namespace cambium::train {

void ExportWeights::examine(Check& check) {
  check.will_write({params_.file});  // for start_from of any network
  check.context().log.info(fmt::format("weights of {}", params_.model));
  check.require_written_by("model", params_.model, {{Origin::network}});
  check.reads(check.stage().keys["model"]);
}

Task::Outcome ExportWeights::run(Context& context) {
  const auto model = deck::about_key("export.model", "model", [&] { return load_artifact(params_.model, context); });
  const DType dtype = model.weights.dtype();
  const Safetensors content{dtype, to_torch(model.info.type, model.weights), metadata_of(model.info)};
  tensors_ = static_cast<double>(content.tensors.size());
  parameters_ = static_cast<double>(model.layout->parameters());
  io::on_root(context.comm, [&] {
    write_safetensors((std::filesystem::path(context.run_directory) / params_.file).string(), content);
  });
  return Outcome::done;
}

std::vector<Result> ExportWeights::results() const {
  return {{"tensors", "tensors", tensors_}, {"parameters", "parameters", parameters_}};
}

}  // namespace cambium::train
