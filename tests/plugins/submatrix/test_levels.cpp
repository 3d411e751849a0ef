// Learning of mu and band energies: moments, labels, the network's gradient, the search that starts from a prediction,
// and the judgement of block columns.
#include <iostream>
#include <numeric>

#include "core/io/hdf5/h5.hpp"
#include "plugins/submatrix/columns/chemical_potential.hpp"
#include "plugins/submatrix/columns/edges.hpp"
#include "plugins/submatrix/datasets/exact_levels.hpp"
#include "plugins/submatrix/density/dense_density.hpp"
#include "plugins/submatrix/matrices/crystal.hpp"
#include "plugins/submatrix/networks/local_levels.hpp"
#include "plugins/submatrix/potentials/tight_binding.hpp"
#include "tests/catch.hpp"
#include "tests/periodic.hpp"
#include "tests/plugins/md/potential_check.hpp"
#include "tests/plugins/submatrix/samples.hpp"

using namespace cambium;
using namespace cambium::submatrix;
using cambium::submatrix::test::World;

namespace {

CrystalInput diamond(int cells, double displacement) {
  CrystalInput out;
  out.lattice.type = LatticeType::diamond;
  out.lattice.a = 3.556;
  out.lattice.cells = {cells, cells, cells};
  out.lattice.species = {"C"};
  out.lattice.displacement = displacement;
  return out;
}

/// Row-major product of symmetric matrices by the definition.
std::vector<double> product(const std::vector<double>& a, const std::vector<double>& b, std::size_t n) {
  std::vector<double> out(n * n, 0.0);
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t k = 0; k < n; ++k)
      for (std::size_t j = 0; j < n; ++j) out[i * n + j] += a[i * n + k] * b[k * n + j];
  return out;
}

/// A model that knows the answer, but for an error of each level and of each column.
class Oracle : public LevelPredictor {
 public:
  Oracle(const LevelSample& exact, const MatrixSystem& system, double off, double tolerance)
      : exact_(exact), system_(system), off_(off), tolerance_(tolerance) {}
  int krylov_blocks() const override { return 3; }
  double tolerance() const override { return tolerance_; }
  LevelPrediction predict(const std::vector<Spectrum>& local, int functions, const Comm& comm) const override {
    CHECK(functions == 4);
    CHECK(local.size() == system_.hamiltonian.columns().size());
    LevelPrediction out{exact_.homo + off_, exact_.lumo + off_, {}};
    for (int c : system_.hamiltonian.columns()) out.energy.push_back(exact_.energy[c]);
    (void)comm;
    return out;
  }

 private:
  const LevelSample& exact_;
  const MatrixSystem& system_;
  double off_, tolerance_;
};

/// A solver that is wrong in one block column.
class Broken : public ColumnSolver {
 public:
  Broken(std::unique_ptr<ColumnSolver> right, int column, double shift)
      : right_(std::move(right)), column_(column), shift_(shift) {}
  const Spectrum& decompose(const PrincipalIndex& index, const ColumnSet& columns, double eps,
                            const MatrixFunction& f) override {
    spectrum_ = right_->decompose(index, columns, eps, f);
    if (index.column == column_)
      for (double& x : spectrum_.node) x += x < 0.0 ? shift_ : 0.0;
    return spectrum_;
  }
  void column(const MatrixFunction& f, std::vector<double>& out) override { right_->column(f, out); }
  const SolveReport& report() const override { return right_->report(); }

 private:
  std::unique_ptr<ColumnSolver> right_;
  int column_;
  double shift_;
  Spectrum spectrum_;
};

DensityOptions exact_options(const MatrixSystem& system) {
  DensityOptions out;
  out.eps = 0.0;
  out.sample = 0;
  out.orthogonal = true;
  out.electrons = system.electrons;
  out.krylov_tolerance = 1e-8;
  return out;
}

}  // namespace

TEST_CASE("moments are traces of Chebyshev polynomials, exact below twice the Krylov blocks") {
  constexpr int n = 30, width = 3, count = 9;
  auto h = cambium::submatrix::test::random_symmetric(n, 5);
  const Window window{-9.0, 11.0};
  const auto dense = cambium::submatrix::test::dense_eigen(h, n);
  // Oracle: T_k as matrices.
  std::vector<double> x = h, before(h.size(), 0.0), now, wanted;
  for (std::size_t i = 0; i < n; ++i) {
    x[i * n + i] -= 1.0;
    before[i * n + i] = 1.0;
  }
  for (double& v : x) v /= 10.0;
  now = x;
  for (int k = 1; k <= count; ++k) {
    double trace = 0.0;
    for (std::size_t q = 0; q < width; ++q) trace += now[q * n + q];
    wanted.push_back(trace / width);
    auto next = product(x, now, n);
    for (std::size_t i = 0; i < next.size(); ++i) next[i] = 2.0 * next[i] - before[i];
    before = now;
    now = next;
  }
  Spectrum whole{dense.value, std::vector<double>(n, 0.0)};
  for (std::size_t j = 0; j < n; ++j)
    for (std::size_t q = 0; q < width; ++q) whole.weight[j] += dense.vector[q * n + j] * dense.vector[q * n + j];
  std::vector<double> found;
  add_moments(whole, window, width, count, found);
  for (std::size_t k = 0; k < count; ++k) CHECK(found[k] == Approx(wanted[k]).margin(1e-13));

  const auto layout = std::make_shared<const BlockLayout>(std::vector<int>(n / width, width));
  BlockColumns blocks(layout);
  for (int c = 0; c < n / width; ++c) {
    blocks.start_column(c);
    for (int r = 0; r < n / width; ++r) {
      double* block = blocks.add_block(r);
      for (int i = 0; i < width; ++i)
        for (int j = 0; j < width; ++j) block[i * width + j] = h[(r * width + i) * n + c * width + j];
    }
  }
  blocks.finish();
  const World alone(MPI_COMM_SELF);
  std::vector<int> all(n / width);
  std::iota(all.begin(), all.end(), 0);
  std::int64_t bytes = 0;
  const std::vector<double> cost(all.size(), 1.0);
  const ColumnSet set = fetch_columns(blocks, ColumnRanges::balanced(cost, 1), all, WantedRows::all, alone.comm, bytes);
  KrylovOptions few;
  few.first = few.most = 4;
  few.tolerance = 0.0;
  std::vector<double> krylov;
  add_moments(make_lanczos<double>(n / width, few)
                  ->decompose(principal_index(blocks, 0, 0.0), set, 0.0, [](double) { return 0.0; }),
              window, width, count, krylov);
  for (std::size_t k = 0; k < 7; ++k) CHECK(krylov[k] == Approx(wanted[k]).margin(1e-12));
  CHECK(std::abs(krylov[7] - wanted[7]) > 1e-6);  // of order 8: beyond what four blocks know
}

TEST_CASE("the crystal of a task is the crystal of a potential, and its labels add up") {
  const World alone(MPI_COMM_SELF);
  const MatrixSystem system = crystal_matrices(diamond(2, 0.08), 3, 11, alone.comm);
  const DenseLevels levels(system);
  const LevelSample sample = levels.sample({-1.3, 1.0}, 5);
  CHECK(sample.columns == 64);
  CHECK(sample.functions == 4);
  CHECK(std::ssize(sample.moments) == 64 * 5);
  const double energy = std::accumulate(sample.energy.begin(), sample.energy.end(), 0.0);

  cambium::test::World world;
  cambium::test::PotentialCase c;
  c.box = Box::orthogonal(2 * 3.556, 2 * 3.556, 2 * 3.556);
  c.positions.assign(system.centres.begin(), system.centres.end());
  c.species = {{"C", 12.0}};
  TightBinding::Params params;
  auto potential = std::make_unique<TightBinding>(params, world.context);
  potential->bind(c.species);
  const TightBinding* seen = potential.get();
  c.potential = std::move(potential);
  auto s = c.system();
  if (world.comm.size() > 1) return;  // the harness puts all atoms on every rank
  c.evaluate(s, world, {true, false});
  REQUIRE(seen->last());
  CHECK(energy * ev_per_hartree == Approx(seen->last()->energy).epsilon(1e-10));
  CHECK(0.5 * (sample.homo + sample.lumo) * ev_per_hartree == Approx(seen->last()->mu).epsilon(1e-6));
}

TEST_CASE("configurations differ by frame and seed, not by rank, and strain stays within its bounds") {
  const World world, alone(MPI_COMM_SELF);
  CrystalInput input = diamond(2, 0.1);
  input.strain = 0.02;
  const MatrixSystem here = crystal_matrices(input, 5, 7, world.comm),
                     whole = crystal_matrices(input, 5, 7, alone.comm);
  for (int c : here.hamiltonian.columns())
    for (int r : here.hamiltonian.column(c).rows)
      for (int k = 0; k < 16; ++k) CHECK(here.hamiltonian.block(r, c)[k] == whole.hamiltonian.block(r, c)[k]);
  const MatrixSystem frame = crystal_matrices(input, 6, 7, alone.comm),
                     seed = crystal_matrices(input, 5, 8, alone.comm);
  CHECK(frame.centres[3] != whole.centres[3]);
  CHECK(seed.centres[3] != whole.centres[3]);
  input.lattice.displacement = 0.0;
  const auto strained = crystal_matrices(input, 5, 7, alone.comm).centres;
  double largest = 0.0;
  for (const auto& x : strained)
    for (const auto& y : strained) {
      const double r = std::sqrt(std::pow(x[0] - y[0], 2) + std::pow(x[1] - y[1], 2) + std::pow(x[2] - y[2], 2));
      if (r > 1.0 && r < 1.7) largest = std::max(largest, std::abs(r / (3.556 * std::sqrt(3.0) / 4.0) - 1.0));
    }
  CHECK(largest < 3 * 0.02);
  CHECK(largest > 0.002);
}

TEST_CASE("the gradient of local_levels is the slope of its loss") {
  World world;
  LocalLevels::Params params;
  params.layers = {5, 4};
  LocalLevels network(params, world.context);
  network.restore(
      R"({"window": [-1.0, 1.0], "functions": 2, "moment_mean": [0.1, 0.2], "moment_scale": [0.5, 2.0], "mean": [-1.0, -0.3, 0.2], "scale": [0.3, 0.1, 0.2]})");
  std::vector<std::vector<double>> values;
  std::vector<train::SamplePtr> samples;
  values.reserve(100);
  for (std::int64_t columns : {3, 5}) {
    auto sample = std::make_shared<train::Sample>();
    const auto add = [&](const char* name, std::vector<std::int64_t> shape, std::vector<double> numbers) {
      values.push_back(std::move(numbers));
      TensorRef t =
          shape.size() == 2 ? io::tensor_of(values.back().data(), {shape[0], shape[1]}) : io::tensor_of(values.back());
      sample->fields.emplace(name, t);
    };
    std::vector<double> moments, energy;
    for (int k = 0; k < 2 * columns; ++k) moments.push_back(std::sin(3.0 * k + static_cast<double>(columns)));
    for (int k = 0; k < columns; ++k) energy.push_back(-1.0 + 0.2 * std::cos(2.0 * k));
    add("moments", {columns, 2}, moments);
    add("band_energy", {columns}, energy);
    add("levels", {2}, {-0.25, 0.1});
    add("window", {2}, {-1.0, 1.0});
    add("functions", {1}, {2.0});
    samples.push_back(sample);
  }
  std::vector<std::vector<double>> weights, gradients;
  std::vector<TensorRef> w, g;
  for (const auto& p : network.parameters()) {
    std::int64_t n = 1;
    for (auto extent : p.shape) n *= extent;
    weights.emplace_back(static_cast<std::size_t>(n));
    gradients.emplace_back(static_cast<std::size_t>(n), 0.0);
  }
  for (std::size_t k = 0; k < weights.size(); ++k) {
    w.push_back(io::tensor_of(weights[k]));
    g.push_back(io::tensor_of(gradients[k]));
  }
  network.initialise(w, 3);
  const double share[2] = {0.7, 1.9};
  const auto loss = [&] {
    std::vector<train::TermSum> terms(2);
    std::vector<std::vector<double>> unused = gradients;
    std::vector<TensorRef> u;
    for (auto& x : unused) u.push_back(io::tensor_of(x));
    network.gradient(samples, w, share, u, terms, [](int) {});
    return share[0] * terms[0].sum + share[1] * terms[1].sum;
  };
  std::vector<train::TermSum> terms(2);
  network.gradient(samples, w, share, g, terms, [](int) {});
  CHECK(terms[0].count == 2.0);
  for (std::size_t k = 0; k < weights.size(); ++k)
    for (std::size_t i = 0; i < weights[k].size(); ++i) {
      const double at = weights[k][i], step = 1e-5;
      weights[k][i] = at + step;
      const double up = loss();
      weights[k][i] = at - step;
      const double slope = (up - loss()) / (2.0 * step);
      weights[k][i] = at;
      CHECK(gradients[k][i] == Approx(slope).epsilon(1e-6).margin(1e-8));
    }
}

TEST_CASE("a search that starts near the gap finds the same mu in fewer evaluations") {
  const World world;
  std::vector<Spectrum> spectra;
  for (int c = world.comm.rank(); c < 60; c += world.comm.size()) {
    Spectrum s;
    for (int j = 0; j < 40; ++j) {
      const double x = std::sin(1.7 * c + 2.3 * j * j);
      s.node.push_back(x < 0.0 ? x - 0.1 : x + 0.1);
      s.weight.push_back(0.05 + 0.02 * std::cos(c + 3.0 * j));
    }
    spectra.push_back(s);
  }
  for (double kt : {0.0, 0.05}) {
    const ElectronCount blind(spectra, kt, world.comm);
    const double electrons = blind(0.0) + (kt > 0.0 ? 1.3 : 0.0);  // of an even filling any mu inside the gap would do
    const int counted = blind.evaluations();
    const double mu = blind.mu_of(electrons, 0.5);
    const int without = blind.evaluations() - counted;
    for (double off : {0.0, 0.03, -0.2, 5.0}) {
      const ElectronCount guided(spectra, kt, world.comm);
      const ElectronCount::Gap start{-0.1 + off, 0.1 + off};
      CHECK(guided.mu_of(electrons, 0.5, &start) == Approx(mu).margin(1e-12));
      if (world.comm.root())
        std::cout << "kT " << kt << ", prediction off by " << off << ": " << guided.evaluations() << " evaluations, "
                  << without << " without\n";
      if (std::abs(off) < 0.1) CHECK(guided.evaluations() < without);
    }
  }
}

/// Electrons above the gap less holes below it, each by itself, so that nothing is lost.
static long double imbalance(const std::vector<Spectrum>& spectra, const ElectronCount::Gap& gap, long double mu,
                             long double kt, const Comm& comm) {
  long double sum = 0.0L;
  for (const auto& s : spectra)
    for (std::size_t j = 0; j < s.node.size(); ++j) {
      const long double z = (static_cast<long double>(s.node[j]) - mu) / kt, w = s.weight[j];
      if (s.node[j] >= gap.high) sum += w / (1.0L + std::exp(z));
      if (s.node[j] <= gap.low) sum -= w / (1.0L + std::exp(-z));
    }
  double parts[2] = {static_cast<double>(sum), static_cast<double>(sum - static_cast<double>(sum))};
  comm.sum(parts);
  return static_cast<long double>(parts[0]) + parts[1];
}

TEST_CASE("in a gap mu balances electrons and holes, at any temperature") {
  const World world;
  std::vector<Spectrum> spectra;
  for (int c = world.comm.rank(); c < 30; c += world.comm.size()) {
    Spectrum s;
    for (int j = 0; j < 20; ++j) {
      const double x = std::sin(1.7 * c + 2.3 * j * j);
      s.node.push_back(x < 0.0 ? x - 0.15 : 0.4 * x + 0.05);  // states of unequal density, a gap from -0.15 to 0.05
      s.weight.push_back(0.05 + 0.02 * std::cos(c + 3.0 * j));
    }
    spectra.push_back(s);
  }
  const ElectronCount cold(spectra, 0.0, world.comm);
  const double electrons = cold(-0.05), middle = cold.mu_of(electrons, 0.5);
  const auto gap = cold.gap_around_count(electrons, 0.5);
  double before = 1.0;
  for (double kt : {9e-3, 3e-3, 1e-3, 3e-4, 1e-5}) {
    INFO(kt);
    const ElectronCount warm(spectra, kt, world.comm);
    const double mu = warm.fermi_level(electrons, 0.5);
    long double low = mu - 3.0 * kt, high = mu + 3.0 * kt;
    if (kt > 1e-4) {  // beyond, both sides underflow
      for (int k = 0; k < 200; ++k) {
        const long double x = 0.5L * (low + high);
        (imbalance(spectra, gap, x, kt, world.comm) < 0.0L ? low : high) = x;
      }
      CHECK(mu == Approx(static_cast<double>(low)).margin(1e-9 * kt + 1e-14));
    }
    CHECK(std::abs(mu - middle) < before);
    before = std::abs(mu - middle);
  }
  CHECK(before < 1e-4);
}

TEST_CASE(
    "a density matrix that starts from a prediction is the same, and names the column that went wrong, and no other") {
  World world, alone(MPI_COMM_SELF);
  const MatrixSystem system = crystal_matrices(diamond(2, 0.08), 3, 11, world.comm);
  const LevelSample exact = DenseLevels(crystal_matrices(diamond(2, 0.08), 3, 11, alone.comm)).sample({-1.3, 1.0}, 5);
  const auto plain = density_matrix(system, exact_options(system), world.context);
  auto options = exact_options(system);
  options.predictor = std::make_shared<Oracle>(exact, system, 0.004, 1e-3);
  const auto found = density_matrix(system, options, world.context);
  REQUIRE(found.prediction);
  CHECK(found.energy == Approx(plain.energy).epsilon(1e-12));
  CHECK(found.mu == Approx(plain.mu).margin(1e-12));
  CHECK(found.prediction->evaluations < found.prediction->evaluations_without);
  CHECK(found.prediction->suspects.empty());
  CHECK(found.prediction->energy_difference < 1e-6);
  CHECK(found.columns.evaluated_twice <= plain.columns.evaluated_twice + 2);
  const int wrong = 17;
  options.make_solver = [&](const KrylovOptions& krylov) {
    return std::make_unique<Broken>(make_saturated_lanczos(*system.bonds, krylov), wrong, -0.01);
  };
  const auto doctored = density_matrix(system, options, world.context);
  REQUIRE(doctored.prediction->suspects.size() == 1);
  CHECK(doctored.prediction->suspects[0].column == wrong);
  CHECK(doctored.prediction->suspects[0].energy < doctored.prediction->suspects[0].predicted - 1e-3);
}
