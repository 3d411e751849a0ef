// Attention by head: the block-wise softmax and the sums over feature maps against their full matrices, values and
// derivatives; random features against what they estimate, and against the errors that numpy finds.
#include "core/train/networks/attention/attention.hpp"

#include <algorithm>
#include <cmath>
#include <functional>

#include "core/parallel/random.hpp"
#include "core/train/networks/attention/feature_map.hpp"
#include "core/train/networks/attention/random_features.hpp"
#include "tests/catch.hpp"

using namespace cambium;
using namespace cambium::train;

namespace {

using Type = AttentionParams::Type;

std::size_t size(std::int64_t n) { return static_cast<std::size_t>(n); }

std::vector<double> normals(std::size_t count, std::uint64_t id, double deviation) {
  std::vector<double> out(count);
  for (std::size_t k = 0; k < count; ++k) out[k] = deviation * Random4(5, Stream::test, k, id).normal(0);
  return out;
}

/// Rows of query, key and value beside each other with room between, as in a network, and a derivative by the output.
template <class T>
struct Case {
  HeadShape shape;
  int stride, out_stride;
  std::vector<T> rows, by_out;
  Case(HeadShape s, double deviation, std::uint64_t id = 1)
      : shape(s), stride(3 * s.width + 5), out_stride(s.width + 2) {
    const auto x = normals(size(s.positions) * size(stride), id, deviation);
    const auto y = normals(size(s.positions) * size(out_stride), id + 1, 1.0);
    rows.assign(x.begin(), x.end());
    by_out.assign(y.begin(), y.end());
  }
  HeadRows<const T> in() const {
    return {rows.data(), rows.data() + shape.width, rows.data() + 2 * shape.width, stride};
  }
};

template <class T>
struct Result {
  std::vector<T> out, by_rows;
};

template <class T>
Result<T> run(Type type, const Case<T>& c, std::span<const double> features = {}) {
  const auto attention = make_attention<T>(type, c.shape, features);
  Result<T> r{std::vector<T>(c.by_out.size()), std::vector<T>(c.rows.size())};
  std::vector<T> kept(size(attention->kept()));
  attention->forward(c.in(), r.out.data(), c.out_stride, kept.data());
  T* by = r.by_rows.data();
  attention->backward(c.in(), kept.data(), c.by_out.data(), c.out_stride,
                      {by, by + c.shape.width, by + 2 * c.shape.width, c.stride});
  return r;
}

template <class T>
double difference(const std::vector<T>& a, const std::vector<T>& b) {
  double worst = 0.0;
  for (std::size_t k = 0; k < a.size(); ++k) worst = std::max(worst, static_cast<double>(std::abs(a[k] - b[k])));
  return worst;
}

/// A positive weight of key k for query q and its derivatives by both.
using Weight = std::function<double(const double* q, const double* k, double* by_q, double* by_k)>;

/// The quadratic form of attention with any weight, and its derivatives, written out.
Result<double> quadratic(const Case<double>& c, const Weight& weight) {
  const int p = c.shape.positions, n = c.shape.width;
  Result<double> r{std::vector<double>(c.by_out.size()), std::vector<double>(c.rows.size())};
  std::vector<double> a(size(p)), by_q(size(p * n)), by_k(size(p * n));
  for (int i = 0; i < p; ++i) {
    const double *q = c.rows.data() + i * c.stride, *d = c.by_out.data() + i * c.out_stride;
    double* y = r.out.data() + i * c.out_stride;
    const int seen = c.shape.causal ? i + 1 : p;
    double total = 0.0, mean = 0.0;
    for (int j = 0; j < seen; ++j) {
      const double* k = c.rows.data() + j * c.stride + n;
      total += a[size(j)] = weight(q, k, &by_q[size(j * n)], &by_k[size(j * n)]);
      for (int m = 0; m < n; ++m) y[m] += a[size(j)] * k[n + m];
    }
    for (int m = 0; m < n; ++m) {
      y[m] /= total;
      mean += d[m] * y[m];
    }
    for (int j = 0; j < seen; ++j) {
      const double* v = c.rows.data() + j * c.stride + 2 * n;
      double *by_row = r.by_rows.data() + i * c.stride, *by = r.by_rows.data() + j * c.stride + n, dot = 0.0;
      for (int m = 0; m < n; ++m) dot += d[m] * v[m];
      const double by_a = (dot - mean) / total;
      for (int m = 0; m < n; ++m) {
        by_row[m] += by_a * by_q[size(j * n + m)];
        by[m] += by_a * by_k[size(j * n + m)];
        by[n + m] += a[size(j)] / total * d[m];
      }
    }
  }
  return r;
}

Weight softmax_weight(int n) {
  return [n](const double* q, const double* k, double* by_q, double* by_k) {
    const double root = std::sqrt(static_cast<double>(n));
    double dot = 0.0;
    for (int m = 0; m < n; ++m) dot += q[m] * k[m] / root;
    for (int m = 0; m < n; ++m) {
      by_q[m] = std::exp(dot) * k[m] / root;
      by_k[m] = std::exp(dot) * q[m] / root;
    }
    return std::exp(dot);
  };
}

Weight elu_weight(int n) {
  return [n](const double* q, const double* k, double* by_q, double* by_k) {
    const auto phi = [](double x) { return x > 0 ? x + 1 : std::exp(x); };
    const auto slope = [](double x) { return x > 0 ? 1.0 : std::exp(x); };
    double sum = 0.0;
    for (int m = 0; m < n; ++m) {
      sum += phi(q[m]) * phi(k[m]);
      by_q[m] = slope(q[m]) * phi(k[m]);
      by_k[m] = phi(q[m]) * slope(k[m]);
    }
    return sum;
  };
}

/// Mean over the rows w of e^(w . x - |x|^2 / 2) e^(w . y - |y|^2 / 2), x = q / n^(1/4).
Weight random_weight(int n, const std::vector<double>& w) {
  return [n, w](const double* q, const double* k, double* by_q, double* by_k) {
    const double s = std::pow(n, -0.25);
    const auto rows = w.size() / size(n);
    std::fill(by_q, by_q + n, 0.0), std::fill(by_k, by_k + n, 0.0);
    double sum = 0.0;
    for (std::size_t f = 0; f < rows; ++f) {
      double e = 0.0;
      for (int m = 0; m < n; ++m)
        e += w[f * size(n) + size(m)] * s * (q[m] + k[m]) - 0.5 * s * s * (q[m] * q[m] + k[m] * k[m]);
      const double a = std::exp(e) / static_cast<double>(rows);
      sum += a;
      for (int m = 0; m < n; ++m) {
        by_q[m] += a * s * (w[f * size(n) + size(m)] - s * q[m]);
        by_k[m] += a * s * (w[f * size(n) + size(m)] - s * k[m]);
      }
    }
    return sum;
  };
}

/// Mean over `trials` of the relative error of favor's output, 512 places, entries of deviation 0.25 and values of 1.
double error_of_favor(int width, int features, Draw draw, int trials) {
  double sum = 0.0;
  for (int trial = 0; trial < trials; ++trial) {
    Case<double> c({512, width, false}, 0.25, static_cast<std::uint64_t>(100 + 2 * trial));
    for (int i = 0; i < c.shape.positions; ++i)
      for (int m = 0; m < width; ++m) c.rows[size(i * c.stride + 2 * width + m)] *= 4.0;
    const auto w = random_features(static_cast<std::uint64_t>(7 + trial), 0, features, width, draw);
    const auto values = [&](Type type, std::span<const double> f) {
      const auto attention = make_attention<double>(type, c.shape, f);
      std::vector<double> out(c.by_out.size()), kept(size(attention->kept()));
      attention->forward(c.in(), out.data(), c.out_stride, kept.data());
      return out;
    };
    const auto exact = values(Type::two_pass, {}), said = values(Type::favor, w);
    double error = 0.0, square = 0.0;
    for (std::size_t k = 0; k < exact.size(); ++k) {
      error += std::pow(said[k] - exact[k], 2);
      square += exact[k] * exact[k];
    }
    sum += std::sqrt(error / square);
  }
  return sum / trials;
}

}  // namespace

TEST_CASE("softmax is its quadratic form, and two_pass is softmax, values and derivatives, at any number of blocks") {
  for (const bool causal : {true, false})
    for (const int positions : {1, 2, 127, 128, 129, 300}) {
      const Case<double> c({positions, 6, causal}, 1.5);
      INFO(positions << (causal ? " causal" : ""));
      const auto full = run(Type::softmax, c), blocks = run(Type::two_pass, c);
      const auto plain = quadratic(c, softmax_weight(6));
      CHECK(difference(full.out, plain.out) < 1e-12);
      CHECK(difference(full.by_rows, plain.by_rows) < 1e-12 * std::max(1.0, 0.1 * positions));
      CHECK(difference(blocks.out, full.out) < 1e-12);
      CHECK(difference(blocks.by_rows, full.by_rows) < 1e-12);
    }
}

TEST_CASE("two_pass bears scores beyond the range of the exponential, and keeps no matrix") {
  Case<double> c({200, 4, true}, 60.0);
  const auto full = run(Type::softmax, c), blocks = run(Type::two_pass, c);
  CHECK(std::all_of(blocks.out.begin(), blocks.out.end(), [](double x) { return std::isfinite(x); }));
  CHECK(difference(blocks.out, full.out) < 1e-9);  // rounding of scores of some thousands
  const auto kept = [](Type type, int positions) {
    return make_attention<float>(type, {positions, 16, true}, std::vector<double>(32 * 16))->kept();
  };
  CHECK(kept(Type::softmax, 4096) == 4096 * 4096);
  for (const Type type : {Type::two_pass, Type::linear, Type::favor}) CHECK(kept(type, 4096) == 4096 * 17);
}

TEST_CASE("linear and favor are their quadratic forms, values and derivatives") {
  const int n = 5;
  const auto w = random_features(3, 0, 12, n);
  for (const bool causal : {true, false})
    for (const int positions : {1, 3, 63, 64, 65, 200}) {
      const Case<double> c({positions, n, causal}, 0.8);
      INFO(positions << (causal ? " causal" : ""));
      const auto linear = run(Type::linear, c), favor = run(Type::favor, c, w);
      const auto plain = quadratic(c, elu_weight(n)), random = quadratic(c, random_weight(n, w));
      CHECK(difference(linear.out, plain.out) < 1e-12);
      CHECK(difference(linear.by_rows, plain.by_rows) < 1e-12);
      CHECK(difference(favor.out, random.out) < 1e-12);
      CHECK(difference(favor.by_rows, random.by_rows) < 1e-11);
    }
}

TEST_CASE("in float the types are those of double to single precision") {
  const auto w = random_features(3, 0, 24, 8);
  for (const bool causal : {true, false})
    for (const Type type : {Type::softmax, Type::two_pass, Type::linear, Type::favor}) {
      const HeadShape shape{150, 8, causal};
      const Case<double> c(shape, 0.7);
      const Case<float> f(shape, 0.7);
      const auto features = type == Type::favor ? std::span<const double>(w) : std::span<const double>();
      const auto exact = run(type, c, features);
      const auto rounded = run(type, f, features);
      CHECK(difference(std::vector<double>(rounded.out.begin(), rounded.out.end()), exact.out) < 1e-5);
      CHECK(difference(std::vector<double>(rounded.by_rows.begin(), rounded.by_rows.end()), exact.by_rows) < 1e-4);
    }
}

TEST_CASE("no causal output depends on what comes later, to the last bit") {
  const auto w = random_features(3, 0, 12, 4);
  for (const Type type : {Type::softmax, Type::two_pass, Type::linear, Type::favor}) {
    Case<double> c({150, 4, true}, 1.0);
    const auto features = type == Type::favor ? std::span<const double>(w) : std::span<const double>();
    const auto before = run(type, c, features).out;
    for (std::size_t k = size(100) * size(c.stride); k < c.rows.size(); ++k) c.rows[k] *= 7.0;
    const auto after = run(type, c, features).out;
    const auto at = static_cast<std::ptrdiff_t>(size(100) * size(c.out_stride));
    CHECK(std::equal(before.begin(), before.begin() + at, after.begin()));
    CHECK(!std::equal(before.begin() + at, before.end(), after.begin() + at));
  }
}

TEST_CASE("favor's features share their reference among keys: keys that are far apart keep their weights") {
  const int n = 3;
  const auto w = random_features(9, 0, 8, n);
  Case<double> c({130, n, true}, 0.4);
  for (int i = 40; i < 70; ++i)  // exponents of these keys reach some tens
    for (int m = 0; m < n; ++m) c.rows[size(i * c.stride + n + m)] *= 20.0;
  for (const bool causal : {true, false}) {
    c.shape.causal = causal;
    const auto favor = run(Type::favor, c, w), random = quadratic(c, random_weight(n, w));
    CHECK(difference(favor.out, random.out) < 1e-11);
    CHECK(difference(favor.by_rows, random.by_rows) < 1e-9);
  }
}

TEST_CASE("weights that sum to nothing give finite outputs and derivatives") {
  const auto check = []<class T>(T) {
    Case<T> c({10, 2, false}, 1.0);
    for (auto& x : c.rows) x = T(-800);  // e^x is zero in both types
    const auto r = run(Type::linear, c);
    CHECK(std::all_of(r.out.begin(), r.out.end(), [](T x) { return std::isfinite(x); }));
    CHECK(std::all_of(r.by_rows.begin(), r.by_rows.end(), [](T x) { return std::isfinite(x); }));
  };
  check(1.0);
  check(1.0f);
}

TEST_CASE("random features are normal, orthogonal within a block, and other ones for another seed or block") {
  const int n = 8, m = 20;
  const auto w = random_features(4, 1, m, n);
  const auto dot = [&](int a, int b) {
    double sum = 0.0;
    for (int k = 0; k < n; ++k) sum += w[size(a * n + k)] * w[size(b * n + k)];
    return sum;
  };
  for (int a = 0; a < m; ++a)
    for (int b = 0; b < a; ++b)
      if (a / n == b / n) CHECK(std::abs(dot(a, b)) < 1e-12);
  CHECK(std::abs(dot(0, 9)) > 1e-6);
  CHECK(w == random_features(4, 1, m, n));
  CHECK(w != random_features(5, 1, m, n));
  CHECK(w != random_features(4, 2, m, n));
  // Mean, variance and fourth moment of many numbers: a sign that goes with its column, as LAPACK's QR leaves it,
  // shifts the mean.
  const auto many = random_features(1, 0, 20000, n);
  for (int k = 0; k < n; ++k) {
    double mean = 0.0, square = 0.0, fourth = 0.0;
    for (int row = 0; row < 20000; ++row) {
      const double x = many[size(row * n + k)];
      mean += x / 20000;
      square += x * x / 20000;
      fourth += x * x * x * x / 20000;
    }
    CHECK(std::abs(mean) < 0.03);
    CHECK(square == Approx(1.0).margin(0.04));
    CHECK(fourth == Approx(3.0).margin(0.3));
  }
}

TEST_CASE("positive features estimate the exponential without bias") {
  const int n = 6;
  const auto x = normals(2 * n, 3, 0.7);
  double dot = 0.0;
  for (int k = 0; k < n; ++k) dot += x[size(k)] * x[size(n + k)];
  const double exact = std::exp(dot / std::sqrt(static_cast<double>(n)));
  double sum = 0.0, square = 0.0;
  const int draws = 4000;
  for (int draw = 0; draw < draws; ++draw) {
    const auto w = random_features(static_cast<std::uint64_t>(draw), 0, n, n);
    PositiveFeatures<double> map(n, w);
    std::vector<double> q(size(n)), k(size(n));
    double by_q = 0.0, by_k = 0.0, estimate = 0.0;
    map.map(x.data(), n, 1, Reference::row, q.data(), &by_q);
    map.map(x.data() + n, n, 1, Reference::all, k.data(), &by_k);
    for (int f = 0; f < n; ++f) estimate += q[size(f)] * k[size(f)] * std::exp(by_q + by_k);
    sum += estimate;
    square += estimate * estimate;
  }
  const double mean = sum / draws, error = std::sqrt((square / draws - mean * mean) / draws);
  CHECK(error < 0.02 * exact);
  CHECK(mean == Approx(exact).margin(4.0 * error));
}

// numpy, means over 48 sets of rows of their own (standard errors 1 to 4 %): orthogonal directions by QR with the signs
// of its diagonal taken out, and independent rows.
TEST_CASE(
    "errors of favor are those of numpy, fall as 1 / sqrt(features), and orthogonal draws beat independent ones") {
  struct Row {
    int width;
    Draw draw;
    double at_16, at_64, at_256, at_1024;
  };
  for (const Row& row : {Row{16, Draw::independent, 0.1636, 0.0769, 0.0407, 0.0192},
                         Row{16, Draw::orthogonal, 0.1352, 0.0694, 0.0339, 0.0163},
                         Row{64, Draw::independent, 0.2503, 0.1325, 0.0658, 0.0344},
                         Row{64, Draw::orthogonal, 0.2456, 0.1104, 0.0526, 0.0271}}) {
    INFO(row.width << (row.draw == Draw::orthogonal ? " orthogonal" : " independent"));
    CHECK(error_of_favor(row.width, 16, row.draw, 24) == Approx(row.at_16).epsilon(0.15));
    CHECK(error_of_favor(row.width, 64, row.draw, 24) == Approx(row.at_64).epsilon(0.15));
    const double few = error_of_favor(row.width, 256, row.draw, 24);
    const double many = error_of_favor(row.width, 1024, row.draw, 12);
    CHECK(few == Approx(row.at_256).epsilon(0.15));
    CHECK(many == Approx(row.at_1024).epsilon(0.15));
    CHECK(std::log(few / many) / std::log(4.0) == Approx(0.5).margin(0.12));
  }
  CHECK(error_of_favor(64, 64, Draw::orthogonal, 24) < 0.93 * error_of_favor(64, 64, Draw::independent, 24));
}
