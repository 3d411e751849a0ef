// Stages on ranks: the same weights as on one rank, going on from a checkpoint, and tables that do not depend on ranks.
#include <filesystem>
#include <fstream>
#include <sstream>

#include "core/io/hdf5/h5.hpp"
#include "core/plugin/registry.hpp"
#include "core/plugin/task.hpp"
#include "core/train/register.hpp"
#include "tests/catch.hpp"
#include "tests/shared_scratch.hpp"

namespace cambium::pretrain {
void register_types(Registry&);
void register_training(Registry&);
}  // namespace cambium::pretrain

using namespace cambium;

namespace {

/// Runs stages of a deck on the ranks of a communicator.
struct Stages {
  const SharedScratch& scratch;
  Comm comm;
  Log log;
  Timing timing;
  Registry registry;
  Context context{comm, log, timing, &registry, 5, ".", "", "", nullptr, false, false};

  Stages(const SharedScratch& s, MPI_Comm on) : scratch(s), comm(on) {
    train::register_training(registry);
    registry.set_plugin("pretrain");
    pretrain::register_types(registry);
    pretrain::register_training(registry);
  }
  void run(const std::string& task, std::string keys, const std::string& folder) {
    for (std::size_t at; (at = keys.find("{run}")) != std::string::npos;) keys.replace(at, 5, scratch.folder);
    context.run_directory = scratch.file(folder);
    if (comm.root()) std::filesystem::create_directories(context.run_directory);
    comm.barrier();
    registry.make<Task>(task, deck::parse(keys, "test"), context)->run(context);
  }
};

/// `scheme`: of the loss, or mugs; patches, mugs_patches: by a transformer.
std::string network(const std::string& scheme, const std::string& partner) {
  const bool patches = scheme.ends_with("patches");
  const std::string body = patches ? "transformer: {patch: [2, 2], width: 8, heads: 2, blocks: 1}" : "channels: [4, 6]";
  if (scheme.starts_with("mugs"))
    return "network: {type: mugs_encoder, " + body +
           ", width: 6, queue: 20, prototypes: 8, precision: float64, "
           "augment: {shift: [0], noise: 0.05}, small: {views: 1, crop: [8, 6]}}\n";
  return "network: {type: field_encoder, " + body + ", width: 6, precision: float64, positive: " + partner +
         ", augment: {shift: [0], noise: 0.05}, loss: {scheme: " + (patches ? "v3" : scheme) +
         ", inner_rate: {min: 0.5, epochs: 2}, temperature: {start: 0.2}}}\n";
}

std::string training(const std::string& scheme, std::int64_t steps, const std::string& partner = "field") {
  return network(scheme, partner) +
         "dataset: {type: field_archive, synthetic: {simulations: 6, snapshots: 5, cells: [8, 8]}, pair_offset: 1}\n"
         "batch: 12\nsteps: " +
         std::to_string(steps) +
         "\noptimizer: adamw\nlearning_rate: {type: constant, start: 1e-3}\n"
         "checkpoint: {every: 3}\nvalidate: {keep_best: false}\n";
}

std::vector<double> weights_in(const std::string& path) {
  const auto file = io::File::open(path);
  std::vector<double> out;
  for (const auto& name : file.group("/weights").list()) {
    const auto values = file.read<std::vector<double>>("/weights/" + name);
    out.insert(out.end(), values.begin(), values.end());
  }
  return out;
}

std::string text_of(const std::string& path) {
  std::ifstream in(path);
  std::ostringstream out;
  out << in.rdbuf();
  return out.str();
}

}  // namespace

TEST_CASE("an encoder trained on ranks has the weights of one rank, with every scheme") {
  const Comm world;
  const SharedScratch scratch(world);
  for (const std::string scheme : {"infonce", "v0", "v1", "v2", "v3", "mugs", "patches", "mugs_patches"}) {
    CAPTURE(scheme);
    Stages together(scratch, MPI_COMM_WORLD);
    together.run("train", training(scheme, 5), "all_" + scheme);
    if (world.root()) {
      Stages alone(scratch, MPI_COMM_SELF);
      alone.run("train", training(scheme, 5), "one_" + scheme);
      const auto a = weights_in(scratch.file("all_" + scheme + "/model.h5"));
      const auto b = weights_in(scratch.file("one_" + scheme + "/model.h5"));
      REQUIRE(a.size() == b.size());
      for (std::size_t k = 0; k < a.size(); ++k) REQUIRE(a[k] == Approx(b[k]).epsilon(1e-7).margin(1e-8));
    }
    world.barrier();
  }
}

TEST_CASE("a training goes on from its checkpoint with estimates and temperatures, bit for bit") {
  const Comm world;
  const SharedScratch scratch(world);
  for (const std::string scheme : {"v2", "v3", "mugs", "patches", "mugs_patches"}) {
    CAPTURE(scheme);
    Stages stages(scratch, MPI_COMM_WORLD);
    stages.run("train", training(scheme, 6), "whole_" + scheme);
    stages.run("train", training(scheme, 4), "part_" + scheme);
    if (world.root()) CHECK(std::filesystem::exists(scratch.file("part_" + scheme + "/restart.3.h5")));
    stages.context.resume = true;
    stages.run("train", training(scheme, 6), "part_" + scheme);
    if (world.root())
      CHECK(weights_in(scratch.file("whole_" + scheme + "/model.h5")) ==
            weights_in(scratch.file("part_" + scheme + "/model.h5")));
    world.barrier();
  }
}

TEST_CASE("the stages write the same tables on any number of ranks") {
  const Comm world;
  const SharedScratch scratch(world);
  Stages stages(scratch, MPI_COMM_WORLD);
  stages.run("train", training("v3", 20), "train");
  stages.run("train", training("v3", 20, "parameters"), "by_parameters");
  const std::string all = "{type: field_archive, synthetic: {simulations: 6, snapshots: 5, cells: [8, 8]}}";
  const std::string other = "{type: field_archive, synthetic: {simulations: 6, snapshots: 4, cells: [8, 8], seed: 2}}";
  const std::string model = "model: \"{run}/train/model.h5\"\n";
  const auto run_all = [&](Stages& on, const std::string& mark) {
    on.run("embed", model + "dataset: " + all, mark + "embed");
    on.run("neighbours", model + "archive: " + all + "\nqueries: " + all + "\ncompare: pairs_of_moments",
           mark + "pairs");
    on.run("neighbours", model + "archive: " + all + "\nqueries: " + other + "\nby: parameters", mark + "parameters");
    on.run("probe", model + "training: " + all + "\ntest: " + other + "\nby: simulation\nfew: 2\ndraws: 3",
           mark + "probe");
    on.run("select_runs",
           "model: \"{run}/by_parameters/model.h5\"\narchive: " + all +
               "\ncandidates: {drift: [0, 0.5, 1], slope: [0.5, 1.5, 4]}\nchoose: 3",
           mark + "select_runs");
    on.run("retrieve", model + "archive: " + all + "\nqueries: " + other + "\nindex: {recall: 0.9}", mark + "retrieve");
    on.run("retrieve", model + "from: \"{run}/" + mark + "retrieve/index.h5\"\nqueries: " + other, mark + "again");
    on.run("retrieve",
           "model: \"{run}/by_parameters/model.h5\"\narchive: " + all +
               "\nparameters: {drift: [0, 0.5], slope: [0.5, 1.5]}\nindex: {type: exact}",
           mark + "belonging");
  };
  run_all(stages, "");
  if (!world.root()) return;
  Stages alone(scratch, MPI_COMM_SELF);
  run_all(alone, "one_");
  for (const std::string file :
       {"pairs/scores.csv", "pairs/neighbours.csv", "parameters/scores.csv", "select_runs/chosen.csv",
        "retrieve/found.csv", "again/found.csv", "belonging/found.csv"}) {
    CAPTURE(file);
    const auto text = text_of(scratch.file(file));
    CHECK(text.size() > 50);
    CHECK(text == text_of(scratch.file("one_" + file)));
  }
  const auto pairs = text_of(scratch.file("pairs/scores.csv"));
  for (const char* method : {"encoder,", "pixels,", "pixels - mean,", "relevant,", "PCA,", "physicist,"})
    CHECK(pairs.find(method) != std::string::npos);
  CHECK(text_of(scratch.file("retrieve/found.csv")) == text_of(scratch.file("again/found.csv")));
  CHECK(text_of(scratch.file("belonging/found.csv"))
            .starts_with("query,drift,slope,place,entry,similarity,simulation,moment,time\n0,0,0.5,1,"));
  const auto vectors = io::File::open(scratch.file("embed/vectors.h5"));
  CHECK(vectors.dataset("vector").shape() == std::vector<std::int64_t>{30, 6});
  CHECK_FALSE(vectors.exists("partner"));  // these moments have none
  CHECK(text_of(scratch.file("probe/scores.csv")).find("encoder,") != std::string::npos);
}
