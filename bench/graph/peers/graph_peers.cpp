// Answers one line for each line it reads:
//   names                             name=version, with commas between
//   load STEM ROWS COLUMNS ENTRIES    the matrix: STEM.start (int64), STEM.column (int32), STEM.value (float64)
//   prepare NAME WIDTH f64|f32        ok and the product brought to one number, or why not
//   run NAME CALLS                    seconds of one call
#include <chrono>
#include <fstream>
#include <functional>
#include <iomanip>
#include <iostream>
#include <map>
#include <sstream>
#include <stdexcept>

#include "bench/graph/peers/peer.hpp"
#include "core/parallel/kokkos.hpp"

namespace cambium::graph::peers {

namespace {

template <class T>
using Make = std::function<std::unique_ptr<Product<T>>(const Matrix&, const std::vector<T>&, std::int64_t)>;

struct Kind {
  std::string version;
  Make<double> in_double;
  Make<float> in_float;
};

std::map<std::string, Kind> kinds() {
  std::map<std::string, Kind> out;
#ifdef CAMBIUM_PEER_GRAPHBLAS
  out["graphblas"] = {graphblas_version(), graphblas_product<double>, graphblas_product<float>};
#endif
#ifdef CAMBIUM_PEER_LIBRSB
  out["librsb"] = {librsb_version(), librsb_product<double>, librsb_product<float>};
#endif
#ifdef CAMBIUM_PEER_KOKKOS_KERNELS
  out["kokkos_kernels"] = {kokkos_kernels_version(), kokkos_kernels_product<double>, kokkos_kernels_product<float>};
#endif
  return out;
}

template <class T>
std::vector<T> raw(const std::string& path, std::int64_t count) {
  std::vector<T> out(count);
  std::ifstream file(path, std::ios::binary);
  file.read(reinterpret_cast<char*>(out.data()), static_cast<std::streamsize>(out.size() * sizeof(T)));
  if (!file) throw std::runtime_error("cannot read " + path);
  return out;
}

/// All products of one width and type, with a common dense factor.
template <class T>
struct Prepared {
  std::int64_t width = 0;
  std::vector<T> h;
  std::map<std::string, std::unique_ptr<Product<T>>> products;

  void clear() { width = 0, products.clear(), std::vector<T>().swap(h); }

  /// The product brought to one number, as the bench does it.
  double prepare(const std::string& name, const Make<T>& make, const Matrix& m, std::int64_t wanted) {
    if (wanted != width) {
      clear();
      width = wanted;
      h.resize(m.columns * width);
      for (std::int64_t i = 0; i < m.columns; ++i)
        for (std::int64_t k = 0; k < width; ++k)
          h[i * width + k] = static_cast<T>(static_cast<double>((i * 37 + k * 101) % 1009) / 1009.0 - 0.5);
    }
    auto& product = products[name] = make(m, h, width);
    product->run();
    const T* const out = product->out();
    double sum = 0.0;
    for (std::int64_t i = 0; i < m.rows; ++i)
      for (std::int64_t k = 0; k < width; ++k)
        sum += static_cast<double>(i * 31 % 17 - 8) / 8.0 * (static_cast<double>(k * 13 % 7 - 3) / 3.0) *
               static_cast<double>(out[i * width + k]);
    return sum;
  }
};

class Server {
 public:
  std::string answer(const std::string& line) {
    std::istringstream words(line);
    std::string verb, name, type;
    words >> verb >> name;
    if (verb == "names") return names();
    if (verb == "load") return load(name, words);
    if (verb == "run") {
      int calls = 1;
      words >> calls;
      return shown(seconds(name, calls));
    }
    std::int64_t width = 0;
    words >> width >> type;
    const Kind& kind = kinds_.at(name);
    if (type == "f64") return floats_.clear(), "ok " + shown(doubles_.prepare(name, kind.in_double, matrix_, width));
    return doubles_.clear(), "ok " + shown(floats_.prepare(name, kind.in_float, matrix_, width));
  }

 private:
  static std::string shown(double x) {
    std::ostringstream out;
    out << std::setprecision(17) << x;
    return out.str();
  }
  std::string names() const {
    std::string out;
    for (const auto& [name, kind] : kinds_) out += (out.empty() ? "" : ",") + name + "=" + kind.version;
    return out;
  }
  std::string load(const std::string& stem, std::istringstream& words) {
    std::int64_t entries = 0;
    doubles_.clear();
    floats_.clear();
    words >> matrix_.rows >> matrix_.columns >> entries;
    matrix_.start = raw<std::int64_t>(stem + ".start", matrix_.rows + 1);
    matrix_.column = raw<std::int32_t>(stem + ".column", entries);
    matrix_.value = raw<double>(stem + ".value", entries);
    return "ok";
  }
  double seconds(const std::string& name, int calls) {
    const auto start = std::chrono::steady_clock::now();
    for (int c = 0; c < calls; ++c)
      if (doubles_.width > 0)
        doubles_.products.at(name)->run();
      else
        floats_.products.at(name)->run();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() / calls;
  }

  std::map<std::string, Kind> kinds_ = kinds();
  Matrix matrix_;
  Prepared<double> doubles_;
  Prepared<float> floats_;
};

}  // namespace

}  // namespace cambium::graph::peers

int main(int argc, char** argv) {
  const Kokkos::ScopeGuard kokkos(argc, argv);
  cambium::graph::peers::Server server;
  for (std::string line; std::getline(std::cin, line);) {
    try {
      std::cout << server.answer(line) << std::endl;
    } catch (const std::exception& error) {
      std::cout << "no, " << error.what() << std::endl;
    }
  }
}
