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
  std::vector<float> features;  ///< of each, where samples carry them: nodes x numbers of a node
};

/// Target of the sample of a slice when a whole graph is computed at every step: the rows whose part of the gradient
/// the slice adds up.
struct WholeGraph {
  GraphPtr graph;
  std::shared_ptr<const std::vector<std::int32_t>> nodes;  ///< that the loss counts, of all slices, ascending
  std::int64_t first = 0, last = 0;                        ///< rows
  std::int64_t slice = 0, slices = 1;                      ///< number among those of this rank
};

namespace detail {
/// By which a sample's storage is known again.
template <class T>
struct Owner {
  void operator()(const T* object) const { delete object; }
};
}  // namespace detail

template <class T>
std::shared_ptr<const T> make_storage(T object) {
  return std::shared_ptr<const T>(new T(std::move(object)), detail::Owner<T>{});
}

/// The storage of a sample; null when it is of another type.
template <class T>
const T* storage_of(const train::Sample& sample) {
  if (!sample.storage || !std::get_deleter<detail::Owner<T>>(sample.storage)) return nullptr;
  return static_cast<const T*>(sample.storage.get());
}

}  // namespace cambium::graph
