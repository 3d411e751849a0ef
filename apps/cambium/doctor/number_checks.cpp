#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "apps/cambium/doctor/parts.hpp"
#include "core/base/constants.hpp"
#include "core/numerics/gemm.hpp"
#include "core/numerics/real_fft.hpp"
#include "core/numerics/symmetric_eigen.hpp"
#include "core/parallel/random.hpp"

namespace cambium::doctor {

namespace {

/// Entries of which no digit is zero.
double entry(int i, int j) { return std::cos(37.0 * i + 101.0 * j); }

/// Largest difference of a product and its plain loops, over the largest entry.
template <class T>
double product_error(int m, int n, int k) {
  std::vector<T> a(m * k), b(static_cast<std::size_t>(k * n)), c(static_cast<std::size_t>(m * n), T(7));
  for (int i = 0; i < m; ++i)
    for (int l = 0; l < k; ++l) a[i * k + l] = static_cast<T>(entry(i, l));
  for (int l = 0; l < k; ++l)
    for (int j = 0; j < n; ++j) b[l * n + j] = static_cast<T>(entry(l + 3, j));
  host_gemm<T>(false, false, m, n, k, T(1), a.data(), k, b.data(), n, T(0), c.data(), n);
  double worst = 0.0, scale = 0.0;
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < n; ++j) {
      double sum = 0.0;
      for (int l = 0; l < k; ++l) sum += entry(i, l) * entry(l + 3, j);
      worst = std::max(worst, std::abs(sum - static_cast<double>(c[i * n + j])));
      scale = std::max(scale, std::abs(sum));
    }
  return worst / scale;
}

/// For the matrix (-1, 2, -1), whose eigenvalues are 2 - 2 cos(pi k / (n + 1)).
double eigenvalue_error(int n) {
  std::vector<double> a(n * n, 0.0), values(static_cast<std::size_t>(n));
  for (int i = 0; i < n; ++i) {
    a[i * n + i] = 2.0;
    if (i > 0) a[i * n + i - 1] = a[(i - 1) * n + i] = -1.0;
  }
  symmetric_eigenvectors(n, a.data(), values.data());
  double worst = 0.0;
  for (int k = 0; k < n; ++k)
    worst = std::max(worst, std::abs(values[k] - 2.0 + 2.0 * std::cos(constants::pi * (k + 1) / (n + 1))));
  return worst;
}

/// For the transform of cosines, row r with 3 + r waves: n/2 at that wave and nothing elsewhere. By the kernels.
double transform_error(int n, int rows) {
  const RealFft fft(n);
  const View<double**> in("doctor in", static_cast<std::size_t>(rows), static_cast<std::size_t>(n)),
      out("doctor out", static_cast<std::size_t>(rows), static_cast<std::size_t>(2 * fft.modes()));
  const auto host = Kokkos::create_mirror_view(in);
  for (int r = 0; r < rows; ++r)
    for (int j = 0; j < n; ++j) host(r, j) = std::cos(2.0 * constants::pi * (3 + r) * j / n);
  Kokkos::deep_copy(in, host);
  fft.forward(in, 0, out, fft.modes(), rows);
  const auto found = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), out);
  double worst = 0.0;
  for (int r = 0; r < rows; ++r)
    for (int k = 0; k < fft.modes(); ++k)
      worst =
          std::max({worst, std::abs(found(r, k) - (k == 3 + r ? 0.5 * n : 0.0)), std::abs(found(r, fft.modes() + k))});
  return worst;
}

/// True if sums, a ring of 1 MB and a broadcast arrive as they were sent.
bool messages_arrive(const Comm& comm) {
  const int size = comm.size(), next = (comm.rank() + 1) % size, last = (comm.rank() + size - 1) % size;
  bool good = comm.sum(static_cast<double>(comm.rank() + 1)) == 0.5 * size * (size + 1);
  std::vector<double> sent(131072), got(sent.size(), -1.0);
  for (std::size_t k = 0; k < sent.size(); ++k) sent[k] = comm.rank() + 1e-6 * static_cast<double>(k);
  MPI_Sendrecv(sent.data(), static_cast<int>(sent.size()), MPI_DOUBLE, next, 3, got.data(),
               static_cast<int>(got.size()), MPI_DOUBLE, last, 3, comm.handle(), MPI_STATUS_IGNORE);
  for (std::size_t k = 0; k < got.size(); ++k) good = good && got[k] == last + 1e-6 * static_cast<double>(k);
  std::string text = comm.root() ? std::string(100000, 'c') : "";
  comm.broadcast(text);
  return good && text == std::string(100000, 'c');
}

/// The first of the known answers of its authors: counter and key zero.
bool random_numbers_are_known() {
  const Random4 first(0, static_cast<Stream>(0), 0, 0);
  return first.bits[0] == 0x6627e8d5 && first.bits[1] == 0xe169c58d && first.bits[2] == 0xbc57ac4c &&
         first.bits[3] == 0x9b00dbd8;
}

}  // namespace

void check_numbers(Context& context, Findings& findings) {
  const Comm& comm = context.comm;
  const auto worst = [&](double value) { return comm.max(std::isfinite(value) ? value : 1e300); };
  const auto below = [&](const char* what, double found, double bound, const char* text, const char* remedy) {
    const double all = worst(found);
    findings.judge(all < bound, Mark::wrong, what, fmt::format("{} {:.1e}, expected below {:.0e}", text, all, bound),
                   remedy);
  };
  findings.heading("arithmetic and messages, on every rank");
  const bool arrive = comm.min(messages_arrive(comm) ? 1.0 : 0.0) > 0.0;
  findings.judge(arrive, Mark::wrong, "messages",
                 arrive ? "sums, a ring of 1 MB and a broadcast arrive as sent" : "what arrives is not what was sent",
                 "try another transport (Open MPI: OMPI_MCA_pml=ob1; UCX: UCX_TLS=tcp,self,sm), and tell those who run "
                 "the machine");
  const char* blas = "another BLAS, or OPENBLAS_CORETYPE=HASWELL; a CPU with wrong products is broken";
  below("products", product_error<double>(65, 43, 171), 1e-13, "double against plain loops:", blas);
  below("products", product_error<float>(65, 43, 171), 1e-5, "float against plain loops:", blas);
  below("eigenvalues", eigenvalue_error(64), 1e-12, "of a chain against their formula:", blas);
  below("transforms", transform_error(60, 8), 1e-11, "by the kernels, of cosines:",
        "a build for another CPU or device (CAMBIUM_ARCH, Kokkos_ARCH); build on the machine that computes");
  const bool known = comm.min(random_numbers_are_known() ? 1.0 : 0.0) > 0.0;
  findings.judge(known, Mark::wrong, "random numbers",
                 known ? "Philox gives the words its authors give" : "Philox gives other words than its authors give",
                 "the compiler breaks integers of 32 bits: build with another one");
}

}  // namespace cambium::doctor
