// A surrogate of a nonlinear law: trained on some runs, judged on others, on another mesh, too. This file sees no
// Torch.
#include <fstream>

#include "tests/catch.hpp"
#include "tests/plugins/graph/molecules/molecule_stages.hpp"
#include "tests/plugins/graph/steps/made_run.hpp"

using namespace cambium;
using namespace cambium::graph;
using namespace cambium::graph::testing;

TEST_CASE("a network of one step goes on longer than persistence and linear steps") {
  Stages stages;
  std::string training, test;
  for (int k = 0; k < 8; ++k) {
    const auto path = stages.scratch.file("run" + std::to_string(k) + ".h5");
    const bool last = k >= 6;
    if (stages.comm.root()) {
      MadeRun run{.n = k == 7 ? 8 : 6, .growth = 2.0, .moments = 21, .phase = 1.3 * k};
      run.write(path);
    }
    (last ? test : training) += (last && test.empty()) || (!last && training.empty()) ? path : ", " + path;
  }
  stages.comm.barrier();
  stages.run("train",
             "{network: {type: mesh_graph_net, layers: 2, width: 16}, dataset: {type: mesh_trajectories, noise: 0.01, "
             "files: [" +
                 training +
                 "]}, batch: 8, steps: 400, seed: 2, learning_rate: {type: cosine, start: 3e-3, stop: 3e-5}}",
             "train");
  stages.run("rollout",
             "{model: '{run}/train/model.h5', steps: 20, training: [" + training + "], test: [" + test +
                 "], coarse: {same: [" + test + "]}}",
             "rollout");
  std::ifstream in(stages.scratch.file("rollout/rollout.csv"));
  std::string line, last;
  std::getline(in, line);
  CHECK(line.find("error_persistence") != std::string::npos);
  const auto column = [&](const std::string& name) {
    return std::count(line.begin(), line.begin() + static_cast<std::ptrdiff_t>(line.find("error_" + name)), ',');
  };
  for (std::string next; std::getline(in, next);) last = next;
  const auto value = [&](const std::string& name) {
    std::size_t at = 0;
    for (auto k = column(name); k > 0; --k) at = last.find(',', at) + 1;
    return std::stod(last.substr(at));
  };
  CHECK(value("network") < 0.5 * value("persistence"));
  CHECK(value("network") < 0.5 * value("stencil"));
  CHECK(value("network") < value("modes"));
  CHECK(value("solver_same") < 1e-12);  // the run itself, brought to its own nodes
}
