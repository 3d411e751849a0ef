#include <algorithm>
#include <cmath>
#include <complex>

#include "core/base/constants.hpp"
#include "core/base/error.hpp"
#include "core/numerics/gemm.hpp"
#include "core/numerics/symmetric_eigen.hpp"
#include "plugins/submatrix/dftb/bands.hpp"

extern "C" {
void zhegvd_(const int* type, const char* job, const char* uplo, const int* n, std::complex<double>* a, const int* lda,
             std::complex<double>* b, const int* ldb, double* w, std::complex<double>* work, const int* lwork,
             double* rwork, const int* lrwork, int* iwork, const int* liwork, int* info);
}

namespace cambium::submatrix {

namespace {

/// Rows of `a` become eigenvectors, as those of generalised_eigenvectors(). False when B has no Cholesky factor.
bool hermitian_eigenvectors(int n, std::complex<double>* a, std::complex<double>* b, double* values) {
  const auto m = static_cast<std::size_t>(n);
  std::vector<std::complex<double>> work(2 * m + m * m);
  std::vector<double> real(1 + 5 * m + 2 * m * m);
  std::vector<int> integers(3 + 5 * m);
  const int type = 1, size = static_cast<int>(work.size()), reals = static_cast<int>(real.size()),
            count = static_cast<int>(integers.size());
  int info = 0;
  zhegvd_(&type, "V", "L", &n, a, &n, b, &n, values, work.data(), &size, real.data(), &reals, integers.data(), &count,
          &info);
  return info == 0;
}

class DenseSolver : public BandSolver {
 public:
  DenseSolver(const DftbIntegrals& integrals, std::vector<KPoint> points, const ElectronNumbers& electrons,
              const FillingKeys& filling, const Comm& comm)
      : integrals_(integrals), points_(std::move(points)), electrons_(electrons), filling_(filling), comm_(comm) {}

  Bands solve(const ChannelPotentials& potential, bool weighted) override;

 private:
  /// States of one channel at one k-point: rows are eigenvectors, of real and of imaginary parts (empty where all are
  /// real).
  struct States {
    std::size_t channel, point;
    std::vector<double> real, imaginary, level;
  };
  bool shared() const { return points_.size() == 1; }
  bool mine(std::size_t channel, std::size_t point) const {
    const std::size_t place = channel * points_.size() + point;
    return shared() || static_cast<int>(place % static_cast<std::size_t>(comm_.size())) == comm_.rank();
  }
  std::complex<double> phase(const KPoint& point, const std::array<int, 3>& image) const;
  States states(std::size_t channel, std::size_t point, const std::vector<double>& potential) const;
  void solve_real(States& states, const std::vector<double>& potential) const;
  void solve_complex(States& states, const std::vector<double>& potential) const;
  template <class Scalar>
  void assemble(const KPoint& point, const std::vector<double>& potential, std::vector<Scalar>& h,
                std::vector<Scalar>& s) const;
  void add_density(const States& states, const double* factor, std::vector<double>& out) const;
  void diagonalise(const ChannelPotentials& potential);
  [[noreturn]] void refuse_overlap() const;

  const DftbIntegrals& integrals_;
  std::vector<KPoint> points_;
  ElectronNumbers electrons_;
  FillingKeys filling_;
  const Comm& comm_;
  ChannelPotentials solved_for_;
  std::vector<double> level_;
  std::vector<States> own_;
};

void DenseSolver::refuse_overlap() const {
  throw NumericalError(
      "dftb: the overlap of the functions is not positive definite: atoms are too close for this parameter set, or the "
      "cell is too small for its k-points");
}

std::complex<double> DenseSolver::phase(const KPoint& point, const std::array<int, 3>& image) const {
  double turns = 0.0;
  for (std::size_t c = 0; c < 3; ++c) turns += point.k[c] * image[c];
  turns -= std::round(turns);
  return std::polar(1.0, 2.0 * constants::pi * turns);
}

template <class Scalar>
void DenseSolver::assemble(const KPoint& point, const std::vector<double>& potential, std::vector<Scalar>& h,
                           std::vector<Scalar>& s) const {
  const auto n = static_cast<std::size_t>(integrals_.dimension());
  h.assign(n * n, Scalar(0));
  s.assign(n * n, Scalar(0));
  for (std::size_t a = 0; a < integrals_.functions.size(); ++a)
    for (auto e = integrals_.pairs.first[a]; e < integrals_.pairs.first[a + 1]; ++e) {
      const auto& pair = integrals_.pairs.pair[e];
      Scalar turn;
      if constexpr (std::is_same_v<Scalar, double>)
        turn = phase(point, pair.image).real();
      else
        turn = phase(point, pair.image);
      const double *own = &potential[most_shells * a],
                   *other = &potential[most_shells * static_cast<std::size_t>(pair.other)];
      const auto columns = static_cast<std::size_t>(integrals_.functions[pair.other]);
      for (std::size_t i = 0; i < static_cast<std::size_t>(integrals_.functions[a]); ++i)
        for (std::size_t j = 0; j < columns; ++j) {
          const std::size_t from = static_cast<std::size_t>(integrals_.offset[e]) + i * columns + j;
          // LAPACK's columns are rows here: the transpose.
          const std::size_t to = (static_cast<std::size_t>(integrals_.first_function[pair.other]) + j) * n +
                                 static_cast<std::size_t>(integrals_.first_function[a]) + i;
          const double v = 0.5 * (own[shell_of(static_cast<int>(i))] + other[shell_of(static_cast<int>(j))]);
          h[to] += turn * (integrals_.h[from] + v * integrals_.s[from]);
          s[to] += turn * integrals_.s[from];
        }
    }
}

void DenseSolver::solve_real(States& states, const std::vector<double>& potential) const {
  std::vector<double> s;
  assemble(points_[states.point], potential, states.real, s);
  const int n = integrals_.dimension();
  if (!generalised_eigenvectors(n, n, states.real.data(), s.data(), states.level.data())) refuse_overlap();
}

void DenseSolver::solve_complex(States& states, const std::vector<double>& potential) const {
  std::vector<std::complex<double>> h, s;
  assemble(points_[states.point], potential, h, s);
  if (!hermitian_eigenvectors(integrals_.dimension(), h.data(), s.data(), states.level.data())) refuse_overlap();
  for (const auto& c : h) {
    states.real.push_back(c.real());
    states.imaginary.push_back(c.imag());
  }
}

DenseSolver::States DenseSolver::states(std::size_t channel, std::size_t point,
                                        const std::vector<double>& potential) const {
  States out{channel, point, {}, {}, std::vector<double>(static_cast<std::size_t>(integrals_.dimension()))};
  const auto& k = points_[point].k;
  // At such points all phases are 1 or -1.
  if (std::all_of(k.begin(), k.end(), [](double c) { return 2.0 * c == std::round(2.0 * c); }))
    solve_real(out, potential);
  else
    solve_complex(out, potential);
  return out;
}

/// Adds sum_n factor_n Re(e^{i k R} conj(c_na) c_nb) to the blocks of pairs: of own atoms where every rank has the same
/// states, else of all.
void DenseSolver::add_density(const States& states, const double* factor, std::vector<double>& out) const {
  const int n = integrals_.dimension(), rank = comm_.rank();
  const int atom_begin = shared() ? integrals_.ranges.begin(rank) : 0,
            atom_end = shared() ? integrals_.ranges.end(rank) : static_cast<int>(integrals_.functions.size());
  const int first = integrals_.first_function[atom_begin], rows = integrals_.first_function[atom_end] - first;
  if (rows == 0) return;
  const auto size = static_cast<std::size_t>(n);
  const auto product = [&](const std::vector<double>& left, const std::vector<double>& right, double sign, double beta,
                           std::vector<double>& to) {
    std::vector<double> scaled(left);
    for (std::size_t k = 0; k < size; ++k)
      for (std::size_t i = 0; i < size; ++i) scaled[k * size + i] *= factor[k];
    host_gemm(true, false, rows, n, n, sign, scaled.data() + first, n, right.data(), n, beta, to.data(), n);
  };
  std::vector<double> re(static_cast<std::size_t>(rows) * size), im;
  product(states.real, states.real, 1.0, 0.0, re);
  if (!states.imaginary.empty()) {
    im.resize(re.size());
    product(states.imaginary, states.imaginary, 1.0, 1.0, re);
    product(states.real, states.imaginary, 1.0, 0.0, im);
    product(states.imaginary, states.real, -1.0, 1.0, im);
  }
  for (int a = atom_begin; a < atom_end; ++a)
    for (auto e = integrals_.pairs.first[a]; e < integrals_.pairs.first[a + 1]; ++e) {
      const auto& pair = integrals_.pairs.pair[e];
      const auto turn = phase(points_[states.point], pair.image);
      const int columns = integrals_.functions[pair.other];
      for (int i = 0; i < integrals_.functions[a]; ++i)
        for (int j = 0; j < columns; ++j) {
          const auto at = static_cast<std::size_t>(integrals_.first_function[a] - first + i) * size +
                          static_cast<std::size_t>(integrals_.first_function[pair.other] + j);
          out[static_cast<std::size_t>(integrals_.offset[e] + i * columns + j)] +=
              turn.real() * re[at] - (im.empty() ? 0.0 : turn.imag() * im[at]);
        }
    }
}

/// Levels of all channels and k-points, and states of those of this rank. What was solved last is kept.
void DenseSolver::diagonalise(const ChannelPotentials& potential) {
  if (potential == solved_for_) return;
  const auto n = static_cast<std::size_t>(integrals_.dimension());
  own_.clear();
  level_.assign(potential.size() * points_.size() * n, 0.0);
  for (std::size_t c = 0; c < potential.size(); ++c)
    for (std::size_t p = 0; p < points_.size(); ++p) {
      if (!mine(c, p)) continue;
      own_.push_back(states(c, p, potential[c]));
      std::copy(own_.back().level.begin(), own_.back().level.end(),
                level_.begin() + static_cast<std::ptrdiff_t>((c * points_.size() + p) * n));
    }
  if (!shared()) comm_.sum(level_);
  solved_for_ = potential;
}

Bands DenseSolver::solve(const ChannelPotentials& potential, bool weighted) {
  diagonalise(potential);
  const auto n = static_cast<std::size_t>(integrals_.dimension());
  std::vector<double> weights, factor(n);
  for (const KPoint& point : points_) weights.push_back(point.weight);
  const Occupied filled = fill(level_, weights, electrons_, filling_);
  Bands out;
  out.mu = filled.mu;
  out.mu_down = filled.mu_down;
  out.electrons = filled.electrons;
  out.band_energy = filled.band_energy;
  out.entropy_term = filled.entropy_term;
  out.homo = filled.homo;
  out.lumo = filled.lumo;
  out.density.assign(potential.size(), std::vector<double>(integrals_.h.size(), 0.0));
  if (weighted) out.weighted.assign(integrals_.h.size(), 0.0);
  for (const States& states : own_) {
    const std::size_t first = (states.channel * points_.size() + states.point) * n;
    for (std::size_t k = 0; k < n; ++k)
      factor[k] = electrons_.per_state() * weights[states.point] * filled.f[first + k];
    add_density(states, factor.data(), out.density[states.channel]);
    if (!weighted) continue;
    for (std::size_t k = 0; k < n; ++k) factor[k] *= states.level[k];
    add_density(states, factor.data(), out.weighted);
  }
  if (!shared()) {
    for (auto& density : out.density) comm_.sum(density);
    comm_.sum(out.weighted);
  }
  return out;
}

}  // namespace

std::unique_ptr<BandSolver> make_dense_solver(const DftbIntegrals& integrals, std::vector<KPoint> points,
                                              const ElectronNumbers& electrons, const FillingKeys& filling,
                                              const Comm& comm) {
  return std::make_unique<DenseSolver>(integrals, std::move(points), electrons, filling, comm);
}

}  // namespace cambium::submatrix
