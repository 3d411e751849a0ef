#include "plugins/superres/samples/network_correction.hpp"

#include <fmt/format.h>

#include "core/base/key_error.hpp"
#include "core/io/hdf5/h5.hpp"
#include "plugins/superres/samples/snapshot.hpp"

namespace cambium::superres {

NetworkCorrection::NetworkCorrection(const std::string& file, Context& context)
    : file_(file), model_(train::load_artifact(file, context)) {
  for (const auto& field : model_.info.fields) {
    if (field.info.name == "interval") interval_ = field.lowest;
    if (field.info.name == "coarse" && field.info.shape.size() == 4)
      nx_ = field.info.shape[2], nz_ = field.info.shape[3];
  }
  if (!(interval_ > 0.0))
    throw KeyError(
        "superres.correction.model", "correction",
        fmt::format("model '{}' corrects no solver: train a network on a data set of the type 'corrections'", file));
}

void NetworkCorrection::require_cells(std::size_t nx, std::size_t nz) const {
  if (static_cast<std::int64_t>(nx) == nx_ && static_cast<std::int64_t>(nz) == nz_) return;
  throw KeyError("superres.correction.cells", "correction",
                 fmt::format("model '{}' corrects a solver on {} x {} cells, and this one has {} x {}: give a model of "
                             "these cells",
                             file_, nx_, nz_, nx, nz));
}

FieldData NetworkCorrection::increments(const FieldData& frame) {
  const auto sample = snapshot(frame, 0, 1, 0, 0);
  const auto nodes = static_cast<std::size_t>(nx_ * nz_);
  std::vector<double> answer(frame.values.size() * nodes);
  const auto view = io::tensor_of(answer.data(), {1, std::ssize(frame.values), nx_, nz_});
  model_.network->infer(std::span(&sample, 1), model_.weights.views(), std::span(&view, 1));
  FieldData out = frame;
  out.values[0].assign(nodes, 0.0);
  for (std::size_t f = 1; f < out.values.size(); ++f)
    for (std::size_t k = 0; k < nodes; ++k) out.values[f][k] = answer[f * nodes + k] - frame.values[f][k];
  return out;
}

}  // namespace cambium::superres
