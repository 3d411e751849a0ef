#include "core/train/run/parity_tables.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <numeric>

#include "core/parallel/agree.hpp"
#include "core/parallel/gather.hpp"
#include "core/train/kinds/parity.hpp"

namespace cambium::train {

namespace {

/// Sorts rows by their index columns, so the table does not depend on the number of ranks.
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

/// The same for classes.
void sort_rows(ClassPredictions& p) {
  const auto width = static_cast<std::size_t>(p.classes);
  std::vector<std::size_t> order(p.sample.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return p.sample[a] < p.sample[b]; });
  ClassPredictions sorted = p;
  for (std::size_t row = 0; row < order.size(); ++row) {
    sorted.sample[row] = p.sample[order[row]];
    sorted.label[row] = p.label[order[row]];
    std::copy_n(&p.probability[order[row] * width], width, &sorted.probability[row * width]);
  }
  p = std::move(sorted);
}

/// Calls `add` for the blocks of samples assigned to this rank.
template <class Add>
void for_own_blocks(Dataset& data, std::int64_t batch, const Comm& comm, const Add& add) {
  for (std::int64_t k = comm.rank(); k * batch < data.size(); k += comm.size()) {
    std::vector<std::int64_t> ids(std::min(batch, data.size() - k * batch));
    std::iota(ids.begin(), ids.end(), k * batch);
    add(data.read(ids));
  }
}

/// Broadcasts the tables of rank 0.
void share(ErrorTables& tables, const Comm& comm) {
  nlohmann::json json{{"files", tables.files}, {"lines", tables.lines}};
  for (const auto& r : tables.results) json["results"].push_back({r.key, r.label, r.value, r.unit});
  std::string text = json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  comm.broadcast(text);
  if (comm.root()) return;
  json = nlohmann::json::parse(text);
  tables.files = json["files"].get<std::vector<std::string>>();
  tables.lines = json["lines"].get<std::vector<std::string>>();
  for (const auto& r : json.value("results", nlohmann::json::array())) {
    tables.results.push_back(in_table(r[0], r[1], r[2].get<double>()));
    tables.results.back().unit = r[3];
  }
}

void write_numbers(GivesParity& gives, std::span<const TensorRef> weights, Dataset& data, std::int64_t batch,
                   const std::string& folder, const Comm& comm, ErrorTables& out) {
  auto quantities = gives.parity_quantities();
  if (quantities.empty()) return;
  for_own_blocks(data, batch, comm, [&](const auto& samples) { gives.add_parity(samples, weights, quantities); });
  for (auto& q : quantities) {
    q.place = gather(q.place, comm);
    q.reference = gather(q.reference, comm);
    q.predicted = gather(q.predicted, comm);
  }
  io::on_root(comm, [&] {
    for (auto& q : quantities) sort_rows(q);
    auto files = io::write_parity(folder, "parity", quantities);
    out = write_regression_tables(quantities, folder);
    out.files.insert(out.files.begin(), files.begin(), files.end());
  });
}

void write_classes(GivesParity& gives, std::span<const TensorRef> weights, Dataset& data, std::int64_t batch,
                   const std::string& folder, const Comm& comm, ErrorTables& out) {
  constexpr std::int64_t most_classes = 1000, most_probabilities = 20'000'000;
  ClassPredictions all;
  all.classes = gives.parity_classes();
  if (all.classes > most_classes || data.size() > most_probabilities / all.classes) {
    out.lines = {fmt::format("  no tables by class: {} samples of {} classes are too many", data.size(), all.classes)};
    return;
  }
  for_own_blocks(data, batch, comm, [&](const auto& samples) { gives.add_classes(samples, weights, all); });
  all.sample = gather(all.sample, comm);
  all.label = gather(all.label, comm);
  all.probability = gather(all.probability, comm);
  io::on_root(comm, [&] {
    sort_rows(all);
    out = write_class_tables(all, folder);
  });
}

}  // namespace

ErrorTables write_parity_tables(Network& network, std::span<const TensorRef> weights, Dataset& data, std::int64_t batch,
                                const std::string& folder, const Comm& comm) {
  ErrorTables out;
  GivesParity* gives = network.traits().parity;
  if (!gives) return out;
  if (gives->parity_classes() > 0)
    write_classes(*gives, weights, data, batch, folder, comm, out);
  else
    write_numbers(*gives, weights, data, batch, folder, comm, out);
  share(out, comm);
  return out;
}

}  // namespace cambium::train
