#include <rsb-config.h>
#include <rsb.h>

#include <stdexcept>
#include <type_traits>

#include "bench/graph/peers/peer.hpp"

namespace cambium::graph::peers {

namespace {

void require(rsb_err_t error, const char* what) {
  if (error == RSB_ERR_NO_ERROR) return;
  char text[512] = "";
  rsb_strerror_r(error, text, sizeof text);
  throw std::runtime_error(std::string(what) + ": " + text);
}

/// The library's recursive blocks, tuned for this product by its own search.
template <class T>
class Librsb : public Product<T> {
 public:
  Librsb(const Matrix& m, const std::vector<T>& h, std::int64_t width)
      : h_(h), width_(static_cast<rsb_coo_idx_t>(width)), out_(static_cast<std::size_t>(m.rows * width)) {
    static const bool once = (require(rsb_lib_init(RSB_NULL_INIT_OPTIONS), "rsb_lib_init"), true);
    (void)once;
    const std::vector<rsb_coo_idx_t> start(m.start.begin(), m.start.end());
    const std::vector<T> value = values_of<T>(m);
    const rsb_type_t type = std::is_same_v<T, double> ? RSB_NUMERICAL_TYPE_DOUBLE : RSB_NUMERICAL_TYPE_FLOAT;
    rsb_err_t error = RSB_ERR_NO_ERROR;
    a_ = rsb_mtx_alloc_from_csr_const(value.data(), start.data(), m.column.data(),
                                      static_cast<rsb_nnz_idx_t>(value.size()), type,
                                      static_cast<rsb_coo_idx_t>(m.rows), static_cast<rsb_coo_idx_t>(m.columns),
                                      RSB_DEFAULT_ROW_BLOCKING, RSB_DEFAULT_COL_BLOCKING, RSB_FLAG_NOFLAGS, &error);
    require(error, "rsb_mtx_alloc_from_csr_const");
    rsb_int_t threads = 1;
    // Tunes for a second; without an improvement the matrix stays unchanged.
    rsb_tune_spmm(&a_, nullptr, &threads, 1, 1.0, RSB_TRANSPOSITION_N, &one_, nullptr, width_,
                  RSB_FLAG_WANT_ROW_MAJOR_ORDER, h_.data(), width_, &zero_, out_.data(), width_);
  }
  ~Librsb() override { rsb_mtx_free(a_); }
  void run() override {
    require(rsb_spmm(RSB_TRANSPOSITION_N, &one_, a_, width_, RSB_FLAG_WANT_ROW_MAJOR_ORDER, h_.data(), width_, &zero_,
                     out_.data(), width_),
            "rsb_spmm");
  }
  const T* out() const override { return out_.data(); }

 private:
  const std::vector<T>& h_;
  rsb_coo_idx_t width_;
  std::vector<T> out_;
  rsb_mtx_t* a_ = nullptr;
  const T one_ = 1, zero_ = 0;
};

}  // namespace

template <class T>
std::unique_ptr<Product<T>> librsb_product(const Matrix& m, const std::vector<T>& h, std::int64_t width) {
  return std::make_unique<Librsb<T>>(m, h, width);
}
template std::unique_ptr<Product<double>> librsb_product(const Matrix&, const std::vector<double>&, std::int64_t);
template std::unique_ptr<Product<float>> librsb_product(const Matrix&, const std::vector<float>&, std::int64_t);

std::string librsb_version() { return RSB_PACKAGE_VERSION; }

}  // namespace cambium::graph::peers
