#include "plugins/superres/datasets/snapshots.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/base/key_error.hpp"
#include "core/io/hdf5/h5.hpp"
#include "plugins/superres/equations/well_layout.hpp"
#include "plugins/superres/samples/window.hpp"

namespace cambium::superres {
namespace {

struct SnapshotMemory {
  std::vector<float> seen, future;
  std::array<std::vector<double>, 3> axis;
};

void append(const FieldData& flow, std::size_t first, std::size_t count, std::vector<float>& out) {
  const std::size_t nodes = flow.nx() * flow.nz();
  for (const auto& values : flow.values)
    for (std::size_t k = first * nodes; k < (first + count) * nodes; ++k) out.push_back(static_cast<float>(values[k]));
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

}  // namespace

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
    if (flow.nx() != first.nx() || flow.nz() != first.nz() || (flow.period > 0.0) != (first.period > 0.0))
      throw KeyError(
          "snapshots.grid", "data",
          fmt::format("'{}' has {} x {} points and x {}, '{}' {} x {} and {}: give files of one grid", path, flow.nx(),
                      flow.nz(), flow.period > 0.0 ? "periodic" : "between walls", params_.data.front(), first.nx(),
                      first.nz(), first.period > 0.0 ? "periodic" : "between walls"));
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

void require_no_bodies(const FieldData& flow) {
  if (flow.hidden.empty()) return;
  throw InputError(
      fmt::format("'{}' hides points under a mask, and forecasts are of flows without bodies: give fields "
                  "without a mask",
                  flow.file));
}

train::SamplePtr snapshot(const FieldData& flow, std::size_t first, int history, int ahead, std::int64_t id) {
  auto memory = std::make_shared<SnapshotMemory>();
  const std::int64_t fields = std::ssize(flow.values), nx = std::ssize(flow.axis[1]), nz = std::ssize(flow.axis[2]);
  append(flow, first, static_cast<std::size_t>(history), memory->seen);
  append(flow, first + static_cast<std::size_t>(history), static_cast<std::size_t>(ahead), memory->future);
  memory->axis = flow.axis;
  memory->axis[0] = {flow.axis[0].begin() + static_cast<std::ptrdiff_t>(first),
                     flow.axis[0].begin() + static_cast<std::ptrdiff_t>(first) + history};
  if (flow.period > 0.0) memory->axis[1].push_back(flow.axis[1].front() + flow.period);
  auto sample = std::make_shared<train::Sample>();
  sample->id = id;
  sample->fields["coarse"] = io::tensor_of(memory->seen.data(), {fields, history, nx, nz});
  if (ahead > 0) sample->fields["future"] = io::tensor_of(memory->future.data(), {fields, ahead, nx, nz});
  constexpr const char* axes[3] = {"t", "x", "z"};
  for (int a = 0; a < 3; ++a)
    sample->fields[axes[a]] = io::tensor_of(memory->axis[a].data(), {std::ssize(memory->axis[a])});
  sample->bytes = static_cast<std::int64_t>(4 * (memory->seen.size() + memory->future.size()));
  sample->storage = memory;
  return sample;
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
