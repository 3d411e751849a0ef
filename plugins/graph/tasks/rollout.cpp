#include "plugins/graph/tasks/rollout.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <memory>

#include "core/base/key_error.hpp"
#include "core/base/timing.hpp"
#include "core/io/csv.hpp"
#include "core/io/hdf5/atomic_file.hpp"
#include "core/io/hdf5/labels.hpp"
#include "core/io/provenance.hpp"
#include "core/parallel/agree.hpp"
#include "core/plugin/check.hpp"
#include "core/plugin/registry.hpp"
#include "core/train/weights/artifact.hpp"
#include "plugins/graph/trajectories/interpolation.hpp"
#include "plugins/graph/trajectories/network_steps.hpp"
#include "plugins/graph/trajectories/step_sample.hpp"

namespace cambium::graph {

void Rollout::Params::describe(deck::Describe<Params>& d) {
  d("model", &Params::model, "model file of a mesh_graph_net that a train stage wrote")
      .example("\"{run}/train/model.h5\"");
  d("training", &Params::training, "runs that the linear steps are fitted to: those that the model was trained on")
      .example("[\"{run}/simulate/nodes.h5\"]");
  d("test", &Params::test, "test runs, each started from its first snapshot")
      .example("[\"{run}/simulate_2/nodes.h5\"]");
  d("coarse", &Params::coarse,
    "runs of the solver on coarser meshes from the same starts, one for each of 'test', by a name for the table")
      .def({})
      .example("{quarter: [\"{run}/simulate_3/nodes.h5\"]}");
  d("fields", &Params::fields, "names of the values on the nodes").def({"c"});
  d("stride", &Params::stride, "number of snapshots of the files per time step").at_least(1).def(1);
  d("steps", &Params::steps, "steps of a roll-out").at_least(1).def(50);
  d.check([](const Params& p) -> std::string {
    if (p.training.empty() || p.test.empty()) return "'training' and 'test' need one file each at least";
    for (const auto& [name, files] : p.coarse)
      if (files.size() != p.test.size())
        return fmt::format("'coarse.{}' has {} files, 'test' has {}; give one coarse run for each of 'test'", name,
                           files.size(), p.test.size());
    return "";
  });
}

void Rollout::examine(Check& check) {
  for (const char* name : {"rollout.csv", "rollout.h5"}) check.will_write({name, {Origin::stage, "rollout"}});
  check.context().log.info(
      fmt::format("rollout: {} steps of {} on {} runs", params_.steps, params_.model, params_.test.size()));
  check.require_written_by("model", params_.model, {{Origin::network}});
  check.require_written_by("training", params_.training, {{Origin::output, "node_fields"}});
  check.require_written_by("test", params_.test, {{Origin::output, "node_fields"}});
  for (const auto& [name, files] : params_.coarse)
    check.require_written_by(deck::child_path("coarse", name), files, {{Origin::output, "node_fields"}});
}

void Rollout::read(Context& context) {
  io::on_every_rank(context.comm, [&] {
    const auto one = [&](const std::string& file) {
      return std::make_shared<const Trajectory>(read_trajectory(file, params_.fields, params_.stride));
    };
    const auto require_long = [&](const std::string& file, const Trajectory& t) {
      if (t.moments() <= params_.steps)
        throw KeyError(
            "rollout.steps.range", "steps",
            fmt::format("'{}' holds {} steps of stride {}, but 'steps' is {}; lower steps, or give longer runs", file,
                        t.moments() - 1, params_.stride, params_.steps));
    };
    for (const auto& file : params_.training) training_.push_back(*one(file));
    for (const auto& file : params_.test) require_long(file, *test_.emplace_back(one(file)));
    const auto require_interval = [&](const std::string& file, const Trajectory& t) {
      if (std::abs(t.interval - test_[0]->interval) > 1e-6 * t.interval)
        throw InputError(fmt::format("a step of '{}' takes {:g}, one of '{}' {:g}; give both runs one interval", file,
                                     t.interval, params_.test[0], test_[0]->interval));
    };
    for (std::size_t k = 0; k < training_.size(); ++k) require_interval(params_.training[k], training_[k]);
    for (std::size_t k = 0; k < test_.size(); ++k) require_interval(params_.test[k], *test_[k]);
    for (const auto& [name, files] : params_.coarse)
      for (std::size_t k = 0; k < files.size(); ++k) {
        const auto& coarse = *coarse_[name].emplace_back(one(files[k]));
        require_long(files[k], coarse);
        require_interval(files[k], coarse);
      }
  });
}

const Rollout::Row* Rollout::find(const std::string& name) const {
  const auto found = std::find_if(rows_.begin(), rows_.end(), [&](const Row& row) { return row.name == name; });
  return found == rows_.end() ? nullptr : &*found;
}

Rollout::Row& Rollout::row(const std::string& name) {
  if (const Row* found = find(name)) return const_cast<Row&>(*found);
  return rows_.emplace_back(Row{name, {}, {}, 0, {}, 0.0});
}

void Rollout::go(Row& row, const Trajectory& truth, const Step& step) const {
  const std::size_t fields = params_.fields.size();
  row.error.resize(params_.steps, 0.0);
  row.amount.resize(row.error.size(), 0.0);
  auto value = truth.value[0];
  const bool first = row.runs++ == 0;
  for (std::size_t k = 0; k < row.error.size(); ++k) {
    const double begun = wall_seconds();
    value = step(value);
    row.seconds += wall_seconds() - begun;
    const auto& right = truth.value[k + 1];
    std::vector<double> amount(fields, 0.0);
    for (std::size_t i = 0; i < value.size(); ++i) {
      const double off = value[i] - right[i], share = truth.share[i / fields];
      row.error[k] += share * off * off / static_cast<double>(fields);
      amount[i % fields] += share * off;
    }
    for (const double a : amount) row.amount[k] += a * a / static_cast<double>(fields);
    if (first) row.first.push_back(value);
  }
}

void Rollout::go_linear(const Trajectory& truth, const LinearStep& linear) {
  if (linear.fits(truth)) go(row(linear.name()), truth, [&](const auto& value) { return linear.step(truth, value); });
}

/// Computing time of the run for one step; 0 if its file does not have it.
static double seconds_per_step(const Trajectory& t, std::int64_t stride) {
  const auto& s = t.seconds;
  return s.size() > 1 && s.back() > s.front()
             ? (s.back() - s.front()) * static_cast<double>(stride) / static_cast<double>(s.size() - 1)
             : 0.0;
}

/// Interpolates an existing coarse run to the nodes of the fine one; its cost is that of its own steps.
void Rollout::go_coarse(const std::string& name, const Trajectory& truth, const Trajectory& coarse) {
  const Interpolation fine(coarse, truth.place);
  std::size_t moment = 0;
  Row& to = row(name);
  const double before = to.seconds;
  go(to, truth, [&](const auto&) { return fine(coarse.value[++moment], params_.fields.size()); });
  to.seconds = before + seconds_per_step(coarse, params_.stride) * static_cast<double>(params_.steps);
}

Task::Outcome Rollout::run(Context& context) {
  read(context);
  auto model = train::load_artifact(params_.model, context);
  if (const auto& kind = require_steps(model, params_.model); kind.fields_on_nodes() != std::ssize(params_.fields))
    throw KeyError("rollout.fields", "fields",
                   fmt::format("'{}' was trained on {} fields, 'fields' names {}; name the same ones", params_.model,
                               kind.fields_on_nodes(), params_.fields.size()));
  citations_ = model.network->citations();
  const ModeStep modes(training_);
  const StencilStep stencil(training_);
  for (std::size_t run = 0; run < test_.size(); ++run) {
    const auto& truth = test_[run];
    const Trajectory& t = *truth;
    go(row("persistence"), t, [](const auto& value) { return value; });
    go_linear(t, modes);
    go_linear(t, stencil);
    for (const auto& [name, runs] : coarse_) go_coarse("solver_" + name, t, *runs[run]);
    go(row("network"), t, [&](const auto& value) {
      const std::vector<train::SamplePtr> one{step_sample(0, truth, value, {})};
      std::vector<double> out(value.size());
      TensorRef to = io::tensor_of(out.data(), {1, t.nodes(), std::ssize(params_.fields)});
      to.is_const = false;
      model.network->infer(one, model.weights.views(), std::span(&to, 1));
      return out;
    });
    solver_seconds_ += seconds_per_step(t, params_.stride) / static_cast<double>(test_.size());
  }
  finish_rows();
  write(*test_[0], context);
  work_ = {params_.steps * std::ssize(test_), "step"};
  return Outcome::done;
}

/// Converts sums of squares to root mean squares.
void Rollout::finish_rows() {
  for (auto& row : rows_)
    for (auto* of : {&row.error, &row.amount})
      for (auto& e : *of) e = std::sqrt(e / static_cast<double>(row.runs));
}

/// Compares the network with another method of non-zero cost.
std::string Rollout::verdict(const Row& row) const {
  const Row& network = *find("network");
  const bool nearer = row.error.back() <= network.error.back();
  if (row.per_step() <= 0.0)
    return fmt::format("{} is nearer to the truth; its file does not state how long '{}' took",
                       nearer ? fmt::format("'{}'", row.name) : "the network", row.name);
  const double times = network.per_step() / row.per_step();
  if (nearer && times >= 1.0)
    return fmt::format("'{}' is nearer to the truth than the network and {:.3g} times faster: simulate with it",
                       row.name, times);
  if (nearer) return fmt::format("'{}' is nearer to the truth and takes {:.3g} times as long", row.name, 1.0 / times);
  return times >= 1.0 ? fmt::format("the network is nearer than '{}' and takes {:.3g} times as long", row.name, times)
                      : fmt::format("the network is nearer than '{}' and {:.3g} times faster: it pays here", row.name,
                                    1.0 / times);
}

void Rollout::write(const Trajectory& truth, Context& context) const {
  namespace fs = std::filesystem;
  std::vector<io::Column> columns{{"step", "", ""}, {"time", "", ""}};
  std::vector<std::vector<double>> values(2);
  for (std::int64_t k = 1; k <= params_.steps; ++k) {
    values[0].push_back(static_cast<double>(k));
    values[1].push_back(static_cast<double>(k) * truth.interval);
  }
  for (const auto& row : rows_) {
    columns.push_back({"error_" + row.name, "", ""});
    values.push_back(row.error);
    columns.push_back({"amount_" + row.name, "", ""});
    values.push_back(row.amount);
  }
  io::on_root(context.comm, [&] {
    io::write_csv((fs::path(context.run_directory) / "rollout.csv").string(), columns, values);
    io::write_h5_atomically((fs::path(context.run_directory) / "rollout.h5").string(), [&](io::File& out) {
      io::follow_cf(out);
      const auto nodes = truth.nodes(), fields = std::ssize(params_.fields);
      io::labelled(out.write("time", values[1]), "", "time since the first snapshot");
      io::labelled(out.write("place", io::tensor_of(truth.place.data(), {nodes, 3})), "", "position of each node");
      if (!truth.corner.empty())
        io::labelled(out.write("triangle", io::tensor_of(truth.corner.data(), {std::ssize(truth.corner) / 3, 3})), "",
                     "nodes of each triangle");
      const auto add = [&](const std::string& name, const auto& states, std::size_t from) {
        std::vector<double> all;
        for (std::size_t k = 0; k < static_cast<std::size_t>(params_.steps); ++k)
          all.insert(all.end(), states[k + from].begin(), states[k + from].end());
        io::labelled(out.write(name, io::tensor_of(all.data(), {params_.steps, nodes, fields})), "",
                     "states of the first run: " + name);
      };
      add("truth", truth.value, 1);
      for (const auto& row : rows_) add(row.name, row.first, 0);
      io::write_provenance(out, io::provenance_of(context));
    });
  });
}

std::vector<std::string> Rollout::lines() const {
  std::vector<std::string> out{
      fmt::format("errors of {} runs over {} steps, root mean square; error of the amount; time "
                  "of a step",
                  test_.size(), params_.steps)};
  for (const auto& row : rows_) {
    std::string line = fmt::format("  {:<12}", row.name);
    for (const std::size_t k : {std::size_t{0}, (row.error.size() - 1) / 2, row.error.size() - 1})
      line += fmt::format("  step {}: {:.4g}", k + 1, row.error[k]);
    line += fmt::format("  amount: {:.2g}", row.amount.back());
    if (row.per_step() > 1e-6) line += fmt::format("  {:.3g} ms", 1e3 * row.per_step());
    out.push_back(line + (row.runs < std::ssize(test_) ? fmt::format("  ({} of the runs)", row.runs) : ""));
  }
  if (solver_seconds_ > 0.0) out.push_back(fmt::format("  {:<12}  {:.3g} ms", "solver", 1e3 * solver_seconds_));
  for (const auto& [name, runs] : coarse_) out.push_back(verdict(*find("solver_" + name)));
  return out;
}

std::vector<Result> Rollout::results() const {
  std::vector<Result> out;
  for (const auto& row : rows_) {
    const auto key = key_of("error_" + row.name);
    out.push_back({key, key, row.error.back()});
  }
  return out;
}

}  // namespace cambium::graph
