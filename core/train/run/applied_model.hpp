#pragma once
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/train/data/memory_set.hpp"
#include "core/train/run/validation.hpp"
#include "core/train/weights/artifact_in_parts.hpp"

namespace cambium::train {

/// A trained model that answers samples without labels: what the stage `predict`, the verb of that name and programs in
/// C and Python share. One thread per call.
class AppliedModel {
 public:
  /// Reads a model file (model.h5). Collective for networks with tables, whose rows are divided among the ranks of the
  /// context. InputError as load_artifact, and for a network that gives no numbers of samples (Network::outputs).
  /// `limit`: bytes of weights that may be held; they then stay in the file and are read module by module. KeyError
  /// about `memory_limit` for a network that needs all of them, and when one module takes more.
  AppliedModel(const std::string& path, Context& context, std::optional<std::int64_t> limit = {});

  const std::string& path() const { return path_; }
  LoadedModel& loaded() { return model_; }
  const LoadedModel& loaded() const { return model_; }
  /// Fields that samples must have, with unit and shape of the training data; -1 where samples differ.
  const std::vector<FieldInfo>& inputs() const { return inputs_; }
  /// Output for one sample, as float64; an extent is -1 where the sample's own fields give it.
  const std::vector<FieldInfo>& outputs() const { return outputs_; }
  /// The same for samples of these fields. InputError when a field that must be there is not, or has another unit or
  /// shape, and when the samples differ in what gives an extent.
  std::vector<FieldInfo> outputs_of(std::span<const FieldInfo> fields) const;
  /// True if these fields hold the labels, too, so that errors can be told.
  bool has_labels(std::span<const FieldInfo> fields) const;

  /// Collective: before infer() of these samples, which may be none on some ranks.
  void look_up(std::span<const SamplePtr> samples, const Comm& comm);
  /// Fills one array for each output, (samples, shape...) with any strides.
  void infer(std::span<const SamplePtr> samples, std::span<const TensorRef> outputs);
  /// The same of arrays of a program, one for each output, found by its name; an array without a name is the only
  /// input or output. Collective as look_up(). InputError for arrays that do not fit.
  void infer(std::span<const HostArray> inputs, std::span<const HostArray> outputs, const Comm& comm);
  /// Collective: sums of the network's metrics over all samples.
  std::vector<TermSum> errors(Validation& samples, const Comm& comm);
  /// Bytes of the largest module where weights stay in the file.
  std::optional<std::int64_t> largest_module() const;

 private:
  std::string path_;
  LoadedModel model_;
  std::unique_ptr<StoredModules> stored_;  ///< null: all weights are in model_
  std::vector<FieldInfo> inputs_, outputs_;
  std::string rows_field_;
};

}  // namespace cambium::train
