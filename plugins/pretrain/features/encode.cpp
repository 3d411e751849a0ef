#include "plugins/pretrain/features/encode.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "core/base/key_error.hpp"
#include "core/io/hdf5/h5.hpp"
#include "core/train/data/numbers.hpp"
#include "plugins/pretrain/datasets/field_archive.hpp"
#include "plugins/pretrain/features/combinations.hpp"

namespace cambium::pretrain {

LoadedEncoder::LoadedEncoder(const std::string& path, Context& context)
    : path_(path), context_(context), model_(train::load_artifact(path, context)) {
  encoder_ = dynamic_cast<Encoder*>(model_.network.get());
  if (!encoder_)
    throw KeyError(
        "encoder.model.type", "model",
        fmt::format("model: '{}' holds a {}, which gives no vectors; train a field_encoder", path, model_.info.type));
}

LoadedEncoder::Vectors LoadedEncoder::vectors_of(train::Dataset& data, std::int64_t batch) {
  encoder_->scales().require_channels(data, path_);
  const auto* archive = dynamic_cast<const FieldArchive*>(&data);
  if (archive && !archive->parameter_names().empty()) require_parameters(archive->parameter_names());
  const auto outputs = model_.network->outputs();
  const std::int64_t n = data.size(), width = encoder_->width(), ranks = context_.comm.size();
  Vectors out;
  out.field = Matrix(n, width);
  if (outputs.size() > 1) out.partner = Matrix(n, width);
  for (std::int64_t from = context_.comm.rank() * batch; from < n; from += ranks * batch) {
    const auto to = std::min(n, from + batch);
    std::vector<std::int64_t> ids;
    for (std::int64_t id = from; id < to; ++id) ids.push_back(id);
    std::vector<TensorRef> targets{io::tensor_of(out.field.row(from).data(), {to - from, width})};
    if (outputs.size() > 1) targets.push_back(io::tensor_of(out.partner.row(from).data(), {to - from, width}));
    const auto samples = data.read(ids);
    model_.network->infer(samples, model_.weights.views(), targets);
  }
  context_.comm.sum(out.field.values);
  if (!out.partner.empty()) context_.comm.sum(out.partner.values);
  return out;
}

/// FNV-1a of all weights.
std::string LoadedEncoder::mark() {
  std::uint64_t hash = 0xcbf29ce484222325u;
  for (const auto& weights : model_.weights.views()) {
    std::vector<double> numbers(weights.elements());
    train::copy_numbers<double>(weights, std::span(numbers));
    for (const double x : numbers) hash = (hash ^ std::bit_cast<std::uint64_t>(x)) * 0x100000001b3u;
  }
  return fmt::format("{:016x}", hash);
}

void LoadedEncoder::require_parameters(const std::vector<std::string>& names) const {
  const auto known = encoder_->parameters_count();
  if (known == 0) return;
  if (known != std::ssize(names))
    throw KeyError("encoder.model.parameters", "model",
                   fmt::format("model: '{}' has {} parameters, but {} are given", path_, known, std::ssize(names)));
  encoder_->scales().require_parameters(names, path_);
}

Matrix LoadedEncoder::vectors_of(const std::map<std::string, std::vector<double>>& of) {
  std::vector<std::string> names;
  for (const auto& [name, values] : of) names.push_back(name);
  if (encoder_->parameters_count() == 0)
    throw KeyError(
        "encoder.model.untrained", "model",
        fmt::format("model: '{}' was not trained with parameters, so that runs that are not there yet have no vector; "
                    "train it with "
                    "positive: parameters",
                    path_));
  require_parameters(names);
  const Matrix parameters = combinations(of);
  Matrix out(parameters.rows, encoder_->width());
  out.values = encoder_->vectors_of(parameters.values, model_.weights.views());
  return out;
}

}  // namespace cambium::pretrain
