// light_gcn: its gradient against finite differences, its start, its scores.
#include <algorithm>
#include <cmath>
#include <fstream>

#include "core/base/error.hpp"
#include "core/parallel/random.hpp"
#include "core/train/kinds/dataset.hpp"
#include "plugins/graph/links/link_loss.hpp"
#include "plugins/graph/links/propagation.hpp"
#include "plugins/graph/links/samples.hpp"
#include "plugins/graph/networks/light_gcn.hpp"
#include "tests/catch.hpp"
#include "tests/plugins/graph/nodes/learning.hpp"

using namespace cambium;
using namespace cambium::graph;

namespace {

const std::string users_and_items = "made: {users: 30, items: 20, links: 5, blocks: 3}";

/// A network with its links; weights as it begins, in float64.
struct Case {
  Comm comm{MPI_COMM_SELF};
  SharedScratch scratch{comm};
  Place place{comm, scratch.file("light_gcn")};
  std::unique_ptr<train::Dataset> data;
  std::unique_ptr<LightGcn> network;
  std::unique_ptr<train::FlatLayout> layout;
  train::FlatBuffer weights, gradients;
  std::vector<train::SamplePtr> samples;

  explicit Case(const std::string& keys, const std::string& links = users_and_items) {
    data = place.registry.make<train::Dataset>("links", deck::parse("{" + links + "}", "test"), place.context);
    data->open(place.context);
    auto made = place.registry.make<train::Network>(
        "light_gcn", deck::parse("{" + keys + ", precision: float64}", "test"), place.context);
    network.reset(dynamic_cast<LightGcn*>(made.release()));
    network->fit_statistics(*data, place.context);
    layout = std::make_unique<train::FlatLayout>(network->parameters(), std::int64_t{1} << 40);
    weights = train::FlatBuffer(*layout, DType::f64);
    gradients = train::FlatBuffer(*layout, DType::f64);
    network->initialise(weights.views(), 7);
    std::vector<std::int64_t> ids;
    for (std::int64_t id = 0; id < data->size(); id += 2) ids.push_back(id);
    samples = data->read(ids);
  }
  double loss() {
    gradients.zero();
    network->begin_step(11, 3);
    train::TermSum sums[2];
    const auto factors = network->term_weights(0, 1.0);
    const auto half = std::ssize(samples) / 2;
    for (const auto& part : {std::span(samples).first(half), std::span(samples).subspan(half)})
      network->gradient(part, weights.views(), factors, gradients.views(), sums, [](int) {});
    CHECK(sums[0].count == static_cast<double>(samples.size()));
    return factors[0] * sums[0].sum + factors[1] * sums[1].sum;
  }
  /// Slope along a random direction less that of differences, by its size.
  double error() {
    loss();
    const auto found = gradients.values<double>(0);
    const std::vector<double> slope(found.begin(), found.end());
    std::vector<double> direction;
    double along = 0.0;
    for (std::size_t i = 0; i < slope.size(); ++i) {
      direction.push_back(Random4(13, Stream::test, i, 0).normal(0));
      along += direction.back() * slope[i];
    }
    const auto move = [&](double by) {
      auto w = weights.values<double>(0);
      for (std::size_t i = 0; i < w.size(); ++i) w[i] += by * direction[i];
    };
    constexpr double step = 1e-6;
    move(step);
    const double above = loss();
    move(-2.0 * step);
    const double below = loss();
    move(step);
    CHECK(std::abs(along) > 1e-3);
    return std::abs((above - below) / (2.0 * step) - along) / std::abs(along);
  }
};

}  // namespace

TEST_CASE("gradients of light_gcn are those of finite differences", "[gradient]") {
  for (const char* keys :
       {"width: 5, layers: 3, loss: bpr, cosine: false, temperature: 1, squares: 0.1", "width: 5, loss: bpr",
        "width: 5, layers: 1, negatives: 7", "width: 6, layers: 2, negatives: 30, draw: links, temperature: 0.3",
        "width: 5, layers: 0, cosine: false, temperature: 0.5, negatives: 400, squares: 0.01",
        "width: 4, start: spectral, negatives: 9", "width: 5, negatives: 7, judge_lengths: 1.0",
        "width: 5, negatives: 40, skip_known: true", "width: 5, negatives: 40, draw: links, skip_known: true"}) {
    INFO(keys);
    Case c(keys);
    CHECK(c.error() < 1e-6);
  }
}

TEST_CASE("so are those of a plain graph", "[gradient]") {
  const auto path = std::filesystem::temp_directory_path() / ("cambium_edges_" + std::to_string(getpid()) + ".txt");
  std::ofstream file(path);
  for (int node = 0; node < 20; ++node)
    file << node << " " << (node * node + 3) % 20 << "\n" << node << " " << (node + 1) % 20 << "\n";
  file.close();
  for (const char* keys :
       {"width: 5, loss: bpr", "width: 5, negatives: 12", "width: 5, negatives: 12, start: spectral"}) {
    INFO(keys);
    Case c(keys, "edges: " + path.string() + ", bipartite: false");
    CHECK(c.network->parameters().front().shape.front() == 20);
    CHECK(c.error() < 1e-6);
  }
  std::filesystem::remove(path);
}

TEST_CASE("propagation is the mean of the embeddings and their spreads", "[links]") {
  LinkParts parts;
  parts.source = "here";
  parts.training = {{0, 0}, {0, 1}, {1, 1}};
  const auto graph = make_links(parts);
  Propagation<double> propagation(*graph, 1);
  const std::vector<double> in{1.0, 2.0, 4.0, 8.0};  // users 0 and 1, items 0 and 1
  std::vector<double> out(4);
  propagation.apply(in.data(), out.data(), 1);
  const double root = std::sqrt(0.5);  // of 1 / (2 links of user 0 x 1 link of item 0)
  CHECK_THAT(out[0], Catch::Matchers::WithinRel(0.5 * (1.0 + 4.0 * root + 8.0 * 0.5), 1e-14));
  CHECK_THAT(out[1], Catch::Matchers::WithinRel(0.5 * (2.0 + 8.0 * root), 1e-14));
  CHECK_THAT(out[2], Catch::Matchers::WithinRel(0.5 * (4.0 + 1.0 * root), 1e-14));
  CHECK_THAT(out[3], Catch::Matchers::WithinRel(0.5 * (8.0 + 1.0 * 0.5 + 2.0 * root), 1e-14));
}

TEST_CASE("what cosines trained may be judged by products", "[links]") {
  Case cosine("width: 6, negatives: 9"), judged("width: 6, negatives: 9, judge_lengths: 1.0"),
      half("width: 6, negatives: 9, judge_lengths: 0.5"), product("width: 6, negatives: 9, cosine: false");
  cosine.loss();
  judged.loss();
  CHECK(std::ranges::equal(cosine.gradients.values<double>(0), judged.gradients.values<double>(0)));
  const auto rows = [](Case& c) {
    return c.network->rows_of(storage_of<LinkSamples>(*c.samples.front())->graph, c.weights.views());
  };
  CHECK(rows(judged) == rows(product));
  CHECK(rows(judged) != rows(cosine));
  const auto long_ones = rows(product), short_ones = rows(half);
  for (std::size_t first = 0; first < long_ones.size(); first += 6) {
    double squares = 0.0;
    for (std::size_t k = first; k < first + 6; ++k)
      squares += static_cast<double>(long_ones[k]) * static_cast<double>(long_ones[k]);
    for (std::size_t k = first; k < first + 6; ++k)  // a length to the power of a half is left
      CHECK_THAT(short_ones[k], Catch::Matchers::WithinRel(long_ones[k] / std::pow(squares, 0.25), 1e-5));
  }
  judged.loss();  // what judging left does not go into the next step
  CHECK(std::ranges::equal(cosine.gradients.values<double>(0), judged.gradients.values<double>(0)));
}

TEST_CASE("drawn items that a user is linked to can be skipped", "[links]") {
  LinkParts parts;
  parts.source = "here";
  parts.training = {{0, 0}, {0, 2}, {1, 1}, {1, 2}, {1, 3}};
  const auto graph = make_links(parts);
  const auto first = static_cast<std::size_t>(graph->first_item());
  std::vector<double> x;
  for (std::size_t k = 0; k < 2 * static_cast<std::size_t>(graph->nodes()); ++k)
    x.push_back(Random4(5, Stream::test, k, 0).normal(0));
  const auto score = [&](std::size_t user, std::size_t item) {
    return (x[2 * user] * x[2 * (first + item)] + x[2 * user + 1] * x[2 * (first + item) + 1]) / 0.3;
  };
  LinkLossKeys keys;
  keys.cosine = false;
  keys.temperature = 0.3;
  keys.negatives = 50;
  keys.draw = LinkLossKeys::Draw::links;
  for (const bool skip : {false, true}) {
    INFO(skip);
    keys.skip_known = skip;
    const LinkBatch batch{{0}, {{0, 2}}, 3, 4};
    double others = 0.0;
    for (const auto item : shared_items(*graph, keys, batch.seed, batch.step))
      if (item != 2 && !(skip && item == 0)) others += std::exp(score(0, static_cast<std::size_t>(item)) - score(0, 2));
    std::vector<double> slopes(x.size(), 0.0);
    CHECK_THAT(add_link_loss<double>(*graph, keys, batch, x.data(), 2, 1.0, slopes.data()),
               Catch::Matchers::WithinRel(std::log1p(others), 1e-12));
    CHECK((slopes[2 * first] == 0.0) == skip);  // item 0 has a slope where it counts alone
  }
}

TEST_CASE("float32 gives the gradients of float64", "[gradient]") {
  Case c("width: 8, negatives: 40");
  c.loss();
  const auto network = c.place.registry.make<train::Network>(
      "light_gcn", deck::parse("{width: 8, negatives: 40}", "test"), c.place.context);
  network->fit_statistics(*c.data, c.place.context);
  train::FlatBuffer weights(*c.layout, DType::f32), gradients(*c.layout, DType::f32);
  network->initialise(weights.views(), 7);
  gradients.zero();
  network->begin_step(11, 3);
  train::TermSum sums[2];
  network->gradient(c.samples, weights.views(), network->term_weights(0, 1.0), gradients.views(), sums, [](int) {});
  double worst = 0.0, size = 0.0;
  for (std::size_t k = 0; k < gradients.values<float>(0).size(); ++k) {
    worst = std::max(worst,
                     std::abs(static_cast<double>(gradients.values<float>(0)[k]) - c.gradients.values<double>(0)[k]));
    size = std::max(size, std::abs(c.gradients.values<double>(0)[k]));
  }
  CHECK(worst < 1e-5 * size);
}

TEST_CASE("a state that cannot be", "[messages]") {
  Comm comm{MPI_COMM_SELF};
  Log log;
  Timing timing;
  Context context{comm, log, timing};
  LightGcn network({}, context);
  std::string said;
  try {
    network.restore(R"({"users": 0, "items": 5, "bipartite": true, "links": 1})");
  } catch (const InputError& error) {
    said = error.what();
  }
  CHECK(said ==
        "the state of this light_gcn holds 0 users and 5 items, which is invalid; its file is damaged or was changed");
}
