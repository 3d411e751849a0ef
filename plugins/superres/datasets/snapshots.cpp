#include "plugins/superres/datasets/snapshots.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/base/key_error.hpp"
#include "plugins/superres/equations/well_layout.hpp"
#include "plugins/superres/samples/window.hpp"

namespace cambium::superres {
void Snapshots::Params::describe(deck::Describe<Params>& d) {
  d("data", &Params::data,
    "HDF5 files of p, b, u, w by (t, x, z), one for each run; of The Well FILE#3 for trajectory 3")
      .example("[\"{run}/simulate/fields.h5\"]");
  d("history", &Params::history, "number of consecutive frames that the network reads").at_least(1).def(1);
  d("ahead", &Params::ahead, "number of frames that follow, for forecasts of several steps").at_least(1).def(1);
  d("frames", &Params::frames, "frames of each file to use, from the end").at_least(2).def(200);
  d("every", &Params::every, "frames from the beginning of one sample to that of the next").at_least(1).def(1);
  d("periodic", &Params::periodic,
    "true if x is periodic; default: as in the file or, if it does not state it, detected from the values at both "
    "ends");
  d.check([](const Params& p) { return p.data.empty() ? "'data' names no file" : ""; });
}

void Snapshots::open(Context& context) {
  flows_.clear();
  windows_.clear();
  const auto span = static_cast<std::size_t>(params_.history + params_.ahead);
  for (const auto& path : params_.data) {
    of_the_well_ = require_layer(path) || of_the_well_;
    flows_.push_back(read_fields(path, flow_fields, static_cast<std::size_t>(params_.frames), params_.periodic));
    require_no_bodies(flows_.back());
    require_equal_steps(flows_.back());
    const auto &flow = flows_.back(), &first = flows_.front();
    const auto there = flow.axis[0].size();
    if (there < span)
      throw KeyError("snapshots.frames", "frames",
                     fmt::format("'{}' gives {} frames, fewer than one sample of 'history' {} and 'ahead' {}", path,
                                 there, params_.history, params_.ahead));
    require_one_grid(flow, first);
    for (std::size_t t = 0; t + span <= there; t += static_cast<std::size_t>(params_.every))
      windows_.push_back({flows_.size() - 1, t});
  }
  const auto& flow = flows_.front();
  context.log.info(
      fmt::format("{} file(s) of {} x {} points, {}; {} samples of {} frame(s) and the {} that follow, {:g} "
                  "free-fall times apart",
                  flows_.size(), flow.nx(), flow.nz(), ends_of_x(flow), windows_.size(), params_.history, params_.ahead,
                  flow.axis[0][1] - flow.axis[0][0]));
}

std::vector<train::FieldInfo> Snapshots::fields() const {
  const auto& flow = flows_.front();
  const std::int64_t nx = std::ssize(flow.axis[1]), nz = std::ssize(flow.axis[2]), fields = std::ssize(flow_fields);
  return {{"coarse", "", {fields, params_.history, nx, nz}, DType::f32},
          {"t", "", {params_.history}, DType::f64},
          {"x", "", {nx + (flow.period > 0.0 ? 1 : 0)}, DType::f64},
          {"z", "", {nz}, DType::f64},
          {"future", "", {fields, params_.ahead, nx, nz}, DType::f32}};
}

void require_equal_steps(const FieldData& flow) {
  const auto& t = flow.axis[0];
  for (std::size_t k = 1; k + 1 < t.size(); ++k)
    if (std::fabs(t[k + 1] - t[k] - (t[1] - t[0])) > 1e-3 * (t[1] - t[0]))
      throw KeyError(
          "snapshots.steps", "data",
          fmt::format("frames of '{}' are not equally far apart: {:g} from t = {:g} on, {:g} elsewhere; give "
                      "'frames' that are",
                      flow.file, t[k + 1] - t[k], t[k], t[1] - t[0]));
}

void require_one_grid(const FieldData& flow, const FieldData& first) {
  if (flow.nx() == first.nx() && flow.nz() == first.nz() && (flow.period > 0.0) == (first.period > 0.0)) return;
  throw KeyError("snapshots.grid", "data",
                 fmt::format("'{}' has {} x {} points and x {}, '{}' {} x {} and {}: give files of one grid", flow.file,
                             flow.nx(), flow.nz(), flow.period > 0.0 ? "periodic" : "between walls", first.file,
                             first.nx(), first.nz(), first.period > 0.0 ? "periodic" : "between walls"));
}

void require_no_bodies(const FieldData& flow) {
  if (flow.hidden.empty()) return;
  throw InputError(
      fmt::format("'{}' hides points under a mask, and forecasts are of flows without bodies: give fields "
                  "without a mask",
                  flow.file));
}

train::SamplePtr Snapshots::make(std::int64_t id) const {
  const Window& window = windows_[static_cast<std::size_t>(id)];
  return snapshot(flows_[window.file], window.first, params_.history, params_.ahead, id);
}

std::vector<train::SamplePtr> Snapshots::read(std::span<const std::int64_t> ids) {
  std::vector<train::SamplePtr> out;
  for (auto id : ids) out.push_back(make(id));
  return out;
}

std::vector<Citation> Snapshots::citations() const {
  return of_the_well_ ? std::vector<Citation>{well_citation()} : std::vector<Citation>{};
}

}  // namespace cambium::superres
