#include "plugins/graph/tasks/roll_out.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <memory>

#include "core/base/error.hpp"
#include "core/io/hdf5/atomic_file.hpp"
#include "core/io/hdf5/labels.hpp"
#include "core/io/run/provenance.hpp"
#include "core/io/tables/csv.hpp"
#include "core/parallel/agree.hpp"
#include "core/plugin/registry.hpp"
#include "core/train/networks/artifact/artifact.hpp"
#include "plugins/graph/trajectories/step_sample.hpp"

namespace cambium::graph {

void RollOut::Params::describe(deck::Describe<Params>& d) {
  d("model", &Params::model, "model file of a mesh_graph that a train stage wrote").example("\"{run}/train/model.h5\"");
  d("training", &Params::training, "runs that the linear steps are fitted to: those that the model was trained on")
      .example("[\"{run}/simulate/nodes.h5\"]");
  d("test", &Params::test, "runs to be judged by, each from its first moment on")
      .example("[\"{run}/simulate_2/nodes.h5\"]");
  d("fields", &Params::fields, "names of the values on the nodes").def({"c"});
  d("stride", &Params::stride, "moments of the files that make up a step").at_least(1).def(1);
  d("steps", &Params::steps, "steps of a roll-out").at_least(1).def(50);
  d.check([](const Params& p) -> std::string {
    return p.training.empty() || p.test.empty() ? "'training' and 'test' need one file each at least" : "";
  });
}

void RollOut::check(Context& context) {
  context.log.info(
      fmt::format("roll_out: {} steps of {} on {} runs", params_.steps, params_.model, params_.test.size()));
}

void RollOut::examine(Check& check) {
  for (const char* name : {"roll_out.csv", "roll_out.h5"}) check.will_write({name, "stage roll_out"});
  check.require_written_by(params_.model, {"network *"});
  for (const auto* files : {&params_.training, &params_.test})
    for (const auto& file : *files) check.require_written_by(file, {"output node_fields"});
}

void RollOut::go(Row& row, const Trajectory& truth,
                 const std::function<std::vector<double>(const std::vector<double>&)>& step) const {
  const std::size_t fields = params_.fields.size();
  row.error.resize(static_cast<std::size_t>(params_.steps), 0.0);
  row.amount.resize(row.error.size(), 0.0);
  auto value = truth.value[0];
  const bool first = row.runs++ == 0;
  for (std::size_t k = 0; k < row.error.size(); ++k) {
    value = step(value);
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

Task::Outcome RollOut::run(Context& context) {
  std::vector<Trajectory> training;
  std::vector<std::shared_ptr<const Trajectory>> test;
  io::on_every_rank(context.comm, [&] {
    for (const auto& file : params_.training) training.push_back(read_trajectory(file, params_.fields, params_.stride));
    for (const auto& file : params_.test) {
      test.push_back(std::make_shared<const Trajectory>(read_trajectory(file, params_.fields, params_.stride)));
      if (test.back()->moments() <= params_.steps)
        throw InputError(
            fmt::format("'{}' holds {} steps of stride {}, but 'steps' is {}; lower steps, or give longer runs", file,
                        test.back()->moments() - 1, params_.stride, params_.steps));
    }
  });
  interval_ = test[0]->interval;
  auto model = train::load_artifact(params_.model, context);
  const auto outputs = model.network->outputs();
  if (outputs.size() != 1 || outputs[0].name != "next")
    throw InputError(fmt::format("'{}' is a '{}', which makes no steps on nodes; name a model of the type mesh_graph",
                                 params_.model, model.info.type));
  citations_ = model.network->citations();
  const ModeStep modes(training);
  const StencilStep stencil(training);
  rows_ = {{"persistence"}, {"modes"}, {"stencil"}, {"network"}};
  for (const auto& truth : test) {
    const Trajectory& t = *truth;
    go(rows_[0], t, [](const auto& value) { return value; });
    if (modes.fits(t)) go(rows_[1], t, [&](const auto& value) { return modes.step(t, value); });
    go(rows_[2], t, [&](const auto& value) { return stencil.step(t, value); });
    go(rows_[3], t, [&](const auto& value) {
      const std::vector<train::SamplePtr> one{step_sample(0, truth, value, {})};
      std::vector<double> out(value.size());
      const TensorRef to = io::tensor_of(out.data(), {1, t.nodes(), std::ssize(params_.fields)});
      model.network->infer(one, model.weights.views(), std::span(&to, 1));
      return out;
    });
  }
  std::erase_if(rows_, [](const Row& row) { return row.runs == 0; });
  context.log.info(fmt::format("errors over {} runs, root mean square; of the amount in brackets:", test.size()));
  for (auto& row : rows_) {
    for (auto* of : {&row.error, &row.amount})
      for (auto& e : *of) e = std::sqrt(e / static_cast<double>(row.runs));
    std::string line = fmt::format("  {:<12}", row.name);
    for (const std::size_t k : {std::size_t{0}, row.error.size() / 2, row.error.size() - 1})
      line += fmt::format("  step {}: {:.4g} ({:.2g})", k + 1, row.error[k], row.amount[k]);
    context.log.info(line + (row.runs < std::ssize(test) ? fmt::format("  on {} of the runs", row.runs) : ""));
  }
  write(*test[0], context);
  work_ = {params_.steps * std::ssize(test), "step"};
  return Outcome::done;
}

void RollOut::write(const Trajectory& truth, Context& context) const {
  namespace fs = std::filesystem;
  std::vector<io::Column> columns{{"step", "", ""}, {"time", "", ""}};
  std::vector<std::vector<double>> values(2);
  for (std::int64_t k = 1; k <= params_.steps; ++k)
    values[0].push_back(static_cast<double>(k)), values[1].push_back(static_cast<double>(k) * interval_);
  for (const auto& row : rows_) {
    columns.push_back({"error_" + row.name, "", ""}), values.push_back(row.error);
    columns.push_back({"amount_" + row.name, "", ""}), values.push_back(row.amount);
  }
  io::on_root(context.comm, [&] {
    io::write_csv((fs::path(context.run_directory) / "roll_out.csv").string(), columns, values);
    io::write_h5_atomically((fs::path(context.run_directory) / "roll_out.h5").string(), [&](io::File& out) {
      io::follow_cf(out);
      const auto nodes = truth.nodes(), fields = std::ssize(params_.fields);
      io::labelled(out.write("time", values[1]), "", "time since the first moment");
      io::labelled(out.write("place", io::tensor_of(truth.place.data(), {nodes, 3})), "", "place of each node");
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

std::vector<std::string> RollOut::lines() const {
  std::vector<std::string> out;
  for (const auto& row : rows_) out.push_back(fmt::format("error_{} = {:.6g}", row.name, row.error.back()));
  return out;
}

}  // namespace cambium::graph
