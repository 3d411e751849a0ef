// mpirun -np P graph_rank_peers [graphs] [widths] [turns] [mesh_nodes]: products distributed by rows (needed_rows),
// interleaved with PETSc and Tpetra on the same rows of the same ranks. Prints JSON: seconds of the slowest rank,
// median of the turns; values received by the ranks; ratio: the time of the faster reference over ours. Double.
#include <mpi.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

#include "bench/graph/bench_matrices.hpp"
#include "bench/graph/rank_peers/rank_peer.hpp"
#include "core/base/build_info.hpp"
#include "core/base/log.hpp"
#include "core/parallel/comm.hpp"
#include "core/parallel/kokkos.hpp"
#include "core/parallel/start_mpi.hpp"
#include "core/sparse/divided_product.hpp"
#include "plugins/graph/tiles/parts.hpp"

namespace cambium::graph::rank_peers {

namespace {

using Json = nlohmann::json;

class OwnProduct : public Product {
 public:
  OwnProduct(const Divided& d, std::int64_t width)
      : width_(width), product_(sparse::make_product<double>(d.own, d.first, {sparse::Scheme::needed_rows}, d.comm)),
        h_(at(d.own.rows * width)), y_(h_.size()) {
    const std::int64_t first = d.first[d.comm.rank()];
    for (std::int64_t i = 0; i < d.own.rows; ++i)
      for (std::int64_t k = 0; k < width; ++k) h_[at(i * width + k)] = number(first + i, k);
    rows_ = d.own.rows;
    product_->apply(width_, view<const double>(h_), view<double>(y_));
    words_ = product_->words().dense;
  }
  void run() override { product_->apply(width_, view<const double>(h_), view<double>(y_)); }
  double out(std::int64_t i, std::int64_t k) const override { return y_[at(i * width_ + k)]; }
  std::int64_t words() const override { return words_; }

 private:
  template <class T, class Vector>
  sparse::Rows<T> view(Vector& v) {
    return {v.data(), rows_, width_, width_};
  }
  std::int64_t width_, rows_ = 0, words_ = 0;
  std::unique_ptr<sparse::DividedProduct<double>> product_;
  std::vector<double> h_, y_;
};

using Contestants = std::map<std::string, std::unique_ptr<Product>>;

Contestants contestants(const Divided& d, std::int64_t width) {
  Contestants out;
  out["needed_rows"] = std::make_unique<OwnProduct>(d, width);
#ifdef CAMBIUM_PEER_PETSC
  out["petsc"] = petsc_product(d, width);
#endif
#ifdef CAMBIUM_PEER_TPETRA
  out["tpetra"] = tpetra_product(d, width);
#endif
  return out;
}

/// Seconds of one call, those of the slowest rank.
double timed(Product& product, int calls, const Comm& comm) {
  MPI_Barrier(comm.handle());
  const double start = MPI_Wtime();
  for (int k = 0; k < calls; ++k) product.run();
  return comm.max((MPI_Wtime() - start) / calls);
}

double largest_difference(const Product& a, const Product& b, std::int64_t rows, std::int64_t width, const Comm& comm) {
  double worst = 0.0;
  for (std::int64_t i = 0; i < rows; ++i)
    for (std::int64_t k = 0; k < width; k += 5) worst = std::max(worst, std::abs(a.out(i, k) - b.out(i, k)));
  return comm.max(worst);
}

Json measured(const Divided& d, std::int64_t width, int turns) {
  auto all = contestants(d, width);
  std::map<std::string, std::vector<double>> seconds;
  std::map<std::string, int> calls;
  for (auto& [name, product] : all) {
    product->run();
    calls[name] = std::max(1, static_cast<int>(0.1 / timed(*product, 1, d.comm)));
  }
  for (int turn = 0; turn < turns; ++turn)
    for (auto& [name, product] : all) seconds[name].push_back(timed(*product, calls[name], d.comm));
  Json out;
  double best = INFINITY;
  for (auto& [name, product] : all) {
    auto& s = seconds[name];
    std::nth_element(s.begin(), s.begin() + turns / 2, s.end());
    out[name + "_ms"] = 1e3 * s[turns / 2];
    out[name + "_words"] = d.comm.sum(product->words());
    if (name == "needed_rows") continue;
    best = std::min(best, s[turns / 2]);
    out[name + "_difference"] = largest_difference(*all["needed_rows"], *product, d.own.rows, width, d.comm);
  }
  if (std::isfinite(best)) out["ratio"] = 1e3 * best / out["needed_rows_ms"].get<double>();
  return out;
}

std::vector<std::string> words_of(const std::string& text) {
  std::vector<std::string> out;
  std::istringstream in(text);
  for (std::string word; std::getline(in, word, ',');) out.push_back(word);
  return out;
}

Json measure(const std::vector<std::string>& arguments, const Comm& comm) {
  const auto given = [&](std::size_t k, const char* otherwise) {
    return k < arguments.size() ? arguments[k] : std::string(otherwise);
  };
  const char* data = std::getenv("CAMBIUM_DATA");
  Json out{{"ranks", comm.size()}, {"commit", build_info().git_hash}, {"petsc", "not there"}, {"tpetra", "not there"}};
#ifdef CAMBIUM_PEER_PETSC
  out["petsc"] = petsc_version();
#endif
#ifdef CAMBIUM_PEER_TPETRA
  out["tpetra"] = tpetra_version();
#endif
  for (const auto& name : words_of(given(0, "cora,facebook,mesh"))) {
    const BenchMatrix m = bench_matrix(name, data ? data : "", std::stoll(given(3, "1000000")));
    std::vector<double> work;
    for (std::int64_t i = 0; i < m.matrix.rows; ++i) work.push_back(static_cast<double>(m.matrix.length(i)));
    Log log;
    const auto parts = sparse::divided(sparse::neighbours_of(m.matrix), comm.size(), work, log);
    const auto own = sparse::own_rows(sparse::permuted(m.matrix, std::span<const std::int32_t>(parts.order)),
                                      parts.first, comm.rank());
    for (const auto& width : words_of(given(1, "16,64,128"))) {
      auto figures = measured({own, parts.first, comm}, std::stoll(width), std::stoi(given(2, "7")));
      figures["source"] = m.source;
      figures["imbalance"] = sparse::imbalance(parts, work);
      out[name + "_" + width] = figures;
      if (comm.root()) std::cerr << name << " " << width << ": " << figures.dump() << '\n';
    }
  }
  return out;
}

}  // namespace

}  // namespace cambium::graph::rank_peers

int main(int argc, char** argv) {
  using namespace cambium;
  start_mpi(&argc, &argv);
  try {
    Kokkos::ScopeGuard kokkos(argc, argv);
#ifdef CAMBIUM_PEER_PETSC
    graph::rank_peers::start_petsc();
#endif
    {
      const Comm comm;
      const auto out = graph::rank_peers::measure({argv + 1, argv + argc}, comm);
      if (comm.root()) std::cout << out.dump(2) << '\n';
    }
#ifdef CAMBIUM_PEER_PETSC
    graph::rank_peers::end_petsc();
#endif
  } catch (const std::exception& e) {
    std::cerr << "graph_rank_peers: " << e.what() << '\n';
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  MPI_Finalize();
}
