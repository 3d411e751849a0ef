// factors against a plain loop over all pairs of features.
#include <cmath>

#include "core/base/error.hpp"
#include "core/parallel/random.hpp"
#include "plugins/relate/datasets/clicks.hpp"
#include "plugins/relate/datasets/pairs.hpp"
#include "plugins/relate/networks/factorization_machine.hpp"
#include "tests/plugins/relate/relate_case.hpp"

using namespace cambium;
using namespace cambium::relate;

namespace {

double normal_number(std::uint64_t what, std::size_t k) { return 0.3 * Random4(5, Stream::test, k, what).normal(0); }

/// One feature of a record: its value, and its weight and vector times that value.
struct Feature {
  double weight = 0.0;
  std::vector<double> vector;
};

/// b + sum of weights + sum over i < j of v_i . v_j, pair by pair.
double plain(double bias, const std::vector<Feature>& features) {
  double out = bias;
  for (std::size_t i = 0; i < features.size(); ++i) {
    out += features[i].weight;
    for (std::size_t j = 0; j < i; ++j)
      for (std::size_t k = 0; k < features[i].vector.size(); ++k) out += features[i].vector[k] * features[j].vector[k];
  }
  return out;
}

/// Weights and rows of one network that reads a data set, drawn at random.
struct Drawn {
  NetworkCase use;
  std::size_t width;
  std::vector<std::vector<double>> rows;

  Drawn(FactorizationMachine& network, std::size_t w) : use(network), width(w) {
    for (std::size_t p = 0; p < use.layout.tensors().size(); ++p) {
      const auto values = use.weights.values<double>(p);
      for (std::size_t k = 0; k < values.size(); ++k) values[k] = normal_number(10 + p, k);
    }
    const auto infos = use.user.tables();
    rows.resize(infos.size());
    for (std::size_t t = 0; t < infos.size(); ++t)
      for (std::int64_t k = 0; k < infos[t].rows * infos[t].width; ++k)
        rows[t].push_back(normal_number(100 + t, static_cast<std::size_t>(k)));
    use.set_rows(rows);
  }
  /// The sum of the rows of a bag.
  Feature of_bag(std::size_t table, std::span<const std::int32_t> bag) const {
    Feature out{0.0, std::vector<double>(width, 0.0)};
    for (const auto row : bag) {
      const double* z = rows[table].data() + static_cast<std::size_t>(row) * (width + 1);
      for (std::size_t k = 0; k < width; ++k) out.vector[k] += z[k];
      out.weight += z[width];
    }
    return out;
  }
  Feature of_number(std::size_t k, double x) {
    Feature out{use.weights.values<double>(1)[k] * x, {}};
    for (std::size_t i = 0; i < width; ++i) out.vector.push_back(use.weights.values<double>(2)[k * width + i] * x);
    return out;
  }
  double bias() { return use.weights.values<double>(0)[0]; }
  std::vector<double> predictions(const std::vector<train::SamplePtr>& samples) {
    std::vector<double> out(samples.size());
    TensorRef to = io::tensor_of(out.data(), {std::ssize(out)});
    to.is_const = false;
    train::look_up_rows(use.network, use.tables.get(), samples, use.comm);
    use.network.infer(samples, use.weights.views(), std::span(&to, 1));
    return out;
  }
};

struct OneRank {
  Comm comm{MPI_COMM_SELF};
  Log log{nullptr, false};
  Timing timing;
  Context context{comm, log, timing};
};

FactorizationMachine network_of(std::int64_t width, FactorizationMachine::Params::Objective loss, OneRank& world) {
  FactorizationMachine::Params params;
  params.width = width;
  params.loss = loss;
  params.precision = Precision::float64;
  return FactorizationMachine(params, world.context);
}

}  // namespace

TEST_CASE("the trick of sums and squares is the sum over all pairs of rows and numbers") {
  OneRank world;
  for (const int numbers : {0, 1, 4})
    for (const std::int64_t width : {0, 1, 7}) {
      INFO(numbers << " numbers, width " << width);
      FactorizationMachine network = network_of(width, FactorizationMachine::Params::Objective::cross_entropy, world);
      Clicks::Params keys;
      keys.made_up.emplace();
      keys.made_up->records = 30;
      keys.made_up->columns = 5;
      keys.made_up->rows = 8;
      keys.made_up->numbers = numbers;
      Clicks data(keys, world.context);
      data.open(world.context);
      network.fit_statistics(data, world.context);
      Drawn drawn(network, static_cast<std::size_t>(width));
      const auto records = make_clicks(*keys.made_up);
      std::vector<double> mean(numbers, 0.0), squares = mean;
      for (std::size_t n = 0; n < records.number.size(); ++n) {
        mean[n % mean.size()] += records.number[n] / 30.0;
        squares[n % mean.size()] += std::pow(records.number[n], 2) / 30.0;
      }
      std::vector<std::int64_t> all(30);
      for (std::size_t r = 0; r < all.size(); ++r) all[r] = static_cast<std::int64_t>(r);
      const auto found = drawn.predictions(data.read(all));
      for (std::size_t r = 0; r < all.size(); ++r) {
        std::vector<Feature> features;
        for (std::size_t c = 0; c < 5; ++c) features.push_back(drawn.of_bag(c, records.bag_of(all[r], c)));
        for (std::size_t k = 0; k < mean.size(); ++k)
          features.push_back(drawn.of_number(
              k, (records.number[r * mean.size() + k] - mean[k]) / std::sqrt(squares[k] - mean[k] * mean[k])));
        const double x = plain(drawn.bias(), features);
        CHECK(std::log(found[r] / (1.0 - found[r])) == Approx(x).epsilon(1e-11).margin(1e-11));
      }
    }
}

TEST_CASE("bags of several rows count as the sum of their vectors, values in their own unit") {
  OneRank world;
  FactorizationMachine network = network_of(3, FactorizationMachine::Params::Objective::squared, world);
  Pairs::Params keys;
  keys.made_up.emplace();
  keys.made_up->compounds = 7;
  keys.made_up->targets = 5;
  keys.pieces = 40;
  keys.letters = 1;
  Pairs data(keys, world.context);
  data.open(world.context);
  network.fit_statistics(data, world.context);
  Drawn drawn(network, 3);
  std::vector<std::int64_t> all;
  for (std::int64_t r = 0; r < data.size(); ++r) all.push_back(r);
  const auto samples = data.read(all);
  const RecordSet& records = record_set_of(*samples.front(), "a test");
  double mean = 0.0, squares = 0.0;
  for (const double y : records.answers) {
    mean += y / static_cast<double>(records.size());
    squares += y * y / static_cast<double>(records.size());
  }
  const auto found = drawn.predictions(samples);
  for (std::size_t r = 0; r < all.size(); ++r) {
    std::vector<Feature> features;
    for (std::size_t c = 0; c < 4; ++c) features.push_back(drawn.of_bag(c, records.bag_of(all[r], c)));
    CHECK(found[r] == Approx(mean + std::sqrt(squares - mean * mean) * plain(drawn.bias(), features)).epsilon(1e-9));
  }
}

TEST_CASE("factors refuses answers that are no yes or no") {
  OneRank world;
  FactorizationMachine network = network_of(3, FactorizationMachine::Params::Objective::cross_entropy, world);
  Pairs::Params keys;
  keys.made_up.emplace();
  keys.pieces = 40;
  keys.letters = 1;
  Pairs data(keys, world.context);
  data.open(world.context);
  std::string said;
  try {
    network.fit_statistics(data, world.context);
  } catch (const InputError& error) {
    said = error.what();
  }
  CHECK(said.find(", but the loss cross_entropy needs labels of 0 or 1; give factorization_machine loss: squared") !=
        std::string::npos);
}
