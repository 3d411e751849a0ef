// Bounds of embedding tables from a held-out AUC: a sensitive table keeps a small one, a table that decides nothing the
// largest, and all together cost less than was allowed.
#include <cmath>

#include "core/codec/rows/rows.hpp"
#include "core/parallel/random.hpp"
#include "plugins/relate/tasks/bound_search.hpp"
#include "plugins/relate/tasks/scores.hpp"
#include "tests/catch.hpp"
#include "tests/plugins/relate/relate_case.hpp"

using namespace cambium;
using namespace cambium::relate;

namespace {

/// Records with a row of each of three tables; the answer is 1 with a probability that only the first two decide. Rows
/// of the first differ by thousandths, which the network weighs a thousandfold.
struct MadeRecords {
  static constexpr int records = 4000, rows = 40, tables = 3;
  static constexpr double weight[tables] = {1000.0, 1.0, 0.0};
  std::vector<float> table[tables];
  std::vector<double> answers;

  MadeRecords() {
    for (int t = 0; t < tables; ++t)
      for (std::uint64_t r = 0; r < rows; ++r)
        table[t].push_back(static_cast<float>(Random4(3, Stream::test, r, static_cast<std::uint64_t>(t)).normal(0) *
                                              (t == 0 ? 1e-3 : 1.0)));
    for (int k = 0; k < records; ++k)
      answers.push_back(Random4(4, Stream::test, static_cast<std::uint64_t>(k), 0).uniform(1) <
                        1.0 / (1.0 + std::exp(-score(k, table))));
  }
  static double score(int record, const std::vector<float>* rows_of) {
    const Random4 r(5, Stream::test, static_cast<std::uint64_t>(record), 0);
    double sum = 0.0;
    for (int t = 0; t < tables; ++t) sum += weight[t] * static_cast<double>(rows_of[t][r.bits[t] % rows]);
    return sum;
  }
  double area(std::span<const double> bounds) const {
    std::vector<float> rounded[tables];
    for (int t = 0; t < tables; ++t) {
      rounded[t] = table[t];
      if (!(bounds[t] > 0.0)) continue;
      const lowp::RowGroup<float> group{rounded[t], 1, bounds[t], false};
      lowp::ByteWriter sent;
      lowp::encode_rows<float>(std::span(&group, 1), sent);
    }
    std::vector<double> said;
    for (int k = 0; k < records; ++k) said.push_back(score(k, rounded));
    return area_under_curve(answers, said, 0.5);
  }
};

}  // namespace

TEST_CASE("a sensitive table gets a small bound, one that decides nothing the largest") {
  const MadeRecords made;
  const double tolerance = 2e-3;
  int evaluations = 0;
  const auto found = search_bounds(3, {1e-4, 0.8}, tolerance, [&](std::span<const double> bounds) {
    ++evaluations;
    return made.area(bounds);
  });
  INFO(found.bound[0] << ", " << found.bound[1] << ", " << found.bound[2]);
  CHECK(found.exact > 0.75);
  CHECK(found.exact - found.together < tolerance);
  CHECK(found.bound[0] >= 1e-4);
  CHECK(found.bound[0] < 2e-3);
  CHECK(found.bound[1] > 50 * found.bound[0]);
  CHECK(found.bound[2] == Approx(0.8192).epsilon(0.51));  // the last double of 1e-4 that is not above 0.8
  CHECK(found.bound[2] > 0.4);
  CHECK(evaluations < 60);
  // What one bound for all would cost that is right for the last two.
  const std::vector<double> loosest(3, found.bound[2]);
  CHECK(found.exact - made.area(loosest) > 10 * tolerance);
}

TEST_CASE("bounds that hold alone but not together are tightened, the costliest first; none may be left") {
  // Each table alone costs its bound times a weight; all together twice the sum.
  const auto score = [](std::span<const double> bounds) {
    double sum = 0.0;
    int used = 0;
    for (std::size_t t = 0; t < bounds.size(); ++t) {
      sum += bounds[t] * (t == 0 ? 3.0 : 1.0);
      used += bounds[t] > 0.0;
    }
    return 1.0 - (used > 1 ? 2.0 : 1.0) * sum;
  };
  const auto found = search_bounds(2, {0.01, 0.16}, 0.2, score);
  CHECK(found.exact == 1.0);
  CHECK(1.0 - found.together < 0.2);
  CHECK(found.bound[0] < found.bound[1]);
  const auto none = search_bounds(2, {0.01, 0.16}, 1e-3, score);
  CHECK(none.bound == std::vector<double>{0.0, 0.0});
  CHECK(none.together == none.exact);
}

TEST_CASE(
    "the stage finds bounds of a trained network's tables, with which the next training sends rows and gradients") {
  Comm comm(MPI_COMM_SELF);
  SharedScratch scratch(comm);
  Place place(comm, scratch.file("bounds"));
  const std::string training =
      "{network: {type: dlrm, embedding_dim: 4, bottom: [8], top: [8], wide: true}, "
      "dataset: {type: clicks, synthetic: {records: 2000, columns: 4, rows: 20, numbers: 2}}, batch: 64, epochs: 3, "
      "optimizer: adam, learning_rate: {type: constant, start: 2e-3}, "
      "tables: {optimizer: adagrad, learning_rate_scale: 20";
  place.run("train", training + "}}");
  const auto task = place.run("choose_row_bounds",
                              "{model: " + place.context.run_directory +
                                  "/model.h5, tolerance: 2e-3, dataset: {type: clicks, synthetic: {records: 1000, "
                                  "columns: 4, rows: 20, numbers: 2, first_index: 2000}}}");
  const auto value = [&](const std::string& key) {
    for (const auto& result : task->results())
      if (result.key == key) return result.value;
    return std::nan("");
  };
  CHECK(value("auc_exact") > 0.6);
  CHECK(value("auc_exact") - value("auc_bounded") < 2e-3);
  CHECK(value("largest_bound") > value("smallest_bound"));
  const auto lines = task->lines();
  const auto key = lines.back().substr(lines.back().find("bounds: "));
  CHECK(key.starts_with("bounds: {C1: "));
  CHECK(std::filesystem::exists(std::filesystem::path(place.context.run_directory) / "row_bounds.csv"));
  place.run("train", training + ", codec: {" + key + ", gradients: 0.01}}}");
}
