#include "bench/relate/dense_tables.hpp"

#include <algorithm>

#include "core/train/tables/row_rule.hpp"

namespace cambium::relate {

void plain_sums(const train::Bags& bags, std::span<const float> rows, std::int64_t width, std::vector<float>& sums) {
  sums.assign(bags.size() * width, 0.0f);
  for (std::int64_t b = 0; b < bags.size(); ++b) {
    float* to = sums.data() + b * width;
    const auto at = static_cast<std::size_t>(b);
    for (auto k = bags.first[at]; k < bags.first[at + 1]; ++k) {
      const float* from = rows.data() + bags.ids[k] * width;
      for (std::int64_t i = 0; i < width; ++i) to[i] += from[i];
    }
  }
}

DenseTables::DenseTables(std::span<const train::TableInfo> tables, std::vector<std::vector<float>> rows,
                         const train::TableKeys& keys, const Comm& comm)
    : keys_(keys), comm_(comm), tables_(tables.size()) {
  for (std::size_t t = 0; t < tables.size(); ++t) {
    Table& table = tables_[t];
    table.width = tables[t].width;
    table.weights = std::move(rows[t]);
    table.gradients.assign(table.weights.size(), 0.0f);
    table.states.assign(tables[t].rows * train::state_width(keys.optimizer, tables[t].width), 0.0f);
  }
}

void DenseTables::take(std::vector<train::Bags> bags) {
  for (std::size_t t = 0; t < tables_.size(); ++t) {
    Table& table = tables_[t];
    table.bags = std::move(bags[t]);
    plain_sums(table.bags, table.weights, table.width, table.pooled);
    table.by_pooled.assign(table.pooled.size(), 0.0f);
  }
}

TensorRef DenseTables::view(std::vector<float>& values, const Table& table) const {
  TensorRef out;
  out.data = values.data();
  out.rank = 2;
  out.dtype = DType::f32;
  out.shape[0] = table.bags.size();
  out.shape[1] = table.width;
  out.stride[0] = table.width;
  out.stride[1] = 1;
  return out;
}

TensorRef DenseTables::pooled(int table) {
  Table& t = tables_[table];
  return view(t.pooled, t);
}

TensorRef DenseTables::gradient(int table) {
  Table& t = tables_[table];
  return view(t.by_pooled, t);
}

void DenseTables::step(double factor, double rate) {
  for (Table& t : tables_) {
    std::fill(t.gradients.begin(), t.gradients.end(), 0.0f);
    for (std::int64_t b = 0; b < t.bags.size(); ++b)
      for (auto k = t.bags.first[b]; k < t.bags.first[static_cast<std::size_t>(b) + 1]; ++k) {
        float* to = t.gradients.data() + t.bags.ids[k] * t.width;
        const float* from = t.by_pooled.data() + b * t.width;
        for (std::int64_t i = 0; i < t.width; ++i) to[i] += static_cast<float>(factor) * from[i];
      }
    if (comm_.size() > 1)
      MPI_Allreduce(MPI_IN_PLACE, t.gradients.data(), static_cast<int>(t.gradients.size()), MPI_FLOAT, MPI_SUM,
                    comm_.handle());
    const auto state = train::state_width(keys_.optimizer, t.width);
    const auto rows = std::ssize(t.weights) / t.width;
    for (std::int64_t r = 0; r < rows; ++r)
      train::update_row<float>(keys_, rate * keys_.rate, t.width, t.gradients.data() + r * t.width,
                               t.weights.data() + r * t.width, t.states.data() + r * state);
  }
}

double DenseTables::bytes() const {
  double out = 0.0;
  for (const Table& t : tables_)
    out += static_cast<double>(sizeof(float) * (t.weights.size() + t.gradients.size() + t.states.size()));
  return out;
}

}  // namespace cambium::relate
