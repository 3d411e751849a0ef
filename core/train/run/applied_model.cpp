#include "core/train/run/applied_model.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "core/base/error.hpp"
#include "core/train/kinds/reads_fields.hpp"
#include "core/train/tables/fetch_rows.hpp"

namespace cambium::train {

namespace {

std::string unit_words(const std::string& unit) { return unit.empty() ? "no unit" : unit; }

/// Shape of a sample as text: "(64, any)".
std::string shape_text(const std::vector<std::int64_t>& shape) {
  std::string out;
  for (const auto extent : shape) out += (out.empty() ? "" : ", ") + (extent < 0 ? "any" : fmt::format("{}", extent));
  return fmt::format("({})", out);
}

bool fits(const std::vector<std::int64_t>& shape, const std::vector<std::int64_t>& wanted) {
  const auto same = [](std::int64_t a, std::int64_t b) { return a < 0 || b < 0 || a == b; };
  return std::equal(shape.begin(), shape.end(), wanted.begin(), wanted.end(), same);
}

const FieldInfo* find(std::span<const FieldInfo> fields, const std::string& name) {
  const auto found = std::find_if(fields.begin(), fields.end(), [&](const FieldInfo& f) { return f.name == name; });
  return found == fields.end() ? nullptr : &*found;
}

std::string names_of(std::span<const FieldInfo> fields) {
  std::vector<std::string> out;
  for (const auto& field : fields) out.push_back(field.name);
  return fmt::format("{}", fmt::join(out, ", "));
}

/// InputError about the first mismatch between `field` and the inputs of the model.
void require_input(const std::string& model, const FieldInfo& wanted, std::span<const FieldInfo> fields) {
  const FieldInfo* field = find(fields, wanted.name);
  if (!field)
    throw InputError(fmt::format("model '{}' reads a field '{}', which the data do not have; they have: {}", model,
                                 wanted.name, names_of(fields)));
  if (field->unit != wanted.unit)
    throw InputError(fmt::format("model '{}' reads '{}' in {}, but the data have it in {}; convert the data", model,
                                 wanted.name, unit_words(wanted.unit), unit_words(field->unit)));
  if (!same_classes(*field, wanted))
    throw InputError(fmt::format(
        "model '{}' reads '{}' with the categories {}, but the data have {}; give the same categories in the "
        "same order",
        model, wanted.name, fmt::join(wanted.categories, ", "), fmt::join(field->categories, ", ")));
  if (!fits(field->shape, wanted.shape))
    throw InputError(
        fmt::format("model '{}' reads '{}' of shape {} for each sample, but the data have {}; give it samples like "
                    "those it was trained on",
                    model, wanted.name, shape_text(wanted.shape), shape_text(field->shape)));
}

/// The array of this name, or the only array if it has no name.
const HostArray* find(std::span<const HostArray> arrays, const std::string& name) {
  if (arrays.size() == 1 && arrays[0].name.empty()) return &arrays[0];
  const auto found = std::find_if(arrays.begin(), arrays.end(), [&](const HostArray& a) { return a.name == name; });
  return found == arrays.end() ? nullptr : &*found;
}

/// (samples) for one value per sample becomes (samples, 1), matching a field of shape (1).
TensorRef with_last_axes(TensorRef values, const std::vector<std::int64_t>& shape) {
  while (values.rank >= 1 && values.rank <= std::ssize(shape) &&
         shape[static_cast<std::size_t>(values.rank) - 1] == 1) {
    values.shape[values.rank] = 1;
    values.stride[values.rank++] = 1;
  }
  return values;
}

}  // namespace

AppliedModel::AppliedModel(const std::string& path, Context& context, std::optional<std::int64_t> limit)
    : path_(path), model_(limit ? load_without_weights(path, context) : load_artifact(path, context)),
      outputs_(model_.network->outputs()) {
  if (outputs_.empty())
    throw InputError(
        fmt::format("model '{}' is a network '{}', which returns no values for a single sample; the stages of its "
                    "plugin run it (cambium list task)",
                    path, model_.info.type));
  if (limit) stored_ = std::make_unique<StoredModules>(path, model_, *limit);
  const auto traits = model_.network->traits();
  const ReadsFields* reader = traits.fields;
  if (reader) rows_field_ = reader->rows_field();
  const auto names = reader ? reader->fields_to_infer() : std::vector<std::string>();
  for (const auto& field : model_.info.fields) {
    const auto& among = reader ? names : traits.spared_labels;
    const bool found = std::find(among.begin(), among.end(), field.info.name) != among.end();
    if (found == (reader != nullptr)) inputs_.push_back(field.info);
  }
}

std::vector<FieldInfo> AppliedModel::outputs_of(std::span<const FieldInfo> fields) const {
  for (const auto& wanted : inputs_) require_input(path_, wanted, fields);
  const FieldInfo* rows = find(fields, rows_field_);
  auto out = outputs_;
  for (auto& output : out)
    for (auto& extent : output.shape) {
      if (extent >= 0) continue;
      if (rows && !rows->shape.empty()) extent = rows->shape[0];
      if (extent < 0)
        throw InputError(
            fmt::format("model '{}' returns '{}' of shape {}, whose length differs from sample to sample; give it "
                        "samples of one size",
                        path_, output.name, shape_text(output.shape)));
    }
  return out;
}

bool AppliedModel::has_labels(std::span<const FieldInfo> fields) const {
  const auto spared = model_.network->traits().spared_labels;
  bool spares = false, one = false, all = true;  // a network that spares each of its labels still needs one of them
  for (const auto& wanted : model_.info.fields) {
    const FieldInfo* here = find(fields, wanted.info.name);
    const bool label = std::find(spared.begin(), spared.end(), wanted.info.name) != spared.end();
    spares = spares || label;
    one = one || (here && label);
    all = all && (here ? here->unit == wanted.info.unit && same_classes(*here, wanted.info) : label);
  }
  return all && (one || !spares);
}

void AppliedModel::look_up(std::span<const SamplePtr> samples, const Comm& comm) {
  look_up_rows(*model_.network, model_.tables.get(), samples, comm);
}

void AppliedModel::infer(std::span<const SamplePtr> samples, std::span<const TensorRef> outputs) {
  if (samples.empty()) return;
  if (!stored_) return model_.network->infer(samples, model_.weights.views(), outputs);
  stored_->forward([&](const Pass& pass) {
    model_.network->traits().modules->infer_by_module(samples, pass.weights, pass.ready, outputs);
  });
}

std::vector<TermSum> AppliedModel::errors(Validation& samples, const Comm& comm) {
  if (!stored_) return samples.evaluate(*model_.network, model_.weights.views(), comm, model_.tables.get());
  std::vector<TermSum> out;
  stored_->forward([&](const Pass& pass) { out = samples.evaluate_by_module(*model_.network, pass, comm); });
  return out;
}

std::optional<std::int64_t> AppliedModel::largest_module() const {
  return stored_ ? std::optional(stored_->largest()) : std::nullopt;
}

void AppliedModel::infer(std::span<const HostArray> inputs, std::span<const HostArray> outputs, const Comm& comm) {
  std::vector<HostArray> used;
  for (const auto& wanted : inputs_)
    if (const HostArray* given = find(inputs, wanted.name)) {
      used.push_back(*given);
      used.back().name = wanted.name;
      used.back().values = with_last_axes(given->values, wanted.shape);
      if (given->unit.empty()) used.back().unit = wanted.unit;
    }
  if (used.empty())
    throw InputError(fmt::format("no array is an input of model '{}'; it reads: {}", path_, names_of(inputs_)));
  const MemorySet own(used);
  std::vector<TensorRef> targets;
  for (const auto& info : outputs_of(own.fields())) {
    std::vector<std::int64_t> shape = info.shape;
    shape.insert(shape.begin(), own.size());
    const HostArray* found = find(outputs, info.name);
    const TensorRef target = found ? with_last_axes(found->values, info.shape) : TensorRef{};
    if (!found || target.dtype != DType::f64 ||
        shape != std::vector<std::int64_t>(target.shape, target.shape + target.rank))
      throw InputError(fmt::format("the output '{}' of model '{}' needs a float64 array of shape ({})", info.name,
                                   path_, fmt::join(shape, ", ")));
    targets.push_back(target);
  }
  look_up(own.samples(), comm);
  infer(own.samples(), targets);
}

}  // namespace cambium::train
