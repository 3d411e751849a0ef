#include "plugins/relate/tasks/model_predictions.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <numeric>

#include "core/base/error.hpp"
#include "core/io/hdf5/h5.hpp"
#include "core/train/networks/artifact/artifact.hpp"
#include "core/train/tables/fetch_rows.hpp"
#include "plugins/relate/networks/table_network.hpp"

namespace cambium::relate {

ModelPredictions predictions_of(const std::string& path, train::Dataset& data, Context& context) {
  constexpr std::int64_t block = 512;
  auto model = train::load_artifact(path, context);
  if (!dynamic_cast<TableNetwork*>(model.network.get()))
    throw InputError(
        fmt::format("models: '{}' holds a {}, which reads no records; dlrm and affinity do", path, model.info.type));
  train::require_fields(model.info, path, data);
  ModelPredictions out;
  out.method = fmt::format("{} ({})", model.info.type, std::filesystem::path(path).parent_path().filename().string());
  out.value.assign(static_cast<std::size_t>(data.size()), 0.0);
  const std::int64_t blocks = (data.size() + block - 1) / block;
  for (std::int64_t turn = 0; turn < blocks; turn += context.comm.size()) {
    const std::int64_t first = (turn + context.comm.rank()) * block, last = std::min(first + block, data.size());
    std::vector<std::int64_t> ids(static_cast<std::size_t>(std::max<std::int64_t>(0, last - first)));
    std::iota(ids.begin(), ids.end(), first);
    const auto samples = ids.empty() ? std::vector<train::SamplePtr>{} : data.read(ids);
    train::look_up_rows(*model.network, model.tables.get(), samples, context.comm);
    if (samples.empty()) continue;
    TensorRef to = io::tensor_of(out.value.data() + first, {std::ssize(samples)});
    to.is_const = false;
    model.network->infer(samples, model.weights.views(), std::span(&to, 1));
  }
  context.comm.sum(out.value);
  out.citations = model.network->citations();
  return out;
}

std::vector<double> mean_of(const std::vector<ModelPredictions>& models) {
  std::vector<double> out(models.front().value.size(), 0.0);
  for (const auto& model : models)
    for (std::size_t k = 0; k < out.size(); ++k) out[k] += model.value[k] / static_cast<double>(models.size());
  return out;
}

}  // namespace cambium::relate
