#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/base/tensor_ref.hpp"
#include "core/train/kinds/dataset.hpp"

namespace cambium::train {

/// A table of embeddings: rows of numbers that samples name by their numbers.
struct TableInfo {
  std::string name;  ///< such as "drug"; unique within a network
  std::int64_t rows = 0, width = 0;
  double reach = 0.0;  ///< first values are uniform in (-reach, reach)
};

/// Bags of samples of one table: the bag of sample b are rows ids[first[b]] to ids[first[b + 1] - 1], added in this
/// order. A row may be named twice; an empty bag sums to zero.
struct Bags {
  std::vector<std::int64_t> ids, first{0};
  std::int64_t size() const { return std::ssize(first) - 1; }
  void add(std::span<const std::int32_t> bag) {
    ids.insert(ids.end(), bag.begin(), bag.end());
    first.push_back(std::ssize(ids));
  }
};

/// The sums of the bags of some samples, in the network's type. Tables are divided among ranks, so sums arrive in
/// messages that are under way while a network computes what needs none of them.
class TableRows {
 public:
  virtual ~TableRows() = default;
  /// (samples, width) of a table. The first call waits for messages.
  virtual TensorRef pooled(int table) = 0;
  /// (samples, width): where the gradient by those sums is added, zeros at first. Only of a pass with a gradient.
  virtual TensorRef gradient(int table) = 0;
  /// The gradients of all tables are final: they may travel while the rest is computed.
  virtual void ready() = 0;
};

/// A network that learns tables beside its parameters(). The training layer holds their rows, divided among ranks, and
/// changes those that a step touched; the network sees sums of bags alone.
class UsesTables {
 public:
  virtual ~UsesTables() = default;
  /// Known after fit_statistics() or restore(); the same on every rank, then fixed.
  virtual std::vector<TableInfo> tables() const = 0;
  /// For each table one bag per sample. InputError for a row outside its table.
  virtual std::vector<Bags> bags(std::span<const SamplePtr> samples) const = 0;
  /// Before each gradient(), evaluate() and infer(): the sums for its samples.
  virtual void use_rows(TableRows* rows) = 0;
};

}  // namespace cambium::train
