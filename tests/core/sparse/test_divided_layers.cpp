#include "core/sparse/divided_layer.hpp"
#include "core/sparse/layer_order.hpp"
#include "tests/catch.hpp"
#include "tests/core/sparse/divided_samples.hpp"

using namespace cambium;
using namespace cambium::sparse;
using namespace cambium::sparse::test;

namespace {

/// A (n x m) times B (m x w), either turned.
std::vector<double> plain(const std::vector<double>& a, const std::vector<double>& b, std::int64_t n, std::int64_t m,
                          std::int64_t w, bool turn_a = false, bool turn_b = false) {
  std::vector<double> out(at(n * w), 0.0);
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t k = 0; k < m; ++k)
      for (std::int64_t j = 0; j < w; ++j)
        out[at(i * w + j)] += a[at(turn_a ? k * n + i : i * m + k)] * b[at(turn_b ? j * m + k : k * w + j)];
  return out;
}

/// Z = A H W and, for a gradient G of Z, those of H and W.
struct Layer {
  std::int64_t n, f_in, f_out;
  Csr<double> a;
  std::vector<double> h, w, g;
  std::vector<double> z() const { return plain(plain_product(a, h, f_in, false), w, n, f_in, f_out); }
  std::vector<double> back() const { return plain_product(a, g, f_out, true); }
  std::vector<double> input_gradient() const { return plain(back(), w, n, f_out, f_in, false, true); }
  std::vector<double> weight_gradient() const { return plain(h, back(), f_in, n, f_out, true); }
};

Layer random_layer(std::int64_t n, std::int64_t f_in, std::int64_t f_out) {
  return {n,
          f_in,
          f_out,
          random_matrix(n, 4, false, 21),
          random_numbers<double>(n * f_in, 22),
          random_numbers<double>(f_in * f_out, 23),
          random_numbers<double>(n * f_out, 24)};
}

struct Found {
  double z, input_gradient, weight_gradient;  ///< errors
  std::vector<double> weights;
};

/// One layer forward and backward with nothing but the functions of dense.hpp.
Found run(const Layer& layer, LayerOrder order, DividedProduct<double>& product, const Comm& comm) {
  const Share share = product.share();
  const std::int64_t f_in = layer.f_in, f_out = layer.f_out;
  Part<double> h(share, f_in, layer.h), g(share, f_out, layer.g), z(share, f_out), dh(share, f_in);
  const std::span<const double> w(layer.w);
  std::vector<double> dw(at(f_in * f_out), 0.0);
  if (order == LayerOrder::weights_first) {
    Part<double> hw(share, f_out), s(share, f_out);
    times_weights<double>(product, product.whole_rows(f_in, h.view()), w, hw.view());
    product.apply(f_out, hw.view(), z.view());
    product.apply_transposed(f_out, g.view(), s.view());
    const auto whole = product.whole_rows(f_out, s.view());
    add_weight_gradient<double>(product, f_in, h.view(), whole, dw);
    times_transposed_weights<double>(product, whole, w, dh.view());
  } else {
    Part<double> ah(share, f_in), gw(share, f_in);
    product.apply(f_in, h.view(), ah.view());
    times_weights<double>(product, product.whole_rows(f_in, ah.view()), w, z.view());
    const auto whole = product.whole_rows(f_out, g.view());
    add_weight_gradient<double>(product, f_in, ah.view(), whole, dw);
    times_transposed_weights<double>(product, whole, w, gw.view());
    product.apply_transposed(f_in, gw.view(), dh.view());
  }
  comm.sum(dw);
  double worst = 0.0;
  const auto expected = layer.weight_gradient();
  for (std::size_t k = 0; k < dw.size(); ++k) worst = std::max(worst, std::abs(dw[k] - expected[k]));
  return {comm.max(z.error(layer.z(), f_out)), comm.max(dh.error(layer.input_gradient(), f_in)), worst, dw};
}

/// Columns of other parts that the rank gets for whole rows.
std::int64_t gathered(const Share& share, std::int64_t width) {
  return share.rows.size() * (width - share.columns(width).size());
}

}  // namespace

TEST_CASE("a layer gives the plain numbers and the words of the formulas in both orders") {
  const Comm comm;
  for (const auto& [f_in, f_out] : {std::pair<std::int64_t, std::int64_t>{13, 4}, {4, 13}, {1, 6}, {3, 1}}) {
    const Layer layer = random_layer(37, f_in, f_out);
    const auto first = random_ranges(37, comm.size(), 25);
    for (const LayoutKeys& keys : all_layouts(comm.size()))
      for (LayerOrder order : {LayerOrder::weights_first, LayerOrder::graph_first}) {
        INFO(text_of(keys) << ", " << f_in << " to " << f_out << ", order " << static_cast<int>(order));
        const auto product = make_product<double>(own_rows(layer.a, first, comm.rank()), first, keys, comm);
        const Found found = run(layer, order, *product, comm);
        CHECK(found.z < 1e-12);
        CHECK(found.input_gradient < 1e-12);
        CHECK(found.weight_gradient < 1e-12);
        const std::int64_t width = order == LayerOrder::weights_first ? f_out : f_in;
        const Words there = expected_words(layer.a, first, keys, comm.rank(), width),
                    back = expected_words(transposed(layer.a), first, keys, comm.rank(), width);
        const std::int64_t dense =
            there.dense + back.dense + gathered(product->share(), f_in) + gathered(product->share(), f_out);
        CHECK(comm.sum(std::int64_t(product->words().dense != dense)) == 0);
        if (keys.scheme == Scheme::rows)
          CHECK(product->words().dense ==
                exchanged_columns({f_in, f_out}, order) * (37 - product->share().rows.size()));
      }
  }
}

TEST_CASE("the cheaper order exchanges the narrower side; 32 times fewer words on Cora") {
  using enum LayerOrder;
  CHECK(cheaper_order({16, 7}) == weights_first);
  CHECK(cheaper_order({7, 16}) == graph_first);
  CHECK(cheaper_order({8, 8}) == weights_first);
  CHECK(exchanged_columns({16, 7}, weights_first) == 14);
  CHECK(exchanged_columns({16, 7}, graph_first) == 32);
  // The first layer: no gradient of the features is wanted.
  CHECK(exchanged_columns({1433, 16, false}, graph_first) == 1433);
  CHECK(cheaper_order({20, 16, false}) == graph_first);
  CHECK(cheaper_order({40, 16, false}) == weights_first);
  CHECK(exchanged_columns({1433, 16, false, true}, graph_first) == 0);
  CHECK(cheaper_order({1433, 16, false, true}) == graph_first);
  // 1433-16-7, features dropped out: 16 + 7 + 7 + 16 columns instead of 1433 + 16 + 7 + 16.
  const std::int64_t best = exchanged_columns({1433, 16, false}, cheaper_order({1433, 16, false})) +
                            exchanged_columns({16, 7}, cheaper_order({16, 7}));
  CHECK(best == 46);
  CHECK((1433 + 16 + 7 + 16) / best == 32);
}

TEST_CASE("ordered: weight and bias gradients have the bits of one rank") {
  const Comm comm, alone(MPI_COMM_SELF);
  const Layer layer = random_layer(43, 6, 5);
  const auto first = random_ranges(43, comm.size(), 26);
  const std::vector<std::int64_t> whole{0, 43};
  for (Scheme scheme : {Scheme::rows, Scheme::needed_rows})
    for (LayerOrder order : {LayerOrder::weights_first, LayerOrder::graph_first}) {
      const LayoutKeys keys{scheme, 1, lowp::WireCodec::none, true};
      const auto product = make_product<double>(own_rows(layer.a, first, comm.rank()), first, keys, comm);
      const auto single = make_product<double>(layer.a, whole, keys, alone);
      CHECK(run(layer, order, *product, comm).weights == run(layer, order, *single, alone).weights);
      std::vector<double> bias(5, 0.0), expected(5, 0.0);
      Part<double> g(product->share(), 5, layer.g), all(single->share(), 5, layer.g);
      add_bias_gradient<double>(*product, 5, g.view(), bias);
      add_bias_gradient<double>(*single, 5, all.view(), expected);
      comm.sum(bias);
      CHECK(bias == expected);
    }
}

TEST_CASE("bias gradients and the logarithm of softmax in every layout") {
  const Comm comm;
  const std::int64_t n = 31;
  const auto first = random_ranges(n, comm.size(), 27);
  for (std::int64_t width : {1, 2, 7})
    for (const LayoutKeys& keys : all_layouts(comm.size())) {
      INFO(text_of(keys) << ", width " << width);
      const auto product =
          make_product<double>(own_rows(random_matrix(n, 3, true, 28), first, comm.rank()), first, keys, comm);
      auto numbers = random_numbers<double>(n * width, 29);
      for (double& x : numbers) x *= 400.0;  // exponentials alone would overflow
      std::vector<double> bias(at(width), 0.0), expected_bias(at(width), 0.0), expected(numbers);
      for (std::int64_t i = 0; i < n; ++i) {
        double largest = -1e300, sum = 0.0;
        for (std::int64_t k = 0; k < width; ++k) {
          largest = std::max(largest, numbers[at(i * width + k)]);
          expected_bias[at(k)] += numbers[at(i * width + k)];
        }
        for (std::int64_t k = 0; k < width; ++k) sum += std::exp(numbers[at(i * width + k)] - largest);
        for (std::int64_t k = 0; k < width; ++k) expected[at(i * width + k)] -= largest + std::log(sum);
      }
      Part<double> z(product->share(), width, numbers);
      add_bias_gradient<double>(*product, width, z.view(), bias);
      comm.sum(bias);
      for (std::size_t k = 0; k < bias.size(); ++k) CHECK(std::abs(bias[k] - expected_bias[k]) < 1e-10);
      log_softmax<double>(*product, width, z.view());
      CHECK(comm.max(z.error(expected, width)) < 1e-11);
    }
}
