#include "core/train/run/apply_model.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>

#include "core/parallel/agree.hpp"
#include "core/parallel/gather.hpp"
#include "core/train/data/numbers.hpp"
#include "core/train/kinds/term_sums.hpp"
#include "core/train/run/prediction_files.hpp"
#include "core/train/run/validation.hpp"

namespace cambium::train {

namespace {

/// Views of one block for each output, consecutive in memory.
std::vector<TensorRef> views_of(std::vector<double>& block, std::span<const FieldInfo> outputs, std::int64_t samples) {
  std::vector<TensorRef> out;
  double* at = block.data();
  for (const auto& output : outputs) {
    TensorRef t;
    t.data = at;
    t.dtype = DType::f64;
    t.shape[t.rank++] = samples;
    for (const auto extent : output.shape) t.shape[t.rank++] = extent;
    for (std::int64_t stride = 1, k = t.rank - 1; k >= 0; stride *= t.shape[k--]) t.stride[k] = stride;
    at += samples * numbers_in(output);
    out.push_back(t);
  }
  return out;
}

/// A value of a sample that is not a model input; an integer by its bits.
double kept_number(const Sample& sample, const FieldInfo& field) {
  const TensorRef& t = sample.fields.at(field.name);
  if (t.dtype == DType::f64 || t.dtype == DType::f32) {
    double out = 0.0;
    copy_numbers(t, std::span(&out, 1));
    return out;
  }
  std::int64_t out = 0;
  copy_numbers(t, std::span(&out, 1));
  return std::bit_cast<double>(out);
}

/// Scalar fields of the data set that the model was not trained on and that fit into a column.
std::vector<FieldInfo> kept_fields(const AppliedModel& model, Dataset& data, std::span<const FieldInfo> outputs) {
  std::vector<FieldInfo> out;
  for (const auto& field : data.fields()) {
    const auto same = [&](const auto& other) { return other.name == field.name; };
    const auto& trained = model.loaded().info.fields;
    const bool known = std::any_of(trained.begin(), trained.end(), [&](const auto& f) { return same(f.info); }) ||
                       std::any_of(outputs.begin(), outputs.end(), same);
    const bool number = std::all_of(field.shape.begin(), field.shape.end(), [](auto extent) { return extent == 1; });
    if (!known && number && field.name != "sample") out.push_back(field);
  }
  return out;
}

/// Coordinates of the data, with those of samples for the entire set, except those with the name of another array of
/// the file.
std::vector<Coordinate> coordinates_of(Dataset& data, const PredictionFiles::Plan& plan) {
  auto* has = dynamic_cast<HasCoordinates*>(&data);
  auto out = has ? has->coordinates() : std::vector<Coordinate>();
  std::erase_if(out, [&](const Coordinate& c) {
    const auto same = [&](const FieldInfo& field) { return field.name == c.name; };
    return (c.axis == 0 && std::ssize(c.values) != plan.samples) ||
           std::any_of(plan.outputs.begin(), plan.outputs.end(), same) ||
           std::any_of(plan.kept.begin(), plan.kept.end(), same);
  });
  return out;
}

/// Applies the model to blocks of samples on the ranks and collects the results on rank 0.
class DataPass {
 public:
  DataPass(AppliedModel& model, Dataset& data, std::int64_t batch, PredictionFiles::Plan plan, Context& context)
      : model_(model), data_(data), batch_(batch), plan_(std::move(plan)), context_(context) {}

  void run(PredictionSummary& summary) {
    const Comm& comm = context_.comm;
    std::optional<PredictionFiles> files;
    io::on_root(comm, [&] {
      plan_.coordinates = coordinates_of(data_, plan_);
      files.emplace(plan_, context_);
    });
    for (const auto& output : plan_.outputs)
      summary.outputs.push_back({output.name, output.unit, 0.0, std::numeric_limits<double>::infinity(),
                                 -std::numeric_limits<double>::infinity(), 0});
    const std::int64_t blocks = (data_.size() + batch_ - 1) / batch_;
    for (std::int64_t turn = 0; turn < blocks; turn += comm.size()) {
      auto rows = block(turn + comm.rank());
      rows = gather(rows, comm);
      io::on_root(comm, [&] {
        look(rows, summary);
        files->add(turn * batch_, rows);
      });
    }
    io::on_root(comm, [&] { files->commit(); });
    for (auto& range : summary.outputs) range.mean /= std::max(1.0, range.mean_of);
  }

 private:
  /// Rows of one block on this rank; empty beyond the last block.
  std::vector<double> block(std::int64_t number) {
    const std::int64_t count = std::clamp<std::int64_t>(data_.size() - number * batch_, 0, batch_);
    std::vector<SamplePtr> samples;
    io::on_every_rank(context_.comm, [&] {
      std::vector<std::int64_t> ids(static_cast<std::size_t>(count));
      std::iota(ids.begin(), ids.end(), number * batch_);
      if (count > 0) samples = data_.read(ids);
    });
    std::vector<double> answers(static_cast<std::size_t>(count * numbers_of(plan_.outputs)));
    const auto views = views_of(answers, plan_.outputs, count);
    model_.look_up(samples, context_.comm);
    io::on_every_rank(context_.comm, [&] { model_.infer(samples, views); });
    std::vector<double> rows;
    for (std::int64_t s = 0; s < count; ++s) {
      for (const auto& view : views) {
        const auto* from = static_cast<const double*>(view.data) + s * view.stride[0];
        rows.insert(rows.end(), from, from + view.elements() / count);
      }
      for (const auto& field : plan_.kept) rows.push_back(kept_number(*samples[static_cast<std::size_t>(s)], field));
    }
    return rows;
  }

  void look(std::span<const double> rows, PredictionSummary& summary) const {
    const std::size_t width = PredictionFiles::numbers(plan_.outputs, plan_.kept);
    for (std::size_t row = 0; row < rows.size(); row += width) {
      std::size_t at = row;
      for (std::size_t k = 0; k < plan_.outputs.size(); ++k)
        for (std::int64_t n = numbers_in(plan_.outputs[k]); n > 0; --n) summary.outputs[k].add(rows[at++]);
    }
  }

  AppliedModel& model_;
  Dataset& data_;
  std::int64_t batch_;
  PredictionFiles::Plan plan_;
  Context& context_;
};

}  // namespace

std::int64_t numbers_of(std::span<const FieldInfo> outputs) {
  std::int64_t out = 0;
  for (const auto& output : outputs) out += numbers_in(output);
  return out;
}

void PredictionSummary::Range::add(double value) {
  if (!std::isfinite(value)) {
    ++not_finite;
    return;
  }
  mean += value;
  mean_of += 1.0;
  lowest = std::min(lowest, value);
  highest = std::max(highest, value);
}

std::vector<Result> PredictionSummary::results() const {
  std::vector<Result> out{in_table("samples", "samples", static_cast<double>(samples))};
  for (const auto& range : outputs)
    for (const auto& [word, value] :
         {std::pair{"mean", range.mean}, std::pair{"lowest", range.lowest}, std::pair{"highest", range.highest}}) {
      if (range.mean_of == 0.0) continue;
      out.push_back(in_table(key_of(range.name + " " + word), range.name + ", " + word, value));
      out.back().unit = range.unit;
    }
  for (const auto& [metric, error] : errors) {
    out.push_back(in_table(key_of(metric.name), metric.name, error));
    out.back().unit = metric.unit;
  }
  return out;
}

std::vector<std::string> PredictionSummary::lines() const {
  std::vector<std::string> out{fmt::format("  {:<24}{:>14}{:>14}{:>14}", "", "mean", "lowest", "highest")};
  for (const auto& range : outputs)
    out.push_back(range.mean_of == 0.0 ? fmt::format("  {:<24}{:>14}{:>14}{:>14}", range.name, "-", "-", "-")
                                       : fmt::format("  {:<24}{:>14.6g}{:>14.6g}{:>14.6g} {}", range.name, range.mean,
                                                     range.lowest, range.highest, range.unit));
  for (const auto& [metric, error] : errors)
    out.push_back(fmt::format("  {:<24}{:>14.6g} {} (against the labels)", metric.name, error, metric.unit));
  return out;
}

PredictionSummary apply_model(AppliedModel& model, Dataset& data, std::int64_t batch, const PredictionPaths& paths,
                              Context& context) {
  const auto fields = data.fields();
  PredictionFiles::Plan plan{paths.h5, paths.csv, data.size(), {}, model.outputs_of(fields), {}, {}};
  for (const auto& wanted : model.inputs())
    for (const auto& field : fields)
      if (field.name == wanted.name) plan.inputs.push_back(field);
  plan.kept = kept_fields(model, data, plan.outputs);
  PredictionSummary out;
  out.samples = data.size();
  DataPass(model, data, batch, plan, context).run(out);
  for (const auto& range : out.outputs)
    if (range.not_finite > 0)
      context.log.warn(fmt::format("{} values of '{}' are not finite (NaN or infinite): check their samples",
                                   range.not_finite, range.name));
  if (!model.has_labels(fields)) return out;
  auto& loaded = model.loaded();
  const auto metrics = loaded.network->metrics();
  Validation samples(data, batch);
  const auto sums = model.errors(samples, context.comm);
  for (std::size_t k = 0; k < metrics.size(); ++k)
    if (sums[k].count > 0.0) out.errors.emplace_back(metrics[k], reported(metrics[k], sums[k]));
  return out;
}

}  // namespace cambium::train
