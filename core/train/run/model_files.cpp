#include "core/train/run/model_files.hpp"

#include <filesystem>

#include "core/deck/resolve.hpp"
#include "core/parallel/agree.hpp"
#include "core/plugin/registry.hpp"
#include "core/train/kinds/reads_fields.hpp"
#include "core/train/kinds/running_statistics.hpp"
#include "core/train/weights/artifact_in_parts.hpp"

namespace cambium::train {

ArtifactInfo ModelFiles::info_of(std::int64_t step) {
  if (ranges_.empty() && context_.comm.root()) ranges_ = field_ranges(data_.training(), 256);
  auto info = step_.model_info();
  info.fields = ranges_;
  const auto* reader = step_.network().traits().fields;
  std::erase_if(info.fields, [&](const FieldRange& field) { return !reads_in_training(reader, field.info.name); });
  const auto keys_of = [&](const deck::Choice<Dataset>& data) {
    return deck::resolved(data.node, context_.registry->find(Dataset::kind, data.type)->schema, *context_.registry);
  };
  info.training = keys_of(params_.dataset);
  if (params_.validation && (params_.validate.keep_best || params_.validate.patience > 0))
    info.chosen_by = keys_of(*params_.validation);
  auto* held_out = data_.held_out();
  info.card = {{"step", "", static_cast<double>(step)},
               {"training_samples", "", static_cast<double>(data_.training().size())},
               {"validation_samples", "", held_out ? static_cast<double>(held_out->size()) : 0.0}};
  const auto metrics = step_.network().metrics();
  const auto& errors = progress_.best_errors;
  for (std::size_t k = 0; k < errors.size() && k < metrics.size(); ++k)
    info.card.push_back({"validation_" + metrics[k].name, metrics[k].unit, errors[k]});
  return info;
}

std::string ModelFiles::path_of(const std::string& name) const {
  return (std::filesystem::path(context_.run_directory) / name).string();
}

void ModelFiles::write(const std::string& name, const FlatBuffer& weights, std::int64_t step, bool best) {
  write_artifact(path_of(name), info_of(step), weights, context_, step_.tables(), best);
}

/// Returns false if the weights are replicated.
bool ModelFiles::write_in_parts(const std::string& name, std::int64_t step, bool best) {
  ByModule* const parts = step_.weights().by_module();
  if (!parts) return false;
  write_artifact_in_parts(path_of(name), info_of(step), step_.weights().layout(), *parts, best, context_);
  return true;
}

void ModelFiles::write_best(const std::string& name, std::int64_t step) {
  if (write_in_parts(name, step, true)) return;
  step_.weights().whole_best([&](FlatBuffer& weights) { write(name, weights, step, true); });
}

std::vector<std::string> ModelFiles::write_final(bool best, std::int64_t step) {
  std::vector<std::string> files{"model.h5"}, more;
  HasRunningStatistics* statistics = step_.network().traits().statistics;
  if (best && statistics) statistics->take_best();
  if (write_in_parts("model.h5", step, best)) return files;
  const auto write_all = [&](FlatBuffer& weights) {
    write("model.h5", weights, step, best);
    io::on_root(context_.comm,
                [&] { more = step_.network().export_model(context_.run_directory, weights.views(), context_); });
  };
  if (best)
    step_.weights().whole_best(write_all);
  else
    step_.weights().whole(write_all);
  std::string joined;
  for (const auto& file : more) joined += file + "\n";
  context_.comm.broadcast(joined);
  for (std::size_t from = 0, to; (to = joined.find('\n', from)) != std::string::npos; from = to + 1)
    files.push_back(joined.substr(from, to - from));
  return files;
}

}  // namespace cambium::train
