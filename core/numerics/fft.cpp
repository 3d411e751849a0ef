#include "core/numerics/fft.hpp"

#if defined(CAMBIUM_CUFFT)
#include <cufft.h>
#include <fmt/format.h>

#include <map>

#include "core/base/error.hpp"
#endif

namespace cambium {

#if defined(CAMBIUM_CUFFT)
namespace {

void require(cufftResult result, const char* what) {
  if (result != CUFFT_SUCCESS)
    throw InternalError(fmt::format("cuFFT refused {} (its result {})", what, static_cast<int>(result)));
}

class CudaFft : public VendorFft {
 public:
  explicit CudaFft(int n) : n_(n) {}
  ~CudaFft() override {
    for (const auto& [rows, plans] : plans_) {
      cufftDestroy(plans.forward);
      cufftDestroy(plans.backward);
    }
  }
  void forward(const View<const double**>& in, int first, const View<double**>& out, int imaginary, int rows) override;
  void backward(const View<const double**>& in, int imaginary, const View<double**>& out, int first, int rows) override;

  // Public, because nvcc accepts no kernels in private members.
  void gather(const View<const double**>& in, int first, int rows) const;
  void split(const View<double**>& out, int imaginary, int rows) const;
  void join(const View<const double**>& in, int imaginary, int rows) const;
  void scatter(const View<double**>& out, int first, int rows) const;

 private:
  struct Plans {
    cufftHandle forward, backward;
  };
  const Plans& plans(int rows);
  int modes() const { return n_ / 2 + 1; }

  int n_;
  std::map<int, Plans> plans_;   ///< by number of rows
  View<double**> real_;          ///< [row][position]
  View<double** [2]> spectrum_;  ///< [row][mode][part]
};

using Cells = Kokkos::RangePolicy<ExecSpace, Kokkos::IndexType<std::int64_t>>;

void CudaFft::gather(const View<const double**>& in, int first, int rows) const {
  const auto real = real_;
  const std::int64_t n = n_;
  Kokkos::parallel_for(
      "fft: gather", Cells(0, rows * n),
      KOKKOS_LAMBDA(const std::int64_t item) { real(item / n, item % n) = in(item / n, first + item % n); });
}

void CudaFft::split(const View<double**>& out, int imaginary, int rows) const {
  const auto spectrum = spectrum_;
  const std::int64_t n = modes();
  Kokkos::parallel_for(
      "fft: split", Cells(0, rows * n), KOKKOS_LAMBDA(const std::int64_t item) {
        const std::int64_t row = item / n, k = item % n;
        out(row, k) = spectrum(row, k, 0);
        out(row, imaginary + k) = spectrum(row, k, 1);
      });
}

void CudaFft::join(const View<const double**>& in, int imaginary, int rows) const {
  const auto spectrum = spectrum_;
  const std::int64_t n = modes();
  const double scale = 1.0 / n_;
  Kokkos::parallel_for(
      "fft: join", Cells(0, rows * n), KOKKOS_LAMBDA(const std::int64_t item) {
        const std::int64_t row = item / n, k = item % n;
        spectrum(row, k, 0) = scale * in(row, k);
        spectrum(row, k, 1) = k == 0 || k == n - 1 ? 0.0 : scale * in(row, imaginary + k);
      });
}

void CudaFft::scatter(const View<double**>& out, int first, int rows) const {
  const auto real = real_;
  const std::int64_t n = n_;
  Kokkos::parallel_for(
      "fft: scatter", Cells(0, rows * n),
      KOKKOS_LAMBDA(const std::int64_t item) { out(item / n, first + item % n) = real(item / n, item % n); });
}

const CudaFft::Plans& CudaFft::plans(int rows) {
  if (static_cast<int>(real_.extent(0)) < rows) {
    real_ = View<double**>(Kokkos::ViewAllocateWithoutInitializing("fft: rows"), rows, n_);
    spectrum_ = View<double** [2]>(Kokkos::ViewAllocateWithoutInitializing("fft: modes"), rows, modes());
  }
  const auto found = plans_.find(rows);
  if (found != plans_.end()) return found->second;
  Plans made;
  int length = n_;
  require(cufftPlanMany(&made.forward, 1, &length, nullptr, 1, n_, nullptr, 1, modes(), CUFFT_D2Z, rows), "a plan");
  require(cufftPlanMany(&made.backward, 1, &length, nullptr, 1, modes(), nullptr, 1, n_, CUFFT_Z2D, rows), "a plan");
  for (const cufftHandle plan : {made.forward, made.backward})
    require(cufftSetStream(plan, ExecSpace().cuda_stream()), "the stream of the kernels");
  return plans_.emplace(rows, made).first->second;
}

void CudaFft::forward(const View<const double**>& in, int first, const View<double**>& out, int imaginary, int rows) {
  const Plans& planned = plans(rows);
  gather(in, first, rows);
  require(cufftExecD2Z(planned.forward, real_.data(), reinterpret_cast<cufftDoubleComplex*>(spectrum_.data())),
          "a transform");
  split(out, imaginary, rows);
}

void CudaFft::backward(const View<const double**>& in, int imaginary, const View<double**>& out, int first, int rows) {
  const Plans& planned = plans(rows);
  join(in, imaginary, rows);
  require(cufftExecZ2D(planned.backward, reinterpret_cast<cufftDoubleComplex*>(spectrum_.data()), real_.data()),
          "a transform");
  scatter(out, first, rows);
}

}  // namespace

std::unique_ptr<VendorFft> make_vendor_fft(int n) { return std::make_unique<CudaFft>(n); }
#else
std::unique_ptr<VendorFft> make_vendor_fft(int) { return nullptr; }
#endif

}  // namespace cambium
