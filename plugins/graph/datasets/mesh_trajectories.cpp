#include "plugins/graph/datasets/mesh_trajectories.hpp"

#include <fmt/format.h>

#include <cmath>

#include "core/base/error.hpp"
#include "core/parallel/agree.hpp"
#include "core/parallel/random.hpp"
#include "plugins/graph/trajectories/step_sample.hpp"

namespace cambium::graph {

void MeshTrajectories::Params::describe(deck::Describe<Params>& d) {
  d("files", &Params::files, "files of the output node_fields, one for each run")
      .example("[\"{run}/simulate/nodes.h5\"]");
  d("fields", &Params::fields, "names of the values on the nodes").def({"c"});
  d("stride", &Params::stride, "number of snapshots of the file per time step").at_least(1).def(1);
  d("noise", &Params::noise,
    "standard deviation of the noise added to the inputs, in units of their standard deviation")
      .non_negative()
      .def(0.0);
  d("draws", &Params::draws, "number of noise realisations of each snapshot").at_least(1).def(1);
  d("seed", &Params::seed, "seed of the noise").at_least(0).def(1);
  d.check([](const Params& p) -> std::string {
    if (p.files.empty()) return "'files' names no file";
    if (p.fields.empty()) return "'fields' names no field";
    return p.draws > 1 && p.noise == 0.0
               ? "'draws' repeats every sample where 'noise' is 0; give noise, or remove draws"
               : "";
  });
}

void MeshTrajectories::open(Context& context) {
  trajectories_.clear();
  steps_.clear();
  io::on_every_rank(context.comm, [&] {
    for (const auto& file : params_.files) {
      trajectories_.push_back(
          std::make_shared<const Trajectory>(read_trajectory(file, params_.fields, params_.stride)));
      const auto& first = *trajectories_.front();
      if (std::abs(trajectories_.back()->interval - first.interval) > 1e-6 * first.interval)
        throw InputError(
            fmt::format("a step of '{}' takes {:g}, one of '{}' {:g}; a network learns steps of one length", file,
                        trajectories_.back()->interval, params_.files.front(), first.interval));
    }
  });
  const std::size_t fields = params_.fields.size();
  std::vector<double> sum(fields, 0.0), squares(fields, 0.0);
  double count = 0.0;
  for (std::size_t t = 0; t < trajectories_.size(); ++t) {
    for (std::int64_t m = 0; m + 1 < trajectories_[t]->moments(); ++m) steps_.emplace_back(t, m);
    for (const auto& values : trajectories_[t]->value) {
      for (std::size_t k = 0; k < values.size(); ++k) {
        sum[k % fields] += values[k];
        squares[k % fields] += values[k] * values[k];
      }
      count += static_cast<double>(values.size() / fields);
    }
  }
  deviation_.clear();
  for (std::size_t f = 0; f < fields; ++f)
    deviation_.push_back(std::sqrt(std::max(0.0, squares[f] / count - sum[f] * sum[f] / (count * count))));
  context.log.info(fmt::format("{} steps of {:g} on {} trajectories, the first of {} nodes and {} edges", steps_.size(),
                               trajectories_[0]->interval, trajectories_.size(), trajectories_[0]->nodes(),
                               trajectories_[0]->edge.size() / 2));
}

std::vector<train::FieldInfo> MeshTrajectories::fields() const { return step_fields(std::ssize(params_.fields)); }

train::SamplePtr MeshTrajectories::sample(std::int64_t id) const {
  const auto [which, moment] = steps_[id % std::ssize(steps_)];
  const auto& states = trajectories_[which]->value;
  auto value = states[moment];
  for (std::size_t k = 0; params_.noise > 0.0 && k < value.size(); ++k) {
    const Random4 random(static_cast<std::uint64_t>(params_.seed), Stream::made_samples, static_cast<std::uint64_t>(id),
                         k / 4);
    value[k] += params_.noise * deviation_[k % params_.fields.size()] * random.normal(static_cast<int>(k % 4));
  }
  return step_sample(id, trajectories_[which], std::move(value), states[static_cast<std::size_t>(moment) + 1]);
}

std::vector<train::SamplePtr> MeshTrajectories::read(std::span<const std::int64_t> ids) {
  std::vector<train::SamplePtr> out;
  for (const auto id : ids) out.push_back(sample(id));
  return out;
}

}  // namespace cambium::graph
