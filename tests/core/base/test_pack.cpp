#include <cmath>
#include <limits>
#include <vector>

#include "core/base/pack_math.hpp"
#include "core/numerics/width.hpp"
#include "core/parallel/random.hpp"
#include "tests/catch.hpp"

using namespace cambium;

namespace {

template <class T, int W>
std::vector<T> random_values(double low, double high, std::uint64_t seed) {
  std::vector<T> values(W);
  for (int k = 0; k < W; ++k)
    values[k] = static_cast<T>(low + (high - low) * Random4(seed, Stream::test, k, 0).uniform(0));
  return values;
}

template <class T>
double units(T value, long double exact) {
  const T rounded = std::abs(static_cast<T>(exact));
  const long double unit = std::nextafter(rounded, std::numeric_limits<T>::infinity()) - rounded;
  return static_cast<double>(std::abs(value - exact) / unit);
}

/// Every operation against the same on single numbers.
template <class T, int W>
void check_operations() {
  using P = Pack<T, W>;
  for (std::uint64_t seed = 1; seed < 50; ++seed) {
    const auto a = random_values<T, W>(-2, 2, seed), b = random_values<T, W>(-2, 2, seed + 100),
               c = random_values<T, W>(0.01, 30, seed + 200);
    const P x = P::load(a.data()), y = P::load(b.data()), z = P::load(c.data());
    const auto mask = x < y;
    T total_of_x = 0;
    int set = 0;
    for (int k = 0; k < W; ++k) {
      CHECK((x + y)[k] == a[k] + b[k]);
      CHECK((x - y)[k] == a[k] - b[k]);
      CHECK((x * y)[k] == a[k] * b[k]);
      CHECK((x / y)[k] == a[k] / b[k]);
      CHECK((-x)[k] == -a[k]);
      CHECK(P(a[0])[k] == a[0]);
      CHECK(min(x, y)[k] == std::min(a[k], b[k]));
      CHECK(max(x, y)[k] == std::max(a[k], b[k]));
      CHECK(sqrt(z)[k] == std::sqrt(c[k]));
      CHECK(fma(x, y, z)[k] == Approx(a[k] * b[k] + c[k]).epsilon(1e-5));
      CHECK(reciprocal(z)[k] == T(1) / c[k]);
      CHECK(units(reciprocal_sqrt(z)[k], 1.0L / std::sqrt(static_cast<long double>(c[k]))) <= 1.5);
      CHECK(select(mask, x, z)[k] == (a[k] < b[k] ? a[k] : c[k]));
      CHECK(select(!mask, x, z)[k] == (a[k] < b[k] ? c[k] : a[k]));
      CHECK(select(x > y, x, z)[k] == (a[k] > b[k] ? a[k] : c[k]));
      CHECK(select(mask & (z < P(T(15))), x, z)[k] == (a[k] < b[k] && c[k] < 15 ? a[k] : c[k]));
      CHECK(select(mask | (z < P(T(15))), x, z)[k] == (a[k] < b[k] || c[k] < 15 ? a[k] : c[k]));
      CHECK(keep(mask, x)[k] == (a[k] < b[k] ? a[k] : 0));
      CHECK(select(P::Mask::first(W / 2), x, z)[k] == (k < W / 2 ? a[k] : c[k]));
      total_of_x += a[k];
      set += a[k] < b[k];
    }
    CHECK(sum(x) == Approx(total_of_x).epsilon(1e-5).margin(1e-5));
    CHECK(total(x)[W - 1] == Approx(total_of_x).epsilon(1e-5).margin(1e-5));
    CHECK(total(x)[0] == total(x)[W - 1]);
    CHECK(count(mask) == set);
    CHECK(any(mask) == (set > 0));
    CHECK((mask != !mask));
    CHECK_FALSE((mask != mask));
  }
}

template <class T, int W>
void check_memory() {
  using P = Pack<T, W>;
  std::vector<T> table(4 * 64);
  for (std::size_t k = 0; k < table.size(); ++k) table[k] = static_cast<T>(0.5 * k);
  for (std::uint64_t seed = 1; seed < 50; ++seed) {
    std::vector<int> index(W);
    const auto random = random_values<T, W>(0, 63.99, seed);
    for (int k = 0; k < W; ++k) index[k] = static_cast<int>(random[k]);
    const auto rows = gather_rows<P>(table.data(), index.data());
    const auto a = random_values<T, W>(-1, 1, seed + 7);
    const auto mask = P::load(a.data()) < P(T(0));
    std::vector<T> packed(2 * W, T(99));
    std::vector<double> wide(2 * W);
    std::vector<float> narrow(2 * W);
    std::vector<int> ids(2 * W, 99);
    const int n = compress_store(packed.data(), P::load(a.data()), mask);
    CHECK(compress_store(ids.data(), index.data(), mask) == n);
    int next = 0;
    for (int k = 0; k < W; ++k) {
      CHECK(rows.x[k] == table[4 * index[k]]);
      CHECK(rows.y[k] == table[4 * index[k] + 1]);
      CHECK(rows.z[k] == table[4 * index[k] + 2]);
      CHECK(rows.type[k] == table[4 * index[k] + 3]);
      CHECK(P::load_difference(index.data(), 7)[k] == index[k] - 7);
      CHECK(P::lookup(table.data(), index.data())[k] == table[index[k]]);
      CHECK(P::lookup(table.data(), P::load(random.data()))[k] == table[index[k]]);
      if (!(a[k] < 0)) continue;
      CHECK(packed[next] == a[k]);
      CHECK(ids[next++] == index[k]);
    }
    CHECK(n == next);
    const auto other = P::Mask::differs(index.data(), index[0]);
    CHECK(count(other) == W - std::count(index.begin(), index.end(), index[0]));
    if constexpr (std::is_same_v<T, double>) {
      CHECK(compress_store(narrow.data(), P::load(a.data()), mask) == n);
      for (int k = 0; k < n; ++k) CHECK(narrow[k] == static_cast<float>(packed[k]));
    }
  }
}

template <int W>
double worst_exp(double from, double to) {
  double worst = 0.0;
  const int samples = 200000;
  std::vector<double> in(W);
  for (int s = 0; s < samples; s += W) {
    for (int k = 0; k < W; ++k) in[k] = from + (to - from) * (s + k) / samples;
    const auto e = exp(Pack<double, W>::load(in.data()));
    for (int k = 0; k < W; ++k) worst = std::max(worst, units(e[k], std::exp(static_cast<long double>(in[k]))));
  }
  return worst;
}

}  // namespace

TEST_CASE("packs do what single numbers do") {
  check_operations<double, 1>();
  check_operations<float, 1>();
  check_operations<double, 2>();
  check_operations<double, 4>();
  check_operations<float, 4>();
  check_operations<double, native_width<double>>();
  check_operations<float, native_width<float>>();
}

/// Stands for a device: its memory is not the host's.
struct Elsewhere {
  struct memory_space {};
};

TEST_CASE("the width of packs is that of the execution space, not of the compiler") {
  CHECK(width_of<HostExec, double> == native_width<double>);
  CHECK(width_of<HostExec, float> == native_width<float>);
  CHECK(width_of<Elsewhere, double> == 1);
  CHECK(width_of<Elsewhere, float> == 1);
}

TEST_CASE("packs gather rows and compress") {
  check_memory<double, 1>();
  check_memory<float, 1>();
  check_memory<double, 2>();
  check_memory<double, 4>();
  check_memory<float, 8>();
  check_memory<double, native_width<double>>();
  check_memory<float, native_width<float>>();
}

TEST_CASE("exp of packs is exact to 1.1 units in the last place") {
  constexpr int native = native_width<double>;
  const double ranges[][2] = {{-50, 0}, {-1e-3, 1e-3}, {-700, 700}, {-2, 2}, {0, 709.6}, {-707.9, -600}};
  for (const auto& r : ranges) {
    INFO("range " << r[0] << " to " << r[1]);
    CHECK(worst_exp<native>(r[0], r[1]) < 1.1);
    CHECK(worst_exp<2>(r[0], r[1]) < 1.1);
    CHECK(worst_exp<1>(r[0], r[1]) < 1.1);
  }
  using P = Pack<double, native>;
  CHECK(exp(P(-709.0))[0] == 0.0);
  CHECK(exp(P(-HUGE_VAL))[0] == 0.0);
  CHECK(std::isinf(exp(P(710.0))[0]));
  CHECK(std::isinf(exp(P(HUGE_VAL))[0]));
  CHECK(exp(P(0.0))[0] == 1.0);
}
