// The decomposition against a plain singular value decomposition, on any number of ranks.
#include <cmath>
#include <numeric>

#include "core/io/hdf5/atomic_file.hpp"
#include "core/parallel/random.hpp"
#include "plugins/podlstm/pod/basis.hpp"
#include "plugins/podlstm/pod/field.hpp"
#include "tests/catch.hpp"
#include "tests/plugins/podlstm/stage.hpp"

using namespace cambium;
using namespace cambium::podlstm;

namespace {

constexpr int n_time = 30, n_lat = 7, n_lon = 9, training = 22;

struct Sample {
  std::vector<double> q, lat, lon, time;
};

/// Six planted patterns of falling size and noise; two cells without numbers.
Sample sample() {
  Sample s;
  for (int i = 0; i < n_lat; ++i) s.lat.push_back(-60.0 + 20.0 * i);
  for (int j = 0; j < n_lon; ++j) s.lon.push_back(40.0 * j);
  for (int t = 0; t < n_time; ++t) {
    s.time.push_back(7.0 * t);
    for (int c = 0; c < n_lat * n_lon; ++c) {
      double q = 10.0 + 0.1 * c;
      for (int k = 1; k <= 6; ++k) q += 8.0 / (k * k) * std::sin(0.37 * k * c + k) * std::cos(0.5 * k * t + 2.0 * k);
      q += 0.05 * Random4(3, Stream::test, static_cast<std::uint64_t>(c), static_cast<std::uint64_t>(t)).normal(0);
      s.q.push_back(c == 5 || c == 40 ? std::nan("") : q);
    }
  }
  return s;
}

void write(const std::string& path, const Sample& s, const Comm& comm) {
  if (comm.root())
    io::write_h5_atomically(path, [&](io::File& f) {
      f.write("sst", io::tensor_of(s.q.data(), {n_time, n_lat, n_lon}));
      f.write("lat", s.lat);
      f.write("lon", s.lon);
      f.write("time", s.time).set_attribute("units", "days since 2000-01-01");
    });
  comm.barrier();
}

/// Squared singular values of the weighted training fluctuations, by one-sided Jacobi rotations.
std::vector<double> oracle_energies(const Sample& s, bool weighted) {
  std::vector<std::vector<double>> rows;  // one per snapshot
  for (int t = 0; t < training; ++t) {
    rows.emplace_back();
    for (int c = 0; c < n_lat * n_lon; ++c) {
      if (c == 5 || c == 40) continue;
      double mean = 0.0;
      for (int u = 0; u < training; ++u) mean += s.q[u * n_lat * n_lon + c] / training;
      const double w = weighted ? std::cos(s.lat[c / n_lon] * M_PI / 180.0) : 1.0;
      rows.back().push_back(std::sqrt(w) * (s.q[t * n_lat * n_lon + c] - mean));
    }
  }
  auto dot = [](const auto& a, const auto& b) { return std::inner_product(a.begin(), a.end(), b.begin(), 0.0); };
  for (int sweep = 0; sweep < 30; ++sweep)
    for (std::size_t i = 0; i < rows.size(); ++i)
      for (std::size_t j = i + 1; j < rows.size(); ++j) {
        const double a = dot(rows[i], rows[i]), b = dot(rows[j], rows[j]), c = dot(rows[i], rows[j]);
        if (std::abs(c) < 1e-300) continue;
        const double z = (b - a) / (2.0 * c), t = (z >= 0 ? 1.0 : -1.0) / (std::abs(z) + std::sqrt(1.0 + z * z));
        const double co = 1.0 / std::sqrt(1.0 + t * t), si = co * t;
        for (std::size_t k = 0; k < rows[i].size(); ++k) {
          const double x = rows[i][k], y = rows[j][k];
          rows[i][k] = co * x - si * y;
          rows[j][k] = si * x + co * y;
        }
      }
  std::vector<double> energies;
  for (const auto& r : rows) energies.push_back(dot(r, r));
  std::sort(energies.rbegin(), energies.rend());
  return energies;
}

FieldParams params_of(const std::string& path) {
  FieldParams p;
  p.files = {path};
  p.array = "sst";
  p.missing = Missing::land;
  return p;
}

}  // namespace

TEST_CASE("energies of modes are the squared singular values", "[pod]") {
  Stage stage;
  const Sample s = sample();
  write(stage.file("field.h5"), s, stage.comm);
  for (bool weighted : {false, true})
    for (PodMethod method : {PodMethod::snapshots, PodMethod::randomized})
      for (double buffer : {1e9, 8.0 * n_time * 4}) {  // everything at once; four cells at a time
        Field field(params_of(stage.file("field.h5")), weighted ? AreaWeights::cos_latitude : AreaWeights::none,
                    training, buffer, stage.context);
        const Basis b = compute_basis(field, {5, method, 10, 60, 1e-11}, stage.context);
        const auto expected = oracle_energies(s, weighted);
        for (std::size_t k = 0; k < 5; ++k) CHECK(b.energy[k] == Approx(expected[k]).epsilon(1e-10));
        CHECK(b.total_energy == Approx(std::accumulate(expected.begin(), expected.end(), 0.0)).epsilon(1e-11));
        CHECK(b.orthonormality < 1e-12);
        CHECK(b.cells == n_lat * n_lon - 2);
        CHECK(static_cast<double>(field.largest_block()) <= buffer);
      }
}

TEST_CASE("mean, modes and coefficients give the field back", "[pod]") {
  Stage stage;
  const Sample s = sample();
  write(stage.file("field.h5"), s, stage.comm);
  Field field(params_of(stage.file("field.h5")), AreaWeights::cos_latitude, training, 1e9, stage.context);
  const Basis b = compute_basis(field, {training - 1, PodMethod::snapshots, 10, 60, 1e-11}, stage.context);
  double worst = 0.0, beyond = 0.0;
  for (int t = 0; t < n_time; ++t)
    for (std::int64_t i = 0; i < std::ssize(b.index); ++i) {
      double q = b.mean[i];
      for (std::int64_t k = 0; k < b.modes.rows; ++k) q += b.coefficients(t, k) * b.modes(k, i);
      const double error = std::abs(q - s.q[t * n_lat * n_lon + b.index[i]]);
      (t < training ? worst : beyond) = std::max(t < training ? worst : beyond, error);
    }
  CHECK(stage.comm.max(worst) < 1e-9);   // all training fluctuations are spanned
  CHECK(stage.comm.max(beyond) > 1e-3);  // the others are only projected
  CHECK(b.truncation(0, training) < 1e-6);
}

TEST_CASE("randomized modes equal exact ones", "[pod]") {
  Stage stage;
  write(stage.file("field.h5"), sample(), stage.comm);
  Field field(params_of(stage.file("field.h5")), AreaWeights::none, training, 1e9, stage.context);
  const Basis exact = compute_basis(field, {4, PodMethod::snapshots, 10, 60, 1e-11}, stage.context);
  const Basis random = compute_basis(field, {4, PodMethod::randomized, 6, 60, 1e-11}, stage.context);
  CHECK(random.converged);
  double worst = 0.0;
  for (std::size_t i = 0; i < exact.modes.a.size(); ++i)
    worst = std::max(worst, std::abs(exact.modes.a[i] - random.modes.a[i]));
  CHECK(stage.comm.max(worst) < 1e-8);
}

TEST_CASE("five modes of ERSSTv5", "[pod][data]") {
  const std::string path = anchor_file();
  if (path.empty()) return;
  Stage stage;
  FieldParams p = params_of(path);
  p.array = "ersstv5_monthly/sst";
  p.time = "days_since_1800";
  // together: numpy.linalg.svd of the same 84 months
  const double together[] = {0.8668688, 0.90202993, 0.92796313, 0.94644498, 0.95330909};
  const double weighted[] = {0.86412036, 0.90513619, 0.92914492, 0.94936374, 0.95589607};
  for (PodMethod method : {PodMethod::snapshots, PodMethod::randomized})
    for (bool area : {false, true}) {
      if (method == PodMethod::randomized && area) continue;
      const double buffer =
          method == PodMethod::snapshots ? 1048576.0 : 67108864.0;  // of the 16 MiB that all cells take
      Field field(p, area ? AreaWeights::cos_latitude : AreaWeights::none, 84, buffer, stage.context);
      const Basis b = compute_basis(field, {5, method, 10, 60, 1e-11}, stage.context);
      double sum = 0.0;
      for (std::size_t k = 0; k < 5; ++k) {
        sum += b.energy[k] / b.total_energy;
        CHECK(sum == Approx(area ? weighted[k] : together[k]).margin(1e-7));
      }
      CHECK(b.cells == 10988);
      CHECK(b.orthonormality < 1e-12);
      CHECK(static_cast<double>(field.largest_block()) <= buffer);
      if (!area) CHECK(b.truncation(0, 84) == Approx(0.418).margin(0.0005));
      if (!area) CHECK(b.truncation(84, 128) == Approx(0.508).margin(0.0005));
    }
}
