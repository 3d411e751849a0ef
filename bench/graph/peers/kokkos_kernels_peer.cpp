#include "core/parallel/kokkos.hpp"

#include <KokkosSparse_CrsMatrix.hpp>
#include <KokkosSparse_spmv.hpp>

#include "bench/graph/peers/peer.hpp"

namespace cambium::graph::peers {

namespace {

template <class T>
class KokkosKernelsProduct : public Product<T> {
 public:
  KokkosKernelsProduct(const Matrix& m, const std::vector<T>& h, std::int64_t width)
      : start_(m.start.begin(), m.start.end()), column_(m.column.begin(), m.column.end()), value_(values_of<T>(m)),
        out_(static_cast<std::size_t>(m.rows * width)),
        a_("a", static_cast<int>(m.rows), static_cast<int>(m.columns), static_cast<std::size_t>(value_.size()),
           typename Sparse::values_type(value_.data(), value_.size()),
           typename Sparse::row_map_type(start_.data(), start_.size()),
           typename Sparse::index_type(column_.data(), column_.size())),
        h_(h.data(), static_cast<std::size_t>(m.columns), static_cast<std::size_t>(width)),
        y_(out_.data(), static_cast<std::size_t>(m.rows), static_cast<std::size_t>(width)) {}
  void run() override {
    KokkosSparse::spmv("N", T(1), a_, h_, T(0), y_);
    Kokkos::fence();
  }
  const T* out() const override { return out_.data(); }

 private:
  using Device = Kokkos::Device<HostExec, Kokkos::HostSpace>;
  using Sparse = KokkosSparse::CrsMatrix<T, int, Device, void, std::size_t>;
  template <class U>
  using Dense = Kokkos::View<U**, Kokkos::LayoutRight, Device, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;
  std::vector<std::size_t> start_;
  std::vector<int> column_;
  std::vector<T> value_, out_;
  Sparse a_;
  Dense<const T> h_;
  Dense<T> y_;
};

}  // namespace

template <class T>
std::unique_ptr<Product<T>> kokkos_kernels_product(const Matrix& m, const std::vector<T>& h, std::int64_t width) {
  return std::make_unique<KokkosKernelsProduct<T>>(m, h, width);
}
template std::unique_ptr<Product<double>> kokkos_kernels_product(const Matrix&, const std::vector<double>&,
                                                                 std::int64_t);
template std::unique_ptr<Product<float>> kokkos_kernels_product(const Matrix&, const std::vector<float>&, std::int64_t);

/// It comes with Kokkos and has the same version.
std::string kokkos_kernels_version() {
  return std::to_string(KOKKOS_VERSION / 10000) + "." + std::to_string(KOKKOS_VERSION / 100 % 100) + "." +
         std::to_string(KOKKOS_VERSION % 100);
}

}  // namespace cambium::graph::peers
