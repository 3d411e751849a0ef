#include "core/pair/pair_table.hpp"

#include <cmath>
#include <random>

#include "core/base/error.hpp"
#include "core/pair/table_rows.hpp"
#include "tests/catch.hpp"

using namespace cambium;

namespace {

/// Morse's well of 0.35 eV at 2.8 Å.
PairTable::Value morse(double r2) {
  const double r = std::sqrt(r2), x = std::exp(1.6 * (2.8 - r));
  return {0.35 * x * (x - 2.0), 2.0 * 0.35 * 1.6 * x * (x - 1.0) / r};
}
PairTable::Value coulomb(double r2) { return {14.4 / std::sqrt(r2), 14.4 / (r2 * std::sqrt(r2))}; }

const std::vector<PairTable::Formula> pairs{morse, coulomb};

PairTableParams wanted(double error, std::optional<double> from = {}) {
  PairTableParams p;
  p.error = error;
  p.from = from;
  return p;
}

/// Energy and force over distance from the rows of a table, pair `p`.
PairTable::Value looked_up(const PairTable& table, int p, double r2) {
  const auto k = table.grid().interval(r2);
  const double begin = table.grid().begin(k), end = table.grid().begin(k + 1);
  const double t = (r2 - begin) / (end - begin) * std::ldexp(1.0, -table.grid().bits);
  const auto cubic = [&](const View<double*>& view) {
    const auto host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), view);
    const double* c = host.data() + 4 * (p * table.intervals() + k);
    return c[0] + t * (c[1] + t * (c[2] + t * c[3]));
  };
  return {cubic(table.energies()), cubic(table.forces())};
}

std::string refusal(double cutoff, const PairTableParams& params) {
  try {
    PairTable table(pairs, cutoff, params);
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("a table keeps the error that is wanted, anywhere between its ends") {
  std::mt19937 generator(5);
  for (const double error : {1e-5, 1e-8, 1e-11}) {
    const PairTable table(pairs, 8.0, wanted(error));
    CHECK(table.from() == Approx(8.0 / 3.0));
    CHECK(table.error() <= error);
    CHECK(table.error() > 0.03 * error);  // no more intervals than it takes: half as many leave 16 times the error
    std::uniform_real_distribution<double> between(table.from() * table.from(), 64.0);
    for (int k = 0; k < 200; ++k)
      for (int p = 0; p < 2; ++p) {
        const double r2 = between(generator), r = std::sqrt(r2);
        const auto exact = pairs[p](r2), found = looked_up(table, p, r2);
        const double force = r * exact.force_over_r;
        // Between the three places where it is measured the error is a little larger.
        CHECK(std::abs(found.energy - exact.energy) < 1.3 * error * std::max(1.0, std::abs(exact.energy)));
        CHECK(std::abs(r * found.force_over_r - force) < 1.3 * error * std::max(1.0, std::abs(force)));
      }
  }
}

TEST_CASE("intervals divide every octave of r^2 alike") {
  const PairTable table(pairs, 8.0, wanted(1e-8, 2.0));
  CHECK(table.intervals() == 4 * (1 << table.grid().bits) + 1);  // from 4 to 64 Å^2
  CHECK(table.grid().begin(0) == 4.0);
  CHECK(table.grid().begin(table.intervals() - 1) == 64.0);
  for (int k = 0; k < table.intervals(); k += 7) {
    CHECK(table.grid().interval(table.grid().begin(k)) == k);
    CHECK(table.grid().interval(std::nextafter(table.grid().begin(k), 0.0)) == k - 1);
  }
}

TEST_CASE("a table says why it cannot be") {
  CHECK(refusal(2.0, wanted(1e-9, 2.5)) ==
        "table: `inner` is 2.5 Å and the cut-off 2 Å; within `inner` the formula is computed, so it must be smaller");
  CHECK(refusal(8.0, wanted(1e-18, 2.0)) ==
        "table: 16385 intervals from 2 to 8 Å are too few for an error of 1.0e-18; give a larger `error`");
}

TEST_CASE("rows of a table in every lane of a pack") {
  using P = Pack<double, native_width<double>>;
  OctaveGrid grid;
  grid.bits = 3;
  grid.first = grid.interval(2.0);
  double table[4 * 64], x[P::width], offset[P::width], out[P::width];
  for (int k = 0; k < 256; ++k) table[k] = std::cos(k);
  for (int shift = 0; shift < 12; ++shift) {
    for (int k = 0; k < P::width; ++k) {
      x[k] = 2.0 + 1.37 * k + 0.11 * shift;
      offset[k] = (k + shift) % 3;
    }
    TableRows<P>(P::load(x), grid, P::load(offset)).cubic(table).store(out);
    for (int k = 0; k < P::width; ++k) {
      const auto row = grid.interval(x[k]);
      const double* c = table + 4 * (row + static_cast<int>(offset[k]));
      const double begin = grid.begin(row), t = (x[k] - begin) / (grid.begin(row + 1) - begin) / 8.0;
      CHECK(out[k] == Approx(c[0] + t * (c[1] + t * (c[2] + t * c[3]))).epsilon(1e-14).margin(1e-14));
    }
  }
  for (int k = 0; k <= P::width; ++k) {
    for (int l = 0; l < P::width; ++l) x[l] = l == k ? 1.0 : 0.0;
    CHECK(some(P(0.5) < P::load(x)) == (k < P::width));
  }
}
