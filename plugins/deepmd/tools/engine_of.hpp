#pragma once
#include <fmt/format.h>

#include "plugins/deepmd/data/system.hpp"
#include "plugins/deepmd/engine/evaluate.hpp"
#include "plugins/deepmd/tools/tools.hpp"

namespace cambium::deepmd {

/// Message about parameters of the data that the model does not take; empty if there are none. DeePMD-kit ignores them,
/// too.
template <class Frames>
std::string unused_parameters(const DeepPotentialModel& model, const Frames& data) {
  bool frame = false, atomic = false;
  for (std::size_t k = 0; k < data.frames(); ++k) {
    frame = frame || (!data.frame(k).fparam.empty() && model.fparam.size == 0);
    atomic = atomic || (!data.frame(k).aparam.empty() && model.aparam.size == 0);
  }
  if (!frame && !atomic) return {};
  return fmt::format("the {} of the data {} not used: {} takes none",
                     frame && atomic ? "fparam and aparam"
                     : frame         ? "fparam"
                                     : "aparam",
                     frame && atomic ? "are" : "is", model.source);
}

/// Message about options in whose place the data have values of every frame; empty if there are none.
template <class Frames>
std::string unused_options(const ToolOptions& options, const DeepPotentialModel& model, const Frames& data) {
  if (data.frames() == 0) return {};
  const LabelledFrame& first = data.frame(0);
  const bool frame = !options.fparam.empty() && !first.fparam.empty() && model.fparam.size > 0;
  const bool atomic = !options.aparam.empty() && !first.aparam.empty() && model.aparam.size > 0;
  if (!frame && !atomic) return {};
  return fmt::format("{} not used: the data have {} of their own",
                     frame && atomic ? "--fparam and --aparam are"
                     : frame         ? "--fparam is"
                                     : "--aparam is",
                     frame && atomic ? "both"
                     : frame         ? "fparam"
                                     : "aparam");
}

/// Engine configured by a tool's options, for the frames of a DataSystem or LabelledData, whose own parameters are used
/// if present and taken by the model. `unused` reports parameters of the data that the model does not take, and options
/// that the data replace.
template <class Frames>
std::unique_ptr<Engine> engine_of(const ToolOptions& options, const Frames& data, std::string& unused) {
  auto model = DeepPotentialModel::load(options.model);
  unused = unused_parameters(model, data);
  if (const auto options_too = unused_options(options, model, data); !options_too.empty())
    unused += (unused.empty() ? "" : "; ") + options_too;
  EngineOptions engine{};
  engine.precision = options.precision;
  engine.compress_tolerance = options.compress;
  engine.fparam = options.fparam;
  engine.aparam = options.aparam;
  engine.of_data = true;
  if (data.frames() > 0) {
    const LabelledFrame& first = data.frame(0);
    const std::size_t atoms = std::max<std::size_t>(1, first.x.size());
    if (!first.fparam.empty() && model.fparam.size > 0) engine.fparam = first.fparam;
    if (!first.aparam.empty() && model.aparam.size > 0)
      engine.aparam.assign(first.aparam.begin(),
                           first.aparam.begin() + static_cast<std::ptrdiff_t>(first.aparam.size() / atoms));
  }
  return make_engine(model, engine);
}

/// Evaluates one frame with its own parameters, as far as the model takes them.
inline Evaluation evaluate_frame(Engine& engine, const LabelledFrame& frame, const std::vector<int>& types) {
  const DeepPotentialModel& model = engine.model();
  if (!frame.fparam.empty() && model.fparam.size > 0) engine.set_fparam(frame.fparam);
  const auto aparam = model.aparam.size > 0 ? std::span<const double>(frame.aparam) : std::span<const double>();
  return evaluate(engine, frame.x, types, frame.box, aparam);
}

}  // namespace cambium::deepmd
