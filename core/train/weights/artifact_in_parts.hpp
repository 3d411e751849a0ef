#pragma once
#include <functional>
#include <string>

#include "core/train/weights/artifact.hpp"
#include "core/train/weights/by_module.hpp"
#include "core/train/weights/weights.hpp"

namespace cambium::train {

/// Collective: write_artifact() of divided weights, of which rank 0 holds one group of tensors at a time. The best ones
/// where `best`. InputError, on every rank, when the disk refuses.
void write_artifact_in_parts(const std::string& path, const ArtifactInfo& info, const FlatLayout& layout,
                             ByModule& weights, bool best, const Context& context);

/// load_artifact() without the weights, which stay in the file, and without tables.
LoadedModel load_head(const std::string& path, Context& context);

/// The same for a network that WorksByModule. KeyError about `memory_limit` for another one.
LoadedModel load_without_weights(const std::string& path, Context& context);

/// Reads the tensors of `layout` whose views have memory from a model file. InputError when it cannot be read.
void fill_from_file(const std::string& path, const FlatLayout& layout, std::span<const TensorRef> views);

/// Weights of a model file that come from there module by module: a rank holds one module's at a time.
class StoredModules {
 public:
  /// The model, of load_without_weights(), outlives this. `limit`: bytes of the largest module; KeyError about
  /// `memory_limit` when one takes more.
  StoredModules(const std::string& path, const LoadedModel& model, std::int64_t limit);
  /// Calls `use` with views that have memory from Pass::ready.forward() to Pass::ready.release(); it may go through the
  /// modules any number of times. InputError when the file cannot be read.
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
