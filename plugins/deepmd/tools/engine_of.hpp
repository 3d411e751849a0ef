#pragma once
#include "plugins/deepmd/data/system.hpp"
#include "plugins/deepmd/engine/evaluate.hpp"
#include "plugins/deepmd/tools/tools.hpp"

namespace cambium::deepmd {

/// The engine that a tool's options ask for.
inline std::unique_ptr<Engine> engine_of(const ToolOptions& options) {
  EngineOptions engine;
  engine.precision = options.precision;
  engine.compress_tolerance = options.compress;
  engine.fparam = options.fparam;
  engine.aparam = options.aparam;
  return make_engine(DeepPotentialModel::load(options.model), engine);
}

/// The same for the frames of a DataSystem or LabelledData, whose own parameters are used where it has them.
template <class Frames>
std::unique_ptr<Engine> engine_of(ToolOptions options, const Frames& data) {
  if (data.frames() > 0) {
    const LabelledFrame& first = data.frame(0);
    const std::size_t atoms = std::max<std::size_t>(1, first.x.size());
    if (!first.fparam.empty()) options.fparam = first.fparam;
    if (!first.aparam.empty())
      options.aparam.assign(first.aparam.begin(),
                            first.aparam.begin() + static_cast<std::ptrdiff_t>(first.aparam.size() / atoms));
  }
  return engine_of(options);
}

/// One frame with its own parameters.
inline Evaluation evaluate_frame(Engine& engine, const LabelledFrame& frame, const std::vector<int>& types) {
  if (!frame.fparam.empty()) engine.set_fparam(frame.fparam);
  return evaluate(engine, frame.x, types, frame.box, frame.aparam);
}

}  // namespace cambium::deepmd
