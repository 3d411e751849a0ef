#include "core/train/run/parity_tables.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "core/base/text.hpp"
#include "core/parallel/agree.hpp"
#include "core/train/kinds/parity.hpp"
#include "core/train/run/collect.hpp"

namespace cambium::train {

namespace {

/// Rows by their places, so that the table does not depend on the number of ranks.
void sort_rows(io::ParityQuantity& q) {
  const std::size_t places = q.places.size(), width = q.width();
  std::vector<std::size_t> order(q.rows());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return std::lexicographical_compare(&q.place[a * places], &q.place[(a + 1) * places - 1] + 1, &q.place[b * places],
                                        &q.place[(b + 1) * places - 1] + 1);
  });
  io::ParityQuantity sorted = q;
  for (std::size_t row = 0; row < order.size(); ++row) {
    std::copy_n(&q.place[order[row] * places], places, &sorted.place[row * places]);
    std::copy_n(&q.reference[order[row] * width], width, &sorted.reference[row * width]);
    std::copy_n(&q.predicted[order[row] * width], width, &sorted.predicted[row * width]);
  }
  q = std::move(sorted);
}

}  // namespace

std::vector<std::string> write_parity_tables(Network& network, std::span<const TensorRef> weights, Dataset& data,
                                             std::int64_t batch, const std::string& folder, const Comm& comm) {
  GivesParity* gives = network.traits().parity;
  auto quantities = gives ? gives->parity_quantities() : std::vector<io::ParityQuantity>();
  if (quantities.empty()) return {};
  for (std::int64_t k = comm.rank(); k * batch < data.size(); k += comm.size()) {
    std::vector<std::int64_t> ids(std::min(batch, data.size() - k * batch));
    std::iota(ids.begin(), ids.end(), k * batch);
    gives->add_parity(data.read(ids), weights, quantities);
  }
  for (auto& q : quantities) {
    collect(q.place, comm);
    collect(q.reference, comm);
    collect(q.predicted, comm);
  }
  std::string names;
  io::on_root(comm, [&] {
    for (auto& q : quantities) sort_rows(q);
    names = join(io::write_parity(folder, "parity", quantities), "\n");
  });
  comm.broadcast(names);
  std::vector<std::string> out;
  for (std::size_t at = 0; at < names.size();) {
    const std::size_t end = std::min(names.find('\n', at), names.size());
    out.push_back(names.substr(at, end - at));
    at = end + 1;
  }
  return out;
}

}  // namespace cambium::train
