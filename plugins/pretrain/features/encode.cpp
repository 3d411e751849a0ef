#include "plugins/pretrain/features/encode.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/error.hpp"
#include "core/io/hdf5/h5.hpp"

namespace cambium::pretrain {

LoadedEncoder::LoadedEncoder(const std::string& path, Context& context)
    : path_(path), context_(context), model_(train::load_artifact(path, context)) {
  encoder_ = dynamic_cast<Encoder*>(model_.network.get());
  if (!encoder_)
    throw InputError(
        fmt::format("model: '{}' holds a {}, which gives no vectors; train a field_encoder", path, model_.info.type));
}

LoadedEncoder::Vectors LoadedEncoder::vectors_of(train::Dataset& data, std::int64_t batch) {
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

Matrix LoadedEncoder::vectors_of(const Matrix& parameters) {
  if (encoder_->parameters_count() == 0)
    throw InputError(
        fmt::format("model: '{}' was not trained with parameters, so that runs that are not there yet have no vector; "
                    "train it with "
                    "partner: parameters",
                    path_));
  if (parameters.columns != encoder_->parameters_count())
    throw InputError(fmt::format("model: '{}' knows {} parameters, but {} are given", path_,
                                 encoder_->parameters_count(), parameters.columns));
  Matrix out(parameters.rows, encoder_->width());
  out.values = encoder_->vectors_of(parameters.values, model_.weights.views());
  return out;
}

}  // namespace cambium::pretrain
