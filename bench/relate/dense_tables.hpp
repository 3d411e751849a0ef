#pragma once
#include <span>
#include <vector>

#include "core/parallel/comm.hpp"
#include "core/train/kinds/tables.hpp"
#include "core/train/tables/table_keys.hpp"

namespace cambium::relate {

/// Tables as in a framework without sparse gradients, for comparison: all rows on every rank, a dense gradient of the
/// size of the tables, all-reduced, and an optimizer that updates every row. float32.
class DenseTables : public train::TableRows {
 public:
  /// `rows`: first values of each table.
  DenseTables(std::span<const train::TableInfo> tables, std::vector<std::vector<float>> rows,
              const train::TableKeys& keys, const Comm& comm);

  /// Sets the bags of the next samples, whose sums are the input of a network.
  void take(std::vector<train::Bags> bags);
  TensorRef pooled(int table) override;
  TensorRef gradient(int table) override;
  void ready() override {}
  /// Collective: as train::Tables::step().
  void step(double factor, double rate);

  const std::vector<float>& rows(std::size_t table) const { return tables_[table].weights; }
  /// Size of weights, gradients and the optimizer state.
  double bytes() const;

 private:
  struct Table {
    std::int64_t width = 0;
    std::vector<float> weights, gradients, states;
    std::vector<float> pooled, by_pooled;  ///< of the samples
    train::Bags bags;
  };
  TensorRef view(std::vector<float>& values, const Table& table) const;

  train::TableKeys keys_;
  const Comm& comm_;
  std::vector<Table> tables_;
};

/// Sums of bags of rows by the plainest loop, for comparison: samples x width, row by row.
void plain_sums(const train::Bags& bags, std::span<const float> rows, std::int64_t width, std::vector<float>& sums);

}  // namespace cambium::relate
