#include "core/sparse/divided_layer.hpp"
#include "tests/catch.hpp"
#include "tests/core/sparse/divided_samples.hpp"

using namespace cambium;
using namespace cambium::sparse;
using namespace cambium::sparse::test;

// A graph network of two layers, log-softmax and the mean loss of some nodes, trained for ten epochs by plain descent:
// once in loops over whole matrices, once divided. The first layer gets narrower, the second wider, so that both orders
// of A H W are used.
namespace {

using Numbers = std::vector<double>;
constexpr std::int64_t n = 45, f0 = 11, f1 = 4, f2 = 6;
constexpr double rate = 0.7;

struct Weights {
  Numbers w1 = random_numbers<double>(f0 * f1, 31), b1 = Numbers(f1, 0.1), w2 = random_numbers<double>(f1 * f2, 32),
          b2 = Numbers(f2, -0.2);
  Numbers losses;
  void step(const Weights& by) {
    const auto go = [](Numbers& w, const Numbers& g) {
      for (std::size_t k = 0; k < w.size(); ++k) w[k] -= rate * g[k];
    };
    go(w1, by.w1);
    go(b1, by.b1);
    go(w2, by.w2);
    go(b2, by.b2);
  }
  static Weights zero() {
    Weights out;
    for (Numbers* w : {&out.w1, &out.b1, &out.w2, &out.b2}) std::fill(w->begin(), w->end(), 0.0);
    return out;
  }
};

struct Task {
  Csr<double> a = random_matrix(n, 4, false, 33);
  Numbers x = random_numbers<double>(n * f0, 34);
  static bool counts(std::int64_t node) { return node % 3 != 1; }
  static std::int64_t label(std::int64_t node) { return node * 5 % f2; }
  static constexpr double count = 30.0;  ///< nodes that count, of 45: the loss is a mean over all ranks' nodes
};

Numbers times(const Numbers& a, const Numbers& b, std::int64_t rows, std::int64_t inner, std::int64_t columns,
              bool turn_a, bool turn_b) {
  Numbers out(at(rows * columns), 0.0);
  for (std::int64_t i = 0; i < rows; ++i)
    for (std::int64_t j = 0; j < columns; ++j)
      for (std::int64_t k = 0; k < inner; ++k)
        out[at(i * columns + j)] +=
            a[at(turn_a ? k * rows + i : i * inner + k)] * b[at(turn_b ? j * inner + k : k * columns + j)];
  return out;
}

/// Slope of the mean loss by the outputs, which become logarithms of the probabilities; and the loss.
double plain_loss(Numbers& z, Numbers& slope) {
  double loss = 0.0;
  slope.assign(z.size(), 0.0);
  for (std::int64_t i = 0; i < n; ++i) {
    double largest = -1e300, sum = 0.0;
    for (std::int64_t k = 0; k < f2; ++k) largest = std::max(largest, z[at(i * f2 + k)]);
    for (std::int64_t k = 0; k < f2; ++k) sum += std::exp(z[at(i * f2 + k)] - largest);
    for (std::int64_t k = 0; k < f2; ++k) {
      double& p = z[at(i * f2 + k)];
      p -= largest + std::log(sum);
      if (!Task::counts(i)) continue;
      slope[at(i * f2 + k)] = (std::exp(p) - (k == Task::label(i))) / Task::count;
      if (k == Task::label(i)) loss -= p / Task::count;
    }
  }
  return loss;
}

Weights plain_training(const Task& t, int epochs) {
  Weights w;
  const auto add_bias = [](Numbers& z, const Numbers& b) {
    for (std::size_t k = 0; k < z.size(); ++k) z[k] += b[k % b.size()];
  };
  for (int epoch = 0; epoch < epochs; ++epoch) {
    Numbers z1 = times(plain_product(t.a, t.x, f0, false), w.w1, n, f0, f1, false, false), slope;
    add_bias(z1, w.b1);
    Numbers h = z1;
    for (double& v : h) v = std::max(v, 0.0);
    const Numbers ah = plain_product(t.a, h, f1, false);
    Numbers z2 = times(ah, w.w2, n, f1, f2, false, false);
    add_bias(z2, w.b2);
    w.losses.push_back(plain_loss(z2, slope));
    Weights by = Weights::zero();
    by.w2 = times(ah, slope, f1, n, f2, true, false);
    for (std::size_t k = 0; k < slope.size(); ++k) by.b2[k % f2] += slope[k];
    Numbers by_z1 = times(plain_product(t.a, slope, f2, true), w.w2, n, f2, f1, false, true);
    for (std::size_t k = 0; k < by_z1.size(); ++k)
      if (z1[k] <= 0.0) by_z1[k] = 0.0;
    by.w1 = times(t.x, plain_product(t.a, by_z1, f1, true), f0, n, f1, true, false);
    for (std::size_t k = 0; k < by_z1.size(); ++k) by.b1[k % f1] += by_z1[k];
    w.step(by);
  }
  return w;
}

void add_bias(const Share& share, Rows<double> z, const Numbers& b) {
  const auto columns = share.columns(std::ssize(b));
  for (std::int64_t i = 0; i < z.rows; ++i)
    for (std::int64_t k = 0; k < z.width; ++k) z.row(i)[k] += b[at(columns.begin + k)];
}

/// This rank's part of the loss; z becomes the slope by z.
double divided_loss(DividedProduct<double>& product, Rows<double> z) {
  log_softmax(product, f2, z);
  const Share share = product.share();
  double loss = 0.0;
  for (std::int64_t i = share.rows.begin; i < share.rows.end; ++i)
    for (std::int64_t k = 0; k < z.width; ++k) {
      double& p = z.row(i - share.rows.begin)[k];
      const bool own = share.columns(f2).begin + k == Task::label(i);
      if (Task::counts(i) && own && share.counted().holds(i)) loss -= p / Task::count;
      p = Task::counts(i) ? (std::exp(p) - own) / Task::count : 0.0;
    }
  return loss;
}

void epoch(const Task& t, DividedProduct<double>& product, Weights& w) {
  const Share share = product.share();
  Part<double> x(share, f0, t.x), xw(share, f1), z1(share, f1), h(share, f1), ah(share, f1), z2(share, f2),
      by_h(share, f1), between(share, f1), s(share, f1);
  times_weights<double>(product, product.whole_rows(f0, x.view()), w.w1, xw.view());
  product.apply(f1, xw.view(), z1.view());
  add_bias(share, z1.view(), w.b1);
  h.numbers = z1.numbers;
  for (double& v : h.numbers) v = std::max(v, 0.0);
  product.apply(f1, h.view(), ah.view());
  times_weights<double>(product, product.whole_rows(f1, ah.view()), w.w2, z2.view());
  add_bias(share, z2.view(), w.b2);
  Numbers loss(1, 0.0);
  loss[0] = divided_loss(product, z2.view());
  Weights by = Weights::zero();
  add_bias_gradient<double>(product, f2, z2.view(), by.b2);
  const auto slope = product.whole_rows(f2, z2.view());
  add_weight_gradient<double>(product, f1, ah.view(), slope, by.w2);
  times_transposed_weights<double>(product, slope, w.w2, between.view());
  product.apply_transposed(f1, between.view(), by_h.view());
  for (std::size_t k = 0; k < by_h.numbers.size(); ++k)
    if (z1.numbers[k] <= 0.0) by_h.numbers[k] = 0.0;
  add_bias_gradient<double>(product, f1, by_h.view(), by.b1);
  product.apply_transposed(f1, by_h.view(), s.view());
  add_weight_gradient<double>(product, f0, x.view(), product.whole_rows(f1, s.view()), by.w1);
  for (Numbers* g : {&by.w1, &by.b1, &by.w2, &by.b2, &loss}) product.comm().sum(*g);
  w.losses.push_back(loss[0]);
  w.step(by);
}

Weights divided_training(const Task& t, const std::vector<std::int64_t>& first, const LayoutKeys& keys,
                         const Comm& comm, int epochs) {
  const auto product = make_product<double>(own_rows(t.a, first, comm.rank()), first, keys, comm);
  Weights w;
  for (int k = 0; k < epochs; ++k) epoch(t, *product, w);
  // Both layers exchange the narrower side, forward and backward.
  if (keys.scheme == Scheme::rows)
    CHECK(product->words().dense == epochs * 4 * f1 * (n - product->share().rows.size()));
  return w;
}

double difference(const Weights& a, const Weights& b) {
  double worst = 0.0;
  for (const auto& [u, v] :
       {std::pair(&a.w1, &b.w1), {&a.b1, &b.b1}, {&a.w2, &b.w2}, {&a.b2, &b.b2}, {&a.losses, &b.losses}})
    for (std::size_t k = 0; k < u->size(); ++k) worst = std::max(worst, std::abs((*u)[k] - (*v)[k]));
  return worst;
}

}  // namespace

TEST_CASE("ten epochs give the weights of one rank in every layout, and their bits where sums are ordered") {
  const Comm comm, alone(MPI_COMM_SELF);
  const Task task;
  const int epochs = 10;
  const Weights plain = plain_training(task, epochs);
  REQUIRE(plain.losses.back() < 0.95 * plain.losses.front());  // it does learn
  const LayoutKeys in_order{Scheme::needed_rows, 1, lowp::WireCodec::none, true};
  const Weights one = divided_training(task, {0, n}, in_order, alone, epochs);
  CHECK(difference(one, plain) < 1e-12);
  for (const LayoutKeys& keys : all_layouts(comm.size()))
    for (const auto& first : {equal_ranges(n, comm.size()), random_ranges(n, comm.size(), 35)}) {
      INFO(text_of(keys));
      const Weights found = divided_training(task, first, keys, comm, epochs);
      CHECK(difference(found, plain) < 1e-10);
      if (keys.ordered) {
        CHECK(found.w1 == one.w1);
        CHECK(found.b1 == one.b1);
        CHECK(found.w2 == one.w2);
        CHECK(found.b2 == one.b2);
      }
    }
}
