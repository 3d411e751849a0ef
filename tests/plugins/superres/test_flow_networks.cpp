// Networks of convection: sizes, gradients, what they keep exactly.
#include "core/io/hdf5/h5.hpp"
#include "plugins/superres/networks/flow_unet.hpp"
#include "plugins/superres/networks/meshfree_flow_net.hpp"
#include "tests/catch.hpp"
#include "tests/plugins/superres/flow_case.hpp"
#include "tests/scratch.hpp"

using namespace cambium;
using namespace cambium::superres;
using namespace cambium::superres::testing;

namespace {

struct Buffers {
  std::vector<std::vector<double>> memory;
  std::vector<TensorRef> views;
  explicit Buffers(const train::Network& network) {
    for (const auto& info : network.parameters()) {
      TensorRef t;
      for (auto n : info.shape) t.shape[t.rank++] = n;
      for (std::int64_t stride = 1, k = t.rank - 1; k >= 0; stride *= t.shape[k--]) t.stride[k] = stride;
      memory.emplace_back(static_cast<std::size_t>(t.elements()), 0.0);
      t.data = memory.back().data();
      views.push_back(t);
    }
  }
};

struct World {
  Comm comm{MPI_COMM_SELF};
  Log log;
  Timing timing;
  Context context{comm, log, timing};
};

MeshfreeFlowNet::Params small() {
  MeshfreeFlowNet::Params p;
  p.features = 2;
  p.levels = 1;
  p.latent = 3;
  p.decoder = {6, 5};
  p.activation = Activation::swish;
  p.equations = boussinesq;
  p.constants = {{"P", 0.01}};
  p.loss = FlowNetwork::Loss::l2;  // smooth, for differences
  p.precision = Precision::float64;
  p.gamma = 0.3;
  return p;
}

std::int64_t count(const train::Network& network, const std::string& prefix) {
  std::int64_t n = 0;
  for (const auto& info : network.parameters()) {
    if (!info.name.starts_with(prefix)) continue;
    std::int64_t size = 1;
    for (auto extent : info.shape) size *= extent;
    n += size;
  }
  return n;
}

}  // namespace

TEST_CASE("at the published sizes the networks have the published numbers of parameters") {
  World world;
  MeshfreeFlowNet::Params p;
  p.decoder = {512, 256, 128, 64, 32};
  MeshfreeFlowNet net(p, world.context);
  net.restore(state_of({4, 16, 16}, false));
  CHECK(count(net, "encoder") == 1458400);
  CHECK(count(net, "decoder") == 209924);
  CHECK(DecoderShape{}.parameters() == 209924);
  CHECK(DecoderShape{}.multiplications(1) == 208928);
}

TEST_CASE("gradients of data and residual are derivatives of the loss") {
  World world;
  auto params = small();
  params.divergence_free = GENERATE(false, true);
  params.blend = params.divergence_free ? Blend::c3 : Blend::c2;
  params.interpolate = GENERATE(false, true);
  if (!params.divergence_free && GENERATE(false, true)) {
    params.blend = Blend::spline;
    params.plates = Plates{{0.0, 1.0}, {{"b", 0.5}, {"u", 0.0}}, {{"b", -0.5}, {"u", 0.0}}};
  }
  MeshfreeFlowNet net(params, world.context);
  net.restore(state_of({3, 4, 5}, true));
  Buffers weights(net), gradients(net), unused(net);
  net.initialise(weights.views, 5);
  const auto samples = batch();
  const std::vector<double> term_weights = net.term_weights(0, 1.0);
  auto loss = [&] {
    std::vector<train::TermSum> terms(2);
    net.gradient(samples, weights.views, term_weights, unused.views, terms, {});
    return terms[0].sum + params.gamma * terms[1].sum;
  };
  std::vector<train::TermSum> terms(2);
  net.gradient(samples, weights.views, term_weights, gradients.views, terms, {});
  CHECK(terms[1].count == 2.0);
  const auto infos = net.parameters();
  for (std::size_t k = 0; k < infos.size(); ++k) {
    CAPTURE(infos[k].name);
    const std::size_t i = weights.memory[k].size() / 2;
    const double h = 1e-6, w = weights.memory[k][i];
    weights.memory[k][i] = w + h;
    const double up = loss();
    weights.memory[k][i] = w - h;
    const double down = loss();
    weights.memory[k][i] = w;
    CHECK(gradients.memory[k][i] == Approx((up - down) / (2 * h)).epsilon(1e-5).margin(1e-6));
  }
}

TEST_CASE("values on plates are exact, whatever the weights, and derivatives are those of the values") {
  World world;
  auto params = small();
  params.blend = GENERATE(Blend::c2, Blend::spline);
  params.interpolate = GENERATE(false, true);
  params.plates = Plates{{0.0, 1.0}, {{"b", 0.5}, {"u", 0.0}, {"w", 0.0}}, {{"b", -0.5}, {"u", 0.0}, {"w", 0.0}}};
  MeshfreeFlowNet net(params, world.context);
  net.restore(state_of({3, 4, 5}, true));
  Buffers weights(net);
  net.initialise(weights.views, 5);
  for (auto& w : weights.memory.back()) w = 0.7;  // biases of the last layer: the decoder itself does not vanish
  const Windows windows(flow(), {3, 4, 5}, {1, 1, 1});
  const double h = 1e-4;
  const std::vector<double> places{0.3,     0.9, 0.0, 0.8,     1.3, 1.0,     0.4, 1.1, 0.2,     0.4, 1.1,
                                   0.2 - h, 0.4, 1.1, 0.2 + h, 0.4, 1.1 - h, 0.2, 0.4, 1.1 + h, 0.2};
  const std::vector<train::SamplePtr> one{windows.sample({0, 0, 0}, places, std::vector<float>(28), 0)};
  net.with_weights(weights.views, [&] {
    const auto jets = net.jets(train::TorchBatch(one, torch::kFloat64));
    auto value = [&](const MultiIndex& d, int point, int field) {
      return jets[net.basis().find(d)][point][field].item<double>();
    };
    CHECK(value({}, 0, 1) == Approx(0.5));
    CHECK(value({}, 1, 1) == Approx(-0.5));
    for (int plate : {0, 1})
      for (int field : {2, 3}) CHECK(value({}, plate, field) == Approx(0.0).margin(1e-12));
    CHECK(std::abs(value({}, 0, 0)) > 1e-3);  // p is free
    for (int field = 0; field < 4; ++field) {
      CHECK(value({0, 0, 1}, 2, field) ==
            Approx((value({}, 4, field) - value({}, 3, field)) / (2 * h)).epsilon(1e-5).margin(1e-6));
      CHECK(value({0, 1, 0}, 2, field) ==
            Approx((value({}, 6, field) - value({}, 5, field)) / (2 * h)).epsilon(1e-5).margin(1e-6));
      const double bend = (value({}, 4, field) - 2 * value({}, 2, field) + value({}, 3, field)) / (h * h);
      CHECK(value({0, 0, 2}, 2, field) == Approx(bend).epsilon(1e-3).margin(1e-3));
    }
  });
}

TEST_CASE("a stream function leaves no divergence") {
  World world;
  auto params = small();
  params.divergence_free = true;
  params.blend = Blend::c3;
  MeshfreeFlowNet net(params, world.context);
  net.restore(state_of({3, 4, 5}, true));
  Buffers weights(net);
  net.initialise(weights.views, 5);
  const auto samples = batch();
  net.with_weights(weights.views, [&] {
    const auto jets = net.jets(train::TorchBatch(samples, torch::kFloat64));
    const auto ux = jets[net.basis().find({0, 1, 0})].select(1, 2), wz = jets[net.basis().find({0, 0, 1})].select(1, 3);
    CHECK((ux + wz).abs().max().item<double>() < 1e-12 * ux.abs().max().item<double>());
    CHECK(ux.abs().max().item<double>() > 1e-3);
  });
}

TEST_CASE("answers do not depend on where a periodic window begins, and are the interpolation before any training") {
  World world;
  auto params = small();
  MeshfreeFlowNet net(params, world.context);
  net.restore(state_of({3, 4, 5}, true));
  Buffers weights(net);
  net.initialise(weights.views, 5);
  const Windows windows(flow(), {3, 4, 5}, {1, 1, 1});
  const std::vector<double> places{0.4, 1.9, 0.2, 0.9, 2.05, 0.5};
  const std::vector<train::SamplePtr> two{windows.sample({0, 0, 0}, places, {}, 0),
                                          windows.sample({0, 2, 0}, places, {}, 1)};
  std::vector<double> answer(16);
  auto view = io::tensor_of(answer.data(), {2, 2, 4});
  net.infer(two, weights.views, std::span(&view, 1));
  for (std::size_t k = 0; k < 8; ++k)
    CHECK(answer[k] == Approx(answer[k + 8]).epsilon(0.2).margin(0.05));  // pooling starts elsewhere
  for (auto& w : weights.memory[weights.memory.size() - 2]) w = 0.0;      // the decoder's last layer
  net.infer(two, weights.views, std::span(&view, 1));
  for (std::size_t k = 0; k < 8; ++k) CHECK(answer[k] == Approx(answer[k + 8]).epsilon(1e-6).margin(1e-7));
}

TEST_CASE("expansions are exact for quadratics, also of a stream function") {
  LatentCells cells{{{{0, 0.5, 1.2, 1.5}, {0, 0.3, 0.5, 0.9, 1.0}, {0.02, 0.1, 0.3, 0.62, 0.9}}}, false};
  auto f = [](double t, double x, double z) {
    return 1 + t - 2 * x + 3 * z + t * t + 0.5 * x * x - z * z + t * x - 2 * t * z + x * z;
  };
  std::vector<double> values, u, w;
  for (double t : cells.axis[0])
    for (double x : cells.axis[1])
      for (double z : cells.axis[2]) {
        values.push_back(f(t, x, z));
        u.push_back((1 + t) * (1 + 2 * z - x));  // psi = (1 + t)(z + z^2 - x z)
        w.push_back((1 + t) * z);
      }
  const JetBasis basis({{0, 1, 0}, {0, 0, 1}, {1, 0, 1}});
  const std::vector<double> places{0.7, 0.62, 0.41, 0.1, 0.95, 0.05};
  const auto query = locate<double>(cells, places.data(), 2, Blend::c2, basis);
  std::vector<double> rows(static_cast<std::size_t>(basis.size()) * query.rows());
  expand({taylor_of(cells, values)}, query, 0, basis, rows.data());
  for (std::int64_t r = 0; r < query.rows(); ++r) {
    const double *p = &places[3 * (r / 8)], t = p[0], x = p[1], z = p[2];
    CHECK(rows[r] == Approx(f(t, x, z)));
    CHECK(rows[basis.find({0, 0, 1}) * query.rows() + r] == Approx(3 - 2 * z - 2 * t + x));
  }
  expand({stream_function_of(cells, u, w)}, query, 0, basis, rows.data());
  const double *p = places.data(), ux = (1 + p[0]) * (1 + 2 * p[2] - p[1]);
  double sum = 0.0;
  for (int corner = 0; corner < 8; ++corner)
    sum += query.weight[corner] * rows[basis.find({0, 0, 1}) * query.rows() + corner];
  CHECK(sum == Approx(ux).epsilon(0.02));  // second order in time and space together
}

TEST_CASE("the U-Net reads the same samples, at any ratio, and begins as their linear interpolation") {
  World world;
  FlowUnet::Params params;
  params.features = 4;
  params.levels = 1;
  params.ratio = GENERATE(std::array<std::int64_t, 3>{2, 3, 2}, std::array<std::int64_t, 3>{1, 1, 1});
  params.precision = Precision::float64;
  FlowUnet net(params, world.context);
  net.restore(state_of({3, 4, 5}, true));
  Buffers weights(net), gradients(net);
  net.initialise(weights.views, 5);
  std::vector<train::TermSum> terms(1);
  const std::vector<double> one{1.0};
  net.gradient(batch(), weights.views, one, gradients.views, terms, {});
  CHECK(terms[0].count == 2.0);
  CHECK(std::isfinite(terms[0].sum));
  const Windows windows(flow(), {3, 4, 5}, {1, 1, 1});
  const auto& data = windows.coarse();
  const double half = 0.5 * (data.axis[1][1] + data.axis[1][2]);
  const train::SamplePtr sample = windows.sample({0, 0, 0}, {data.axis[0][1], half, data.axis[2][2]}, {}, 0);
  std::vector<double> answer(4);
  auto view = io::tensor_of(answer.data(), {1, 1, 4});
  net.infer(std::span(&sample, 1), weights.views, std::span(&view, 1));
  for (std::size_t f = 0; f < 4; ++f)
    CHECK(answer[f] == Approx(0.5 * (data.at(f, 1, 1, 2) + data.at(f, 1, 2, 2))).margin(1e-6));
}

TEST_CASE("answers refined by their equations obey them, keep to the samples and leave the weights alone") {
  World world;
  auto params = small();
  params.blend = GENERATE(Blend::c2, Blend::spline);
  params.equations = {"dx(u) - 3*dz(w) = 0"};  // of other data
  params.gamma = 0.0;
  MeshfreeFlowNet net(params, world.context);
  net.restore(state_of({3, 4, 5}, true));
  Buffers weights(net);
  net.initialise(weights.views, 5);
  const auto before = weights.memory;
  // Every place twice displaced along x and along z, for differences; then the coarse samples themselves.
  const double h = 1e-5;
  std::vector<double> points;
  constexpr int places = 40;
  for (int p = 0; p < places; ++p) {
    const double t = 1.1 * ((7 * p) % places + 0.5) / places, x = 0.2 + 1.8 * (p + 0.5) / places,
                 z = 0.05 + 0.8 * ((13 * p) % places) / places;
    for (double d : {-h, h}) points.insert(points.end(), {t, x + d, z});
    for (double d : {-h, h}) points.insert(points.end(), {t, x, z + d});
  }
  auto data = flow();
  data.values[2].clear();
  data.values[3].clear();  // psi = sin(1 + t) cos(pi x) z (1.1 - z) / pi has no divergence
  for (double t : data.axis[0])
    for (double x : data.axis[1])
      for (double z : data.axis[2]) {
        points.insert(points.end(), {t, x, z});
        data.values[2].push_back(std::sin(1.0 + t) * std::cos(M_PI * x) * (1.1 - 2.0 * z) / M_PI);
        data.values[3].push_back(std::sin(1.0 + t) * std::sin(M_PI * x) * z * (1.1 - z));
      }
  const auto count = std::ssize(points) / 3;
  const train::SamplePtr sample = Windows(data, {3, 4, 5}, {1, 1, 1}).sample({0, 0, 0}, points, {}, 0);
  const std::vector<Equation> laws{parse_equation("dx(u) + dz(w) = 0", {flow_fields, {}}, 1)};
  const auto answer = [&](const Refinement* how) {
    net.refine(how, laws);
    std::vector<double> out(4 * count);
    auto view = io::tensor_of(out.data(), {1, count, 4});
    net.infer(std::span(&sample, 1), weights.views, std::span(&view, 1));
    return out;
  };
  const auto divergence = [&](const std::vector<double>& y) {
    double squares = 0.0;
    for (int p = 0; p < places; ++p) {
      const double* v = &y[16 * static_cast<std::size_t>(p)];
      squares += std::pow((v[4 + 2] - v[2]) / (2 * h) + (v[12 + 3] - v[8 + 3]) / (2 * h), 2) / places;
    }
    return std::sqrt(squares);
  };
  const auto misfit = [&](const std::vector<double>& y) {
    double squares = 0.0;
    for (std::size_t f = 0; f < 4; ++f)
      for (std::size_t n = 0; n < data.values[f].size(); ++n)
        squares += std::pow(y[4 * (4 * static_cast<std::size_t>(places) + n) + f] - data.values[f][n], 2);
    return std::sqrt(squares / static_cast<double>(4 * data.values[0].size()));
  };
  Refinement how;
  how.points = 200;
  how.steps = 300;
  how.gamma = 2.0;
  const auto plain = answer(nullptr), refined = answer(&how), again = answer(&how), after = answer(nullptr);
  how.weights_rate = 0.0;
  const auto vectors_only = answer(&how);
  CAPTURE(divergence(plain), divergence(vectors_only), divergence(refined), misfit(plain), misfit(vectors_only),
          misfit(refined));
  CHECK(divergence(vectors_only) < 0.4 * divergence(plain));
  CHECK(divergence(refined) < divergence(vectors_only));
  CHECK(misfit(refined) < 0.7 * misfit(vectors_only));
  CHECK(divergence(refined) < 0.3 * divergence(plain));
  CHECK(misfit(refined) < misfit(plain));
  CHECK(refined == again);
  CHECK(plain == after);
  CHECK(weights.memory == before);
}
