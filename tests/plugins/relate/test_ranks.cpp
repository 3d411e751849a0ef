// Training with tables: the same rows and weights on any number of ranks, in files of any other number, and after a
// restart.
#include <fmt/format.h>

#include <cmath>

#include "core/base/error.hpp"
#include "tests/plugins/relate/relate_case.hpp"

using namespace cambium;
using namespace cambium::relate;

namespace {

std::string stage(const std::string& network, const std::string& data, const std::string& more) {
  return fmt::format("{{network: {}, dataset: {}, batch: 32, learning_rate: {{type: constant, start: 0.01}}, {}}}",
                     network, data, more);
}

const std::string clicks = "{type: clicks, made_up: {records: 200, columns: 4, rows: 9}}";
const std::string pairs = "{type: pairs, made_up: {compounds: 12, targets: 9, known: 1}, pieces: 200, letters: 2}";
const std::string dlrm = "{type: dlrm, width: 4, bottom: [6], top: [5], wide: true, precision: float64}";
const std::string factors = "{type: factorization_machine, width: 4, precision: float64}";
const std::string choices = "{type: interactions, made_up: {users: 20, items: 30, tags: 5, each: 6}, others: 0}";
const std::string cosines = "{type: cosine_factorization, width: 4, drawn: 20, history: 0.3, precision: float64}";
const std::string affinity = "{type: affinity, width: 4, layers: [6], precision: float64}";

struct Ranks {
  Comm world, self{MPI_COMM_SELF};
  SharedScratch scratch{world};

  /// Weights, then the rows of all tables, of the model that a training has written.
  std::vector<double> trained(const std::string& keys, bool alone, const std::string& name = "") {
    Place place(alone ? self : world,
                scratch.file((alone ? "alone" + std::to_string(world.rank()) : "together") + name));
    place.run("train", keys);
    return model(place.context.run_directory + "/model.h5");
  }
  std::vector<double> model(const std::string& path) {
    const auto file = io::File::open(path);
    std::vector<double> out;
    if (file.exists("/weights"))  // cosine_factorization has rows alone
      for (const auto& tensor : file.group("/weights").list())
        for (const double x : file.read<std::vector<double>>("/weights/" + tensor)) out.push_back(x);
    for (const auto& table : file.group("/rows").list())
      for (const double x : file.read<std::vector<double>>("/rows/" + table + "/weights")) out.push_back(x);
    return out;
  }
};

double worst(const std::vector<double>& a, const std::vector<double>& b) {
  REQUIRE(a.size() == b.size());
  double out = 0.0;
  for (std::size_t k = 0; k < a.size(); ++k) out = std::max(out, std::abs(a[k] - b[k]));
  return out;
}

}  // namespace

TEST_CASE("weights and rows after twelve steps are those of one rank", "[ranks]") {
  Ranks ranks;
  for (const char* tables : {"{sharding: rows}", "{divide: whole, optimizer: sgd}", "{divide: rows, deduplicate: true}",
                             "{divide: whole, optimizer: adam}"}) {
    INFO(tables);
    const auto keys = stage(dlrm, clicks, fmt::format("steps: 12, tables: {}", tables));
    CHECK(worst(ranks.trained(keys, true), ranks.trained(keys, false)) < 1e-5);
  }
  for (const auto& keys :
       {stage(affinity, pairs, "steps: 12"), stage(factors, clicks, "steps: 12"), stage(cosines, choices, "steps: 12"),
        stage(cosines, choices, "steps: 12, tables: {divide: whole, deduplicate: true}")})
    CHECK(worst(ranks.trained(keys, true), ranks.trained(keys, false)) < 1e-5);
}

TEST_CASE("in ordered mode they are the same bit for bit", "[ranks]") {
  Ranks ranks;
  for (const char* precision : {"float64", "float32"})
    for (const char* divide : {"rows", "whole"})
      for (const char* optimizer : {"sgd", "adagrad", "adam"}) {
        INFO(precision << " " << divide << " " << optimizer);
        const auto keys =
            stage(fmt::format("{{type: dlrm, width: 4, bottom: [6], top: [5], precision: {}}}", precision), clicks,
                  fmt::format("steps: 6, reduce: {{mode: ordered, micro_batches: 8}}, tables: {{divide: {}, "
                              "optimizer: {}}}",
                              divide, optimizer));
        CHECK(ranks.trained(keys, true) == ranks.trained(keys, false));
      }
  const std::string ordered = "steps: 6, reduce: {mode: ordered, micro_batches: 8}";
  for (const auto& keys :
       {stage(affinity, pairs, ordered), stage(factors, clicks, ordered), stage(cosines, choices, ordered),
        stage("{type: cosine_factorization, width: 4, drawn: 20, loss: {type: margin, margin: 0.2}}", choices,
              ordered + ", tables: {divide: whole, optimizer: adam}"),
        stage("{type: factorization_machine, width: 4}", clicks, ordered + ", tables: {divide: whole, decay: 0.1}"),
        stage("{type: factorization_machine, width: 4, loss: squared}", pairs,
              ordered + ", tables: {optimizer: adam}")})
    CHECK(ranks.trained(keys, true) == ranks.trained(keys, false));
}

TEST_CASE("rows by turns and whole tables give the same bits", "[ranks]") {
  Ranks ranks;
  const auto of = [&](const char* divide) {
    return ranks.trained(
        stage(dlrm, clicks,
              fmt::format("steps: 6, reduce: {{mode: ordered, micro_batches: 8}}, tables: {{divide: {}}}", divide)),
        false);
  };
  CHECK(of("rows") == of("whole"));
}

TEST_CASE("a training goes on from the file of another number of ranks", "[ranks]") {
  Ranks ranks;
  const std::string held =
      fmt::format("validation: {}, validate: {{every: 3}}, reduce: {{mode: ordered, micro_batches: 8}}", clicks);
  const auto whole = ranks.trained(stage(dlrm, clicks, "steps: 12, " + held), false, "whole");
  const auto folder = ranks.scratch.file("resumed");
  if (ranks.world.root()) {
    Comm self(MPI_COMM_SELF);
    Place first(self, folder);
    first.run("train", stage(dlrm, clicks, "steps: 6, checkpoint: {every: 6}, " + held));
  }
  ranks.world.barrier();
  Place then(ranks.world, folder);
  then.context.resume = true;
  then.run("train", stage(dlrm, clicks, "steps: 12, checkpoint: {every: 6}, " + held));
  CHECK(ranks.model(folder + "/model.h5") == whole);
}

TEST_CASE("judged by models of any number of ranks, records get the same answers", "[ranks]") {
  Ranks ranks;
  Place place(ranks.world, ranks.scratch.file("judged"));
  place.run("train", stage(dlrm, clicks, "steps: 6, reduce: {mode: ordered, micro_batches: 8}"));
  const std::string judge = fmt::format("{{models: ['{}/model.h5'], training: {}, dataset: {}}}",
                                        place.context.run_directory, clicks, clicks);
  const auto together = place.run("evaluate_clicks", judge)->lines();
  Place alone(ranks.self, ranks.scratch.file("judge" + std::to_string(ranks.world.rank())));
  CHECK(alone.run("evaluate_clicks", judge)->lines() == together);
}

TEST_CASE("recommended by models of any number of ranks, users get the same lists", "[ranks]") {
  Ranks ranks;
  Place place(ranks.world, ranks.scratch.file("offered"));
  place.run("train", stage(cosines, choices, "steps: 6, reduce: {mode: ordered, micro_batches: 8}"));
  const std::string offer =
      fmt::format("{{models: ['{}/model.h5'], dataset: {}}}", place.context.run_directory, choices);
  const auto together = place.run("recommend", offer)->lines();
  Place alone(ranks.self, ranks.scratch.file("offer" + std::to_string(ranks.world.rank())));
  CHECK(alone.run("recommend", offer)->lines() == together);
}

TEST_CASE("tables are refused where they cannot be") {
  Comm self(MPI_COMM_SELF);
  SharedScratch scratch(self);
  Place place(self, scratch.file("refused"));
  const auto said = [&](const std::string& keys) {
    const auto task = place.registry.make<Task>("train", deck::parse(keys, "test"), place.context);
    try {
      task->run(place.context);
    } catch (const InputError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  CHECK(said(stage(dlrm, clicks, "steps: 1, average: {decay: 0.9}")) ==
        "ema keeps means of weights, but not of the rows of tables, which dlrm learns; remove ema");
  CHECK(said(stage(dlrm, clicks, "steps: 1, reduce: {mode: ordered, micro_batches: 8}, tables: {deduplicate: true}")) ==
        "tables.deduplicate adds a row's gradients on each rank before they are sent, so that the sum depends on the "
        "number of ranks, which reduce.mode ordered guarantees it does not; remove one of them");
  CHECK(said(stage("{type: mlp, layers: [4]}", "{type: expression, samples: 40, box: {x: [-1, 1]}, target: {z: x}}",
                   "steps: 1, tables: {}")) ==
        "tables specifies how embedding tables are sharded and trained, but mlp has none; remove tables");
  CHECK(said(stage("{type: dlrm, width: 10000}", "{type: clicks, made_up: {records: 40, columns: 3, rows: 1000000000}}",
                   "steps: 1"))
            .find("run on more nodes, or take a smaller width or fewer rows") != std::string::npos);
}
