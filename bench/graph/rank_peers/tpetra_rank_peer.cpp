#include "core/parallel/kokkos.hpp"

#include <Tpetra_Core.hpp>
#include <Tpetra_CrsMatrix.hpp>
#include <Tpetra_Version.hpp>

#include "bench/graph/rank_peers/rank_peer.hpp"

namespace cambium::graph::rank_peers {

namespace {

using Map = Tpetra::Map<>;
using Local = Map::local_ordinal_type;
using Global = Map::global_ordinal_type;
using Matrix = Tpetra::CrsMatrix<double, Local, Global>;
using Dense = Tpetra::MultiVector<double, Local, Global>;

Teuchos::RCP<const Map> map_of(const Divided& d) {
  return Teuchos::rcp(new Map(static_cast<Tpetra::global_size_t>(d.first.back()), static_cast<std::size_t>(d.own.rows),
                              0, Tpetra::getDefaultComm()));
}

Teuchos::RCP<Matrix> matrix_of(const Divided& d, const Teuchos::RCP<const Map>& map) {
  std::vector<std::size_t> lengths;
  for (std::int64_t i = 0; i < d.own.rows; ++i) lengths.push_back(d.own.length(i));
  auto a = Teuchos::rcp(new Matrix(map, Teuchos::ArrayView<const std::size_t>(lengths)));
  for (std::int64_t i = 0; i < d.own.rows; ++i) {
    const auto columns = d.own.columns_of(i);
    const std::vector<Global> global(columns.begin(), columns.end());
    const auto values = d.own.values_of(i);
    a->insertGlobalValues(map->getGlobalElement(static_cast<Local>(i)), static_cast<Local>(global.size()),
                          values.data(), global.data());
  }
  a->fillComplete();
  return a;
}

class TpetraProduct : public Product {
 public:
  TpetraProduct(const Divided& d, std::int64_t width)
      : width_(width), map_(map_of(d)), a_(matrix_of(d, map_)), h_(map_, static_cast<std::size_t>(width)),
        y_(map_, static_cast<std::size_t>(width)) {
    const std::int64_t first = d.first[d.comm.rank()];
    auto values = h_.getLocalViewHost(Tpetra::Access::OverwriteAll);
    for (std::int64_t k = 0; k < width; ++k)
      for (std::int64_t i = 0; i < d.own.rows; ++i)
        values(static_cast<std::size_t>(i), static_cast<std::size_t>(k)) = number(first + i, k);
  }
  void run() override { a_->apply(h_, y_); }
  double out(std::int64_t i, std::int64_t k) const override {
    return y_.getLocalViewHost(Tpetra::Access::ReadOnly)(static_cast<std::size_t>(i), static_cast<std::size_t>(k));
  }
  std::int64_t words() const override {
    const auto importer = a_->getGraph()->getImporter();
    return importer.is_null() ? 0 : static_cast<std::int64_t>(importer->getNumRemoteIDs()) * width_;
  }

 private:
  std::int64_t width_;
  Teuchos::RCP<const Map> map_;
  Teuchos::RCP<Matrix> a_;
  Dense h_, y_;
};

}  // namespace

std::unique_ptr<Product> tpetra_product(const Divided& a, std::int64_t width) {
  return std::make_unique<TpetraProduct>(a, width);
}

std::string tpetra_version() {
  std::string text = Tpetra::version();
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return text;
}

}  // namespace cambium::graph::rank_peers
