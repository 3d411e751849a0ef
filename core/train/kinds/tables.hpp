#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/base/tensor_ref.hpp"
#include "core/train/kinds/dataset.hpp"

namespace cambium::train {

/// An embedding table: samples address its rows by index.
struct TableInfo {
  std::string name;  ///< such as "drug"; unique within a network
  std::int64_t rows = 0, width = 0;
  double reach = 0.0;  ///< initial values are uniform in (-reach, reach)
};

/// Bags of samples of one table: the bag of sample b are rows ids[first[b]] to ids[first[b + 1] - 1], added in this
/// order. A row may occur twice; an empty bag sums to zero.
struct Bags {
  std::vector<std::int64_t> ids, first{0};
  std::int64_t size() const { return std::ssize(first) - 1; }
  void add(std::span<const std::int32_t> bag) {
    ids.insert(ids.end(), bag.begin(), bag.end());
    first.push_back(std::ssize(ids));
  }
};

/// Sums of the bags of some samples, in the network's type. Tables are sharded over ranks, so sums arrive in messages,
/// overlapped with computation that does not need them.
class TableRows {
 public:
  virtual ~TableRows() = default;
  /// (samples, width) of a table. The first call waits for the messages.
  virtual TensorRef pooled(int table) = 0;
  /// (samples, width): accumulates the gradient by those sums, initially zero. Only in a pass with a gradient.
  virtual TensorRef gradient(int table) = 0;
  /// Marks the gradients of all tables as final: they may be sent while the rest is computed.
  virtual void ready() = 0;
};

/// A network that learns embedding tables in addition to its parameters(). The training layer stores their rows,
/// sharded over ranks, and updates those that a step touched; the network only receives sums of bags.
class UsesTables {
 public:
  virtual ~UsesTables() = default;
  /// Valid after fit_statistics() or restore(); the same on every rank, then fixed.
  virtual std::vector<TableInfo> tables() const = 0;
  /// For each table one bag per sample. InputError for a row outside its table.
  virtual std::vector<Bags> bags(std::span<const SamplePtr> samples) const = 0;
  /// Before each gradient(), evaluate() and infer(): the sums for its samples.
  virtual void use_rows(TableRows* rows) = 0;
};

}  // namespace cambium::train
