// The C library's header declares most functions without C linkage for C++, so the headers that it includes come first.
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cinttypes>
#include <climits>
#include <cmath>
#include <complex>
extern "C" {
#include <GraphBLAS.h>
}

#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <type_traits>

#include "bench/graph/peers/peer.hpp"

namespace cambium::graph::peers {

namespace {

void require(GrB_Info info, const char* what) {
  if (info != GrB_SUCCESS) throw std::runtime_error(std::string(what) + " returned " + std::to_string(info));
}

/// One thread, rows; once in a process.
void begin() {
  static const bool once = [] {
    require(GrB_init(GrB_NONBLOCKING), "GrB_init");
    require(GxB_Global_Option_set(GxB_GLOBAL_NTHREADS, 1), "GxB_GLOBAL_NTHREADS");
    require(GxB_Global_Option_set(GxB_FORMAT, GxB_BY_ROW), "GxB_FORMAT");
    return true;
  }();
  (void)once;
}

/// Copy from malloc(), since the library frees it.
template <class T>
T* copy_of(const T* from, std::size_t n) {
  auto* out = static_cast<T*>(std::malloc((n > 0 ? n : 1) * sizeof(T)));
  if (!out) throw std::runtime_error("out of memory");
  std::memcpy(out, from, n * sizeof(T));
  return out;
}

/// C += A B into an existing full matrix, which is the library's fastest method (its documentation, GrB_mxm); C is
/// first cleared by an assignment.
template <class T>
class GraphBlas : public Product<T> {
 public:
  GraphBlas(const Matrix& m, const std::vector<T>& h, std::int64_t width)
      : rows_(static_cast<GrB_Index>(m.rows)), width_(static_cast<GrB_Index>(width)) {
    begin();
    const GrB_Type type = std::is_same_v<T, double> ? GrB_FP64 : GrB_FP32;
    const auto columns = static_cast<GrB_Index>(m.columns);
    const std::vector<GrB_Index> wide(m.column.begin(), m.column.end());
    const std::vector<T> value = values_of<T>(m);
    auto* start = reinterpret_cast<GrB_Index*>(copy_of(m.start.data(), m.start.size()));
    GrB_Index* column = copy_of(wide.data(), wide.size());
    void* values = copy_of(value.data(), value.size());
    require(GrB_Matrix_new(&a_, type, rows_, columns), "GrB_Matrix_new");
    require(GxB_Matrix_pack_CSR(a_, &start, &column, &values, m.start.size() * sizeof(GrB_Index),
                                wide.size() * sizeof(GrB_Index), value.size() * sizeof(T), false, false, nullptr),
            "GxB_Matrix_pack_CSR");
    void* dense = copy_of(h.data(), h.size());
    require(GrB_Matrix_new(&h_, type, columns, width_), "GrB_Matrix_new");
    require(GxB_Matrix_pack_FullR(h_, &dense, h.size() * sizeof(T), false, nullptr), "GxB_Matrix_pack_FullR");
    require(GrB_Matrix_new(&c_, type, rows_, width_), "GrB_Matrix_new");
  }
  ~GraphBlas() override {
    for (GrB_Matrix* m : {&a_, &h_, &c_}) GrB_Matrix_free(m);
    std::free(found_);
  }
  void run() override {
    if constexpr (std::is_same_v<T, double>) {
      require(GrB_Matrix_assign_FP64(c_, nullptr, nullptr, 0.0, GrB_ALL, rows_, GrB_ALL, width_, nullptr), "assign");
      require(GrB_mxm(c_, nullptr, GrB_PLUS_FP64, GrB_PLUS_TIMES_SEMIRING_FP64, a_, h_, nullptr), "GrB_mxm");
    } else {
      require(GrB_Matrix_assign_FP32(c_, nullptr, nullptr, 0.0F, GrB_ALL, rows_, GrB_ALL, width_, nullptr), "assign");
      require(GrB_mxm(c_, nullptr, GrB_PLUS_FP32, GrB_PLUS_TIMES_SEMIRING_FP32, a_, h_, nullptr), "GrB_mxm");
    }
    require(GrB_Matrix_wait(c_, GrB_MATERIALIZE), "GrB_Matrix_wait");
  }
  const T* out() const override {
    std::free(found_);
    found_ = nullptr;
    GrB_Index bytes = 0;
    bool same = false;
    GrB_Matrix copy = nullptr;
    require(GrB_Matrix_dup(&copy, c_), "GrB_Matrix_dup");
    const GrB_Info info = GxB_Matrix_unpack_FullR(copy, &found_, &bytes, &same, nullptr);
    GrB_Matrix_free(&copy);
    require(info, "GxB_Matrix_unpack_FullR");
    if (same) throw std::runtime_error("all numbers of the product are equal");
    return static_cast<const T*>(found_);
  }

 private:
  GrB_Matrix a_ = nullptr, h_ = nullptr, c_ = nullptr;
  GrB_Index rows_, width_;
  mutable void* found_ = nullptr;
};

}  // namespace

template <class T>
std::unique_ptr<Product<T>> graphblas_product(const Matrix& m, const std::vector<T>& h, std::int64_t width) {
  return std::make_unique<GraphBlas<T>>(m, h, width);
}
template std::unique_ptr<Product<double>> graphblas_product(const Matrix&, const std::vector<double>&, std::int64_t);
template std::unique_ptr<Product<float>> graphblas_product(const Matrix&, const std::vector<float>&, std::int64_t);

std::string graphblas_version() {
  return std::to_string(GxB_IMPLEMENTATION_MAJOR) + "." + std::to_string(GxB_IMPLEMENTATION_MINOR) + "." +
         std::to_string(GxB_IMPLEMENTATION_SUB);
}

}  // namespace cambium::graph::peers
