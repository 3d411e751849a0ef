#pragma once
#include <memory>
#include <vector>

#include "core/train/kinds/dataset.hpp"
#include "plugins/graph/graphs/graph.hpp"

namespace cambium::graph {

/// Target of samples of single nodes: sample k of the data set is node nodes[k].
struct NodeSamples {
  GraphPtr graph;
  std::vector<std::int32_t> nodes;
  std::vector<float> features;  ///< nodes x features, if samples carry them
};

/// Target of the sample of a slice in full-graph training: the rows whose gradient contributions the slice accumulates.
struct WholeGraph {
  GraphPtr graph;
  std::shared_ptr<const std::vector<std::int32_t>> nodes;  ///< nodes in the loss, of all slices, ascending
  std::int64_t first = 0, last = 0;                        ///< rows
  std::int64_t slice = 0, slices = 1;                      ///< index among the slices of this rank
};

namespace detail {
/// Identifies the type of a sample's storage.
template <class T>
struct Owner {
  void operator()(const T* object) const { delete object; }
};
}  // namespace detail

template <class T>
std::shared_ptr<const T> make_storage(T object) {
  return std::shared_ptr<const T>(new T(std::move(object)), detail::Owner<T>{});
}

/// The storage of a sample; null if it has another type.
template <class T>
const T* storage_of(const train::Sample& sample) {
  if (!sample.storage || !std::get_deleter<detail::Owner<T>>(sample.storage)) return nullptr;
  return static_cast<const T*>(sample.storage.get());
}

}  // namespace cambium::graph
