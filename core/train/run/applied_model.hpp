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

/// A trained model for inference on samples without labels: common base of the stage `predict`, the command of that
/// name and the C and Python interfaces. One thread per call.
class AppliedModel {
 public:
  /// Reads a model file (model.h5). Collective for networks with tables, whose rows are sharded over the ranks of the
  /// context. InputError as load_artifact, and for a network without outputs (Network::outputs). `limit`: bytes of
  /// weights in memory; they then stay in the file and are read module by module. KeyError about `memory_limit` for a
  /// network that needs all of them, or if one module takes more.
  AppliedModel(const std::string& path, Context& context, std::optional<std::int64_t> limit = {});

  const std::string& path() const { return path_; }
  LoadedModel& loaded() { return model_; }
  const LoadedModel& loaded() const { return model_; }
  /// Required fields of samples, with unit and shape of the training data; -1 for extents that vary.
  const std::vector<FieldInfo>& inputs() const { return inputs_; }
  /// Outputs for one sample, as float64; an extent is -1 if it depends on the sample's fields.
  const std::vector<FieldInfo>& outputs() const { return outputs_; }
  /// Outputs for samples with these fields. InputError if a required field is missing or has another unit, shape or
  /// categories, or if the samples differ in an extent that outputs depend on.
  std::vector<FieldInfo> outputs_of(std::span<const FieldInfo> fields) const;
  /// True if these fields include the labels, so errors can be computed.
  bool has_labels(std::span<const FieldInfo> fields) const;

  /// Collective: call before infer() of these samples, which may be none on some ranks.
  void look_up(std::span<const SamplePtr> samples, const Comm& comm);
  /// Fills one array for each output, (samples, shape...) with any strides.
  void infer(std::span<const SamplePtr> samples, std::span<const TensorRef> outputs);
  /// The same for arrays of a program, one for each output, matched by name; an array without a name is the only input
  /// or output. Collective like look_up(). InputError for arrays that do not match.
  void infer(std::span<const HostArray> inputs, std::span<const HostArray> outputs, const Comm& comm);
  /// Collective: sums of the network's metrics over all samples.
  std::vector<TermSum> errors(Validation& samples, const Comm& comm);
  /// Bytes of the largest module if weights stay in the file.
  std::optional<std::int64_t> largest_module() const;

 private:
  std::string path_;
  LoadedModel model_;
  std::unique_ptr<StoredModules> stored_;  ///< null: all weights are in model_
  std::vector<FieldInfo> inputs_, outputs_;
  std::string rows_field_;
};

}  // namespace cambium::train
