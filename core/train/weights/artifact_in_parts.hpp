#pragma once
#include <functional>
#include <string>

#include "core/train/weights/artifact.hpp"
#include "core/train/weights/by_module.hpp"
#include "core/train/weights/weights.hpp"

namespace cambium::train {

/// Collective: write_artifact() for sharded weights, with one group of tensors on rank 0 at a time. Writes the best
/// weights if `best`. InputError, on every rank, if writing fails.
void write_artifact_in_parts(const std::string& path, const ArtifactInfo& info, const FlatLayout& layout,
                             ByModule& weights, bool best, const Context& context);

/// load_artifact() without tables and without the weights, which stay in the file.
LoadedModel load_head(const std::string& path, Context& context);

/// The same for a network that WorksByModule; KeyError about `memory_limit` for others.
LoadedModel load_without_weights(const std::string& path, Context& context);

/// Reads the tensors of `layout` whose views have memory from a model file. InputError if reading fails.
void fill_from_file(const std::string& path, const FlatLayout& layout, std::span<const TensorRef> views);

/// Weights that are read from a model file module by module: a rank stores one module's at a time.
class StoredModules {
 public:
  /// The model, from load_without_weights(), must outlive this. `limit`: bytes of the largest module; KeyError about
  /// `memory_limit` if one takes more.
  StoredModules(const std::string& path, const LoadedModel& model, std::int64_t limit);
  /// Calls `use` with views that have memory from Pass::ready.forward() to Pass::ready.release(); it may pass over the
  /// modules any number of times. InputError if reading fails.
  void forward(const std::function<void(const Pass&)>& use) const;
  std::int64_t largest() const { return largest_; }  ///< bytes

 private:
  std::int64_t bytes_of(int module) const;

  std::string path_;
  const LoadedModel& model_;
  std::vector<int> first_;  ///< tensor of each module, and the end
  std::int64_t largest_ = 0;
};

}  // namespace cambium::train
