// Filters against the Kalman filter's formulas written out with dense matrices, and against each other.
#include "core/base/error.hpp"
#include "plugins/assimilate/filters/ensemble_transform.hpp"
#include "plugins/assimilate/filters/gaspari_cohn.hpp"
#include "plugins/assimilate/filters/insertion.hpp"
#include "plugins/assimilate/filters/letkf.hpp"
#include "plugins/assimilate/filters/static_covariance.hpp"
#include "tests/catch.hpp"
#include "tests/plugins/assimilate/line_space.hpp"

using namespace cambium;
using namespace cambium::assimilate;
using namespace cambium::assimilate::test;

namespace {

using Matrix = std::vector<std::vector<double>>;

Matrix product(const Matrix& a, const Matrix& b) {
  Matrix out(a.size(), std::vector<double>(b[0].size(), 0.0));
  for (std::size_t i = 0; i < a.size(); ++i)
    for (std::size_t j = 0; j < b[0].size(); ++j)
      for (std::size_t k = 0; k < b.size(); ++k) out[i][j] += a[i][k] * b[k][j];
  return out;
}

Matrix transposed(const Matrix& a) {
  Matrix out(a[0].size(), std::vector<double>(a.size()));
  for (std::size_t i = 0; i < a.size(); ++i)
    for (std::size_t j = 0; j < a[0].size(); ++j) out[j][i] = a[i][j];
  return out;
}

/// By Gauss and Jordan.
Matrix inverse(Matrix a) {
  const auto n = a.size();
  Matrix out(n, std::vector<double>(n, 0.0));
  for (std::size_t i = 0; i < n; ++i) out[i][i] = 1.0;
  for (std::size_t c = 0; c < n; ++c) {
    std::size_t pivot = c;
    for (std::size_t r = c; r < n; ++r)
      if (std::fabs(a[r][c]) > std::fabs(a[pivot][c])) pivot = r;
    std::swap(a[c], a[pivot]), std::swap(out[c], out[pivot]);
    const double scale = 1.0 / a[c][c];
    for (std::size_t j = 0; j < n; ++j) a[c][j] *= scale, out[c][j] *= scale;
    for (std::size_t r = 0; r < n; ++r) {
      if (r == c) continue;
      const double factor = a[r][c];
      for (std::size_t j = 0; j < n; ++j) a[r][j] -= factor * a[c][j], out[r][j] -= factor * out[c][j];
    }
  }
  return out;
}

Matrix operator_of(const Network& network, std::size_t n) {
  Matrix out(network.size(), std::vector<double>(n, 0.0));
  for (std::size_t i = 0; i < network.size(); ++i)
    for (const auto& [element, weight] : network.list[i].row) out[i][element] += weight;
  return out;
}

/// x + P H^T (H P H^T + R)^-1 (y - H x) and (1 - K H) P.
struct Kalman {
  std::vector<double> mean;
  Matrix covariance;
};
Kalman kalman(const std::vector<double>& mean, const Matrix& p, const Network& network,
              const std::vector<double>& observed) {
  const auto n = mean.size();
  const Matrix h = operator_of(network, n), pht = product(p, transposed(h));
  Matrix s = product(h, pht);
  for (std::size_t i = 0; i < s.size(); ++i) s[i][i] += network.list[i].deviation * network.list[i].deviation;
  const Matrix gain = product(pht, inverse(s)), khp = product(gain, product(h, p));
  Kalman out{mean, p};
  for (std::size_t e = 0; e < n; ++e) {
    for (std::size_t i = 0; i < observed.size(); ++i) {
      double misfit = observed[i];
      for (std::size_t k = 0; k < n; ++k) misfit -= h[i][k] * mean[k];
      out.mean[e] += gain[e][i] * misfit;
    }
    for (std::size_t k = 0; k < n; ++k) out.covariance[e][k] -= khp[e][k];
  }
  return out;
}

struct Ensemble {
  std::size_t members, n;
  std::vector<double> values;  ///< members x n
  std::vector<double> mean() const {
    std::vector<double> out(n, 0.0);
    for (std::size_t m = 0; m < members; ++m)
      for (std::size_t e = 0; e < n; ++e) out[e] += values[m * n + e] / static_cast<double>(members);
    return out;
  }
  Matrix covariance(double factor = 1.0) const {
    const auto centre = mean();
    Matrix out(n, std::vector<double>(n, 0.0));
    for (std::size_t m = 0; m < members; ++m)
      for (std::size_t i = 0; i < n; ++i)
        for (std::size_t j = 0; j < n; ++j)
          out[i][j] += factor * (values[m * n + i] - centre[i]) * (values[m * n + j] - centre[j]) /
                       static_cast<double>(members - 1);
    return out;
  }
  std::vector<double> seen(const Network& network) const {
    std::vector<double> out(members * network.size());
    for (std::size_t m = 0; m < members; ++m)
      network.apply(std::span(values).subspan(m * n, n), std::span(out).subspan(m * network.size(), network.size()));
    return out;
  }
};

Ensemble analysed(Ensemble e, const Network& network, const StateSpace& space, const std::vector<double>& observed,
                  double half_width, double inflation) {
  EnsembleSlice slice{e.members, 1, 0, e.n, e.values};
  analyse(slice, ObservedEnsemble::of(e.seen(network), observed), network, space, half_width, inflation);
  e.values = slice.values;
  return e;
}

Network some_points(const StateSpace& space, double error) {
  NetworkKeys keys;
  keys.positions = {{0.5, 0.0}, {2.0, 0.0}, {3.25, 0.0}};
  keys.error = error;
  return make_network(keys, space, std::vector<double>{1.0});
}

}  // namespace

TEST_CASE("the ensemble transform gives the Kalman filter's mean and covariance of the ensemble's own covariance") {
  const auto space = line(6, false);
  const auto network = some_points(space, 0.7);
  const std::vector<double> observed{0.3, -1.1, 0.8};
  const Ensemble before{9, 6, normals(54, 3)};
  for (const double inflation : {1.0, 1.3}) {
    const auto after = analysed(before, network, space, observed, 0.0, inflation);
    const auto exact = kalman(before.mean(), before.covariance(inflation), network, observed);
    const auto mean = after.mean();
    const auto covariance = after.covariance();
    for (std::size_t i = 0; i < 6; ++i) {
      CHECK(mean[i] == Approx(exact.mean[i]).margin(1e-12));
      for (std::size_t j = 0; j < 6; ++j) CHECK(covariance[i][j] == Approx(exact.covariance[i][j]).margin(1e-12));
    }
  }
}

TEST_CASE("one variable and one observation: the posterior of two normal distributions") {
  const auto space = line(1, false);
  NetworkKeys keys;
  keys.error = 0.5;
  const auto network = make_network(keys, space, std::vector<double>{1.0});
  const Ensemble before{2, 1, {0.0, 2.0}};  // mean 1, variance 2
  const auto after = analysed(before, network, space, {4.0}, 0.0, 1.0);
  CHECK(after.mean()[0] == Approx(1.0 + 2.0 / 2.25 * 3.0));
  CHECK(after.covariance()[0][0] == Approx(2.0 * 0.25 / 2.25));
  CHECK(after.values[1] > after.values[0]);  // the symmetric root keeps the order of members
}

TEST_CASE("LETKF with a wide localisation is ETKF, with a narrow one far places keep their members") {
  const auto space = line(12, false);
  NetworkKeys keys;
  keys.positions = {{1.0, 0.0}};
  keys.error = 0.5;
  const auto network = make_network(keys, space, std::vector<double>{1.0});
  const Ensemble before{5, 12, normals(60, 4)};
  const auto global = analysed(before, network, space, {2.0}, 0.0, 1.1);
  const auto wide = analysed(before, network, space, {2.0}, 1e6, 1.1);
  const auto narrow = analysed(before, network, space, {2.0}, 1.5, 1.0);
  for (std::size_t n = 0; n < 60; ++n) {
    CHECK(wide.values[n] == Approx(global.values[n]).margin(1e-9));
    const std::size_t place = n % 12;
    if (place >= 4) CHECK(narrow.values[n] == Approx(before.values[n]).margin(1e-14));
    if (place < 3) CHECK(std::fabs(narrow.values[n] - before.values[n]) > 1e-6);
  }
  // Where the weight is one the local analysis is the global one.
  const auto near = analysed(before, network, space, {2.0}, 1.5, 1.1);
  for (std::size_t m = 0; m < 5; ++m) CHECK(near.values[m * 12 + 1] == Approx(global.values[m * 12 + 1]).margin(1e-12));
}

TEST_CASE("relaxation takes back its share of the reduction of spread, and leaves the mean") {
  const auto space = line(3, false);
  NetworkKeys keys;
  keys.error = 0.5;
  const auto network = make_network(keys, space, std::vector<double>{1.0});
  const Ensemble before{6, 3, normals(18, 12)};
  const std::vector<double> observed{1.0, -1.0, 0.5};
  EnsembleSlice slice{6, 1, 0, 3, before.values};
  analyse(slice, ObservedEnsemble::of(before.seen(network), observed), network, space, 0.0, 1.0, 0.25);
  const auto plain = analysed(before, network, space, observed, 0.0, 1.0);
  const Ensemble relaxed{6, 3, slice.values};
  for (std::size_t i = 0; i < 3; ++i) {
    const auto spread = [&](const Ensemble& e) { return std::sqrt(e.covariance()[i][i]); };
    CHECK(relaxed.mean()[i] == Approx(plain.mean()[i]).margin(1e-12));
    CHECK(spread(relaxed) == Approx(0.75 * spread(plain) + 0.25 * spread(before)));
  }
}

TEST_CASE("slices of places give the same bits as all places at once") {
  const auto space = line(40, true);
  NetworkKeys keys;
  keys.stride = {3, 1};
  keys.error = 1.0;
  const auto network = make_network(keys, space, std::vector<double>{1.0});
  const Ensemble before{7, 40, normals(280, 5)};
  const auto observed = normals(network.size(), 6);
  const auto whole = analysed(before, network, space, observed, 3.0, 1.05);
  for (const std::size_t cut : {1, 13, 39}) {
    for (const auto& [first, last] : {std::pair<std::size_t, std::size_t>{0, cut}, {cut, 40}}) {
      EnsembleSlice slice{7, 1, first, last, {}};
      for (std::size_t m = 0; m < 7; ++m)
        for (auto p = first; p < last; ++p) slice.values.push_back(before.values[m * 40 + p]);
      analyse(slice, ObservedEnsemble::of(before.seen(network), observed), network, space, 3.0, 1.05);
      for (std::size_t m = 0; m < 7; ++m)
        for (auto p = first; p < last; ++p) REQUIRE(slice.at(m, 0, p) == whole.values[m * 40 + p]);
    }
  }
}

TEST_CASE("the function of Gaspari and Cohn: one, five twenty-fourths, zero, and smooth between") {
  CHECK(gaspari_cohn(0.0, 2.0) == 1.0);
  CHECK(gaspari_cohn(2.0, 2.0) == Approx(5.0 / 24.0));
  CHECK(gaspari_cohn(4.0, 2.0) == 0.0);
  CHECK(gaspari_cohn(-1.0, 2.0) == gaspari_cohn(1.0, 2.0));
  CHECK(gaspari_cohn(17.0, 0.0) == 1.0);
  CHECK(gaspari_cohn(2.0 - 1e-9, 2.0) == Approx(gaspari_cohn(2.0 + 1e-9, 2.0)).epsilon(1e-8));
  CHECK(gaspari_cohn(4.0 - 1e-4, 2.0) < 1e-12);
  for (double r = 0.0; r < 4.0; r += 0.05) CHECK(gaspari_cohn(r, 2.0) >= gaspari_cohn(r + 0.05, 2.0));
}

TEST_CASE("a fixed covariance gives the Kalman filter's mean, localised by the product of Schur") {
  const auto space = line(6, true);
  const auto network = some_points(space, 0.4);
  const std::vector<double> observed{0.3, -1.1, 0.8};
  const Ensemble long_run{30, 6, normals(180, 8)};
  const auto climatology = Climatology::of(long_run.values, 6);
  const auto background = normals(6, 9);
  for (const double half_width : {0.0, 2.0}) {
    Matrix b = long_run.covariance(0.3), h = operator_of(network, 6);
    // Between places of the state and of observations the distance is that of their places.
    Matrix bht = product(b, transposed(h)), s = product(h, bht);
    for (std::size_t i = 0; i < 3; ++i) {
      const double x = network.list[i].x;
      for (std::size_t e = 0; e < 6; ++e) bht[e][i] *= gaspari_cohn(distance(space, space.x[e], 0, x, 0), half_width);
      for (std::size_t j = 0; j < 3; ++j)
        s[j][i] *= gaspari_cohn(distance(space, network.list[j].x, 0, x, 0), half_width);
      s[i][i] += 0.16;
    }
    const Matrix gain = product(bht, inverse(s));
    auto state = background;
    StaticCovariance filter(climatology, network, space, 0.3, half_width);
    filter.analyse(state, observed);
    for (std::size_t e = 0; e < 6; ++e) {
      double expected = background[e];
      for (std::size_t i = 0; i < 3; ++i) {
        double misfit = observed[i];
        for (std::size_t k = 0; k < 6; ++k) misfit -= h[i][k] * background[k];
        expected += gain[e][i] * misfit;
      }
      CHECK(state[e] == Approx(expected).margin(1e-12));
    }
  }
}

TEST_CASE("observations that a fixed covariance cannot tell apart") {
  const auto space = line(2, false);
  NetworkKeys keys;
  keys.error = 1e-200;
  const auto network = make_network(keys, space, std::vector<double>{1.0});
  const auto climatology = Climatology::of({2, 2, -2, -2, 2, 2, -2, -2, 0, 0}, 2);  // both numbers are always the same
  CHECK_THROWS_WITH(StaticCovariance(climatology, network, space, 1.0, 0.0),
                    "the covariance of 2 observations has no Cholesky factor (LAPACK dpotrf: 2); are two observations "
                    "the same, with tiny errors?");
}

TEST_CASE("direct insertion leaves no misfit and changes nothing that is not observed") {
  const auto space = line(8, false);
  const auto network = some_points(space, 1.0);
  const std::vector<double> observed{0.3, -1.1, 0.8};
  auto state = normals(8, 10);
  const auto before = state;
  insert(state, network, observed, space);
  std::vector<double> seen(3);
  network.apply(state, seen);
  for (std::size_t i = 0; i < 3; ++i) CHECK(seen[i] == Approx(observed[i]).margin(1e-13));
  for (const std::size_t e : {5, 6, 7}) CHECK(state[e] == before[e]);
  Network twice = network;
  twice.list.push_back(network.list[0]);
  CHECK_THROWS_WITH(insert(state, twice, std::vector<double>{0.3, -1.1, 0.8, 0.3}, space),
                    "direct insertion: observation 4 repeats others, so that no state has them all; thin out the "
                    "observations");
}

TEST_CASE("nudging moves by the gain times the weighted misfit of the same field") {
  const auto space = staggered(8, 4, false);
  NetworkKeys keys;
  keys.fields = {"b"};
  keys.positions = {{1.0, 0.5}};
  keys.error = 1.0;
  const auto network = make_network(keys, space, std::vector<double>{1.0, 1.0, 1.0});
  std::vector<double> state(space.elements(), 0.0);
  nudge(state, network, std::vector<double>{2.0}, space, 0.25, 0.5);
  for (std::size_t f = 0; f < 3; ++f)
    for (std::size_t i = 0; i < 8; ++i)
      for (std::size_t k = 0; k < 4; ++k) {
        const bool near = f == 2 && distance(space, space.x[i], space.z[k], 1.0, 0.5) < 1.0;
        CHECK(state[(f * 8 + i) * 4 + k] == (near ? 0.5 : 0.0));
      }
}
