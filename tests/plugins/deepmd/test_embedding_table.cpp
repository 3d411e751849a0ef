// Interpolated embedding networks against the networks themselves.
#include <iomanip>
#include <sstream>

#include "core/base/error.hpp"
#include "plugins/deepmd/training/embedding_table.hpp"
#include "plugins/deepmd/training/interpolated_sums.hpp"
#include "tests/plugins/deepmd/training_samples.hpp"

using namespace cambium;
using namespace cambium::deepmd;
using namespace cambium::deepmd::test;

namespace {

struct Setup {
  DeepPotentialModel model = uneven_model(small_model());
  FlatWeights<double> weights{model};
  NetworkWeights<double> net;
  std::vector<int> widths = widths_of(model.embedding.front());

  explicit Setup(double steepness) {
    copy_weights<double>(model, weights.refs);
    for (double& w : weights.values[0]) w *= steepness;
    net = bind_weights<double>(model, weights.refs).embedding.front();
  }
};

struct Errors {
  double value = 0.0, slope = 0.0;  ///< relative to the largest slope
};

/// Polynomials of the table against the network at many points of the cells.
Errors errors_of(Setup& s, const EmbeddingTable& table, std::span<const int> cells) {
  const int n = 500, width = s.widths.back();
  EmbeddingPass<double> pass(s.widths);
  pass.reserve(n);
  std::vector<double> x(n);
  Errors out;
  double scale = 0.0;
  for (std::size_t c = 0; c < cells.size(); ++c) {
    for (int k = 0; k < n; ++k) x[k] = (cells[c] + (k + 0.5) / n) * EmbeddingTable::cell;
    pass.forward(s.net, x.data(), 0, n);
    for (int k = 0; k < n; ++k) {
      const double along = (k + 0.5) / n * table.parts(c);
      const int part = static_cast<int>(along);
      const double t = 2.0 * (along - part) - 1.0;
      for (int m = 0; m < width; ++m) {
        double value = 0.0, slope = 0.0, power = 1.0, before = 0.0;
        for (int j = 0; j < Hermite::terms; ++j, before = power, power *= t) {
          const double coefficient = table.coefficients(table.first(c) + part)[j * width + m];
          value += coefficient * power;
          slope += j * coefficient * before;
        }
        scale = std::max(scale, std::abs(pass.slope(k)[m]));
        out.value = std::max(out.value, std::abs(value - pass.value(k)[m]));
        out.slope = std::max(out.slope, std::abs(slope / table.half_width(c) - pass.slope(k)[m]));
      }
    }
  }
  return {out.value / scale, out.slope / scale};
}

}  // namespace

TEST_CASE("Hermite interpolation repeats polynomials of degree 7") {
  const auto& matrix = Hermite::from_data();
  for (int degree = 0; degree < Hermite::terms; ++degree)
    for (int j = 0; j < Hermite::terms; ++j) {
      double found = 0.0;
      for (int i = 0; i < Hermite::nodes; ++i) {
        const double t = Hermite::node[i];
        found += matrix[j][i] * std::pow(t, degree);
        if (degree > 0) found += matrix[j][Hermite::nodes + i] * degree * std::pow(t, degree - 1);
      }
      REQUIRE(std::abs(found - (degree == j ? 1.0 : 0.0)) < 1e-12);
    }
}

TEST_CASE("a table's values and slopes are those of the network, to the tolerance") {
  const std::vector<int> cells = {-2, -1, 0, 3, 9};
  for (double steepness : {0.3, 1.0, 6.0, 60.0}) {
    Setup s(steepness);
    int before = 0;
    for (double tolerance : {1e-4, 1e-8, 1e-12}) {
      EmbeddingTable table(s.widths);
      table.build(s.net, cells, tolerance);
      const Errors errors = errors_of(s, table, cells);
      INFO("steepness " << steepness << ", tolerance " << tolerance << ", intervals " << table.intervals()
                        << ", errors " << errors.value << " " << errors.slope);
      REQUIRE(errors.slope < 2.0 * tolerance);
      REQUIRE(errors.value < tolerance);
      REQUIRE(table.intervals() >= before);
      before = table.intervals();
    }
  }
}

TEST_CASE("a table does not depend on what was built before") {
  Setup steep(60.0), smooth(1.0);
  const std::vector<int> cells = {0, 1, 2};
  EmbeddingTable fresh(smooth.widths), used(smooth.widths);
  fresh.build(smooth.net, cells, 1e-10);
  used.build(steep.net, std::vector<int>{-4, 7}, 1e-12);
  used.build(smooth.net, cells, 1e-10);
  REQUIRE(used.intervals() == fresh.intervals());
  for (int k = 0; k < fresh.intervals(); ++k)
    for (int j = 0; j < Hermite::terms * smooth.widths.back(); ++j)
      REQUIRE(used.coefficients(k)[j] == fresh.coefficients(k)[j]);
}

TEST_CASE("atoms that all but coincide are named") {
  const DeepPotentialModel model = uneven_model(small_model());
  FlatWeights<double> weights(model);
  copy_weights<double>(model, weights.refs);
  Configuration c = water(2, 3);
  c.x[1] = {c.x[0][0] + 1e-5, c.x[0][1], c.x[0][2]};
  const std::vector<FramePtr> list = {frame_of(c, model)};
  Batch batch;
  batch.assign(list, model.ntypes());
  ModelPass<double> pass(model, 1e-10);
  const auto bound = bind_weights<double>(model, weights.refs);
  REQUIRE_THROWS_AS(pass.evaluate(batch, bound), NumericalError);
  std::ostringstream input;  // of the network: what the pair's s(r) = 1/r is after shift and scale
  input << std::setprecision(6) << (1e5 - model.mean[2][0]) / model.deviation[2][0];
  REQUIRE_THROWS_WITH(
      pass.evaluate(batch, bound),
      "two atoms of types H and O all but coincide: the input of the embedding network is " + input.str());
}

TEST_CASE("atoms that all but coincide are named by se_e3, too") {
  const DeepPotentialModel model = uneven_model(small_angles());
  FlatWeights<double> weights(model);
  copy_weights<double>(model, weights.refs);
  Configuration c = water(2, 3);
  c.x[1] = {c.x[0][0] + 1e-5, c.x[0][1], c.x[0][2]};
  const std::vector<FramePtr> list = {frame_of(c, model)};
  Batch batch;
  batch.assign(list, model.ntypes());
  ModelPass<double> pass(model, 1e-10);
  const auto bound = bind_weights<double>(model, weights.refs);
  REQUIRE_THROWS_AS(pass.evaluate(batch, bound), NumericalError);
  REQUIRE_THROWS_WITH(pass.evaluate(batch, bound),
                      Catch::StartsWith("a neighbour all but coincides with an atom, at 1e-05 Å: the input of the "
                                        "embedding network of their angles is "));
}
