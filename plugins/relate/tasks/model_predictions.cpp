#include "plugins/relate/tasks/model_predictions.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <numeric>

#include "core/base/key_error.hpp"
#include "core/codec/rows/rows.hpp"
#include "core/io/hdf5/h5.hpp"
#include "core/train/tables/fetch_rows.hpp"
#include "plugins/relate/networks/table_network.hpp"

namespace cambium::relate {

/// Sums of bags from the rows of another object, each rounded within the bound of its table.
class TrainedModel::RoundedRows : public train::TableRows {
 public:
  explicit RoundedRows(std::vector<double> bounds) : bounds_(std::move(bounds)), bytes_(bounds_.size()) {}
  void of(train::TableRows* exact) { exact_ = exact; }
  TensorRef pooled(int table) override {
    const TensorRef exact = exact_->pooled(table);
    if (!(bounds_[table] > 0.0) || exact.elements() == 0) return exact;
    return exact.dtype == DType::f64 ? rounded<double>(exact, table) : rounded<float>(exact, table);
  }
  TensorRef gradient(int table) override { return exact_->gradient(table); }
  void ready() override { exact_->ready(); }

 private:
  template <class T>
  TensorRef rounded(const TensorRef& exact, int table) {
    auto& bytes = bytes_[table];
    bytes.resize(static_cast<std::size_t>(exact.elements()) * sizeof(T));
    std::memcpy(bytes.data(), exact.data, bytes.size());
    T* values = reinterpret_cast<T*>(bytes.data());
    const std::int64_t width = exact.shape[exact.rank - 1];
    const lowp::RowGroup<T> group{{values, static_cast<std::size_t>(exact.elements())}, width, bounds_[table]};
    lowp::ByteWriter sent;
    lowp::encode_rows<T>(std::span(&group, 1), sent);
    return io::tensor_of(values, {exact.elements() / width, width});
  }

  train::TableRows* exact_ = nullptr;
  std::vector<double> bounds_;
  std::vector<std::vector<std::byte>> bytes_;
};

std::vector<train::TableInfo> TrainedModel::tables() const {
  return model_.tables ? model_.tables->infos() : std::vector<train::TableInfo>{};
}

void TrainedModel::round_rows(std::vector<double> bounds) {
  rounded_ = std::make_shared<RoundedRows>(std::move(bounds));
}

void TrainedModel::look_up(std::span<const train::SamplePtr> samples) {
  train::look_up_rows(*model_.network, model_.tables.get(), samples, context_.comm);
  if (!rounded_ || !model_.tables) return;
  rounded_->of(&model_.tables->looked_up());
  model_.network->traits().tables->use_rows(rounded_.get());
}

TrainedModel::TrainedModel(const std::string& path, train::Dataset& data, Context& context)
    : context_(context), model_(train::load_artifact(path, context)),
      method_(fmt::format("{} ({})", model_.info.type, std::filesystem::path(path).parent_path().filename().string())) {
  if (!dynamic_cast<TableNetwork*>(model_.network.get()) && !has_vectors())
    throw KeyError(
        "predictions.models.type", "models",
        fmt::format("models: '{}' holds a {}, which reads no records; dlrm, factors, cosine_factorization and "
                    "affinity do",
                    path, model_.info.type));
  train::require_fields(model_, path, data);
  warn_of_known_pairs(path, data);
}

void TrainedModel::warn_of_known_pairs(const std::string& path, train::Dataset& data) {
  const auto* network = dynamic_cast<const TableNetwork*>(model_.network.get());
  const std::int64_t first[] = {0};
  if (!network || data.size() == 0 || network->seen().tested == 0) return;
  const auto tested = record_set_of(*data.read(first).front(), "models").tested;
  if (tested == 0 || tested == network->seen().tested) return;
  context_.log.warn(
      fmt::format("models: '{}' was trained with other test pairs than those that are evaluated, so that training may "
                  "have included some of them; give the data sets of training and of this stage the same folds",
                  path));
}

std::uint64_t TrainedModel::learned() const {
  if (const auto* vectors = dynamic_cast<const CosineFactorization*>(model_.network.get())) return vectors->learned();
  return dynamic_cast<const TableNetwork&>(*model_.network).seen().learned;
}

std::vector<double> TrainedModel::of(std::span<const train::SamplePtr> samples) {
  std::vector<double> out(samples.size());
  look_up(samples);
  if (samples.empty()) return out;
  TensorRef to = io::tensor_of(out.data(), {std::ssize(out)});
  to.is_const = false;
  model_.network->infer(samples, model_.weights.views(), std::span(&to, 1));
  return out;
}

CosineFactorization* TrainedModel::by_vectors(std::span<const train::SamplePtr> samples) {
  look_up(samples);
  return dynamic_cast<CosineFactorization*>(model_.network.get());
}

std::vector<double> said_of_all(TrainedModel& model, train::Dataset& data, Context& context) {
  constexpr std::int64_t block = 512;
  std::vector<double> out(data.size(), 0.0);
  const std::int64_t blocks = (data.size() + block - 1) / block;
  for (std::int64_t turn = 0; turn < blocks; turn += context.comm.size()) {
    const std::int64_t first = (turn + context.comm.rank()) * block, last = std::min(first + block, data.size());
    std::vector<std::int64_t> ids(std::max<std::int64_t>(0, last - first));
    std::iota(ids.begin(), ids.end(), first);
    const auto said = model.of(ids.empty() ? std::vector<train::SamplePtr>{} : data.read(ids));
    if (!said.empty()) std::copy(said.begin(), said.end(), out.begin() + first);
  }
  context.comm.sum(out);
  return out;
}

ModelPredictions predictions_of(const std::string& path, train::Dataset& data, Context& context) {
  TrainedModel model(path, data, context);
  return {model.method(), said_of_all(model, data, context), model.citations()};
}

std::vector<double> mean_of(const std::vector<ModelPredictions>& models) {
  std::vector<double> out(models.front().value.size(), 0.0);
  for (const auto& model : models)
    for (std::size_t k = 0; k < out.size(); ++k) out[k] += model.value[k] / static_cast<double>(models.size());
  return out;
}

}  // namespace cambium::relate
