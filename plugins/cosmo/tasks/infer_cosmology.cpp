#include "plugins/cosmo/tasks/infer_cosmology.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <numeric>

#include "core/base/key_error.hpp"
#include "core/io/csv.hpp"
#include "core/parallel/agree.hpp"
#include "core/plugin/check.hpp"
#include "core/train/data/hdf5_dataset.hpp"
#include "core/train/weights/artifact.hpp"

namespace cambium::cosmo {
namespace {

/// Rows first .. last - 1 of an array of the file.
Table table_of(const BoxFile& file, const std::string& name, const std::array<std::int64_t, 2>& range) {
  const auto values = file.rows(name, range[0], range[1]);
  const std::size_t rows = static_cast<std::size_t>(range[1] - range[0]), width = values.size() / rows;
  Table out;
  for (std::size_t r = 0; r < rows; ++r)
    out.emplace_back(values.begin() + static_cast<std::ptrdiff_t>(r * width),
                     values.begin() + static_cast<std::ptrdiff_t>((r + 1) * width));
  return out;
}

Table log_power(const BoxFile& file, const std::array<std::int64_t, 2>& range) {
  auto out = table_of(file, "power", range);
  for (auto& row : out)
    for (auto& p : row) p = std::log(std::max(p, 1e-300));
  return out;
}

constexpr std::size_t moments_of_cells = 5;

/// Those of cells come first.
void add_moments(Table& features, const BoxFile& file, std::int64_t first) {
  for (auto& row : features) {
    const auto more = moments_at_scales(file.counts(first++), file.shape().cells);
    row.insert(row.end(), more.begin(), more.end());
  }
}

Table first_columns(const Table& table, std::size_t columns) {
  Table out;
  for (const auto& row : table) out.emplace_back(row.begin(), row.begin() + static_cast<std::ptrdiff_t>(columns));
  return out;
}

Table answers(const Ridge& fit, const Table& features) {
  Table out;
  for (const auto& row : features) out.push_back(fit(row));
  return out;
}

}  // namespace

void InferCosmology::Params::describe(deck::Describe<Params>& d) {
  d("boxes", &Params::boxes, "file of a stage structure_boxes").example("\"{run}/structure_boxes/boxes.h5\"");
  d("training", &Params::training, "index range of the training boxes: first, one past the last").example("[0, 1600]");
  d("test", &Params::test, "index range of the test boxes").example("[1800, 2000]");
  d("test_boxes", &Params::test_boxes,
    "file of the test boxes, if it is another one: boxes of the same size, with the same varying parameters")
      .example("\"runs/fresh/structure_boxes/boxes.h5\"");
  d("models", &Params::models, "model files of networks, such as cosmoflow").def({});
  d("batch", &Params::batch, "batch size: boxes that a network evaluates together").at_least(1).def(32);
  d.check([](const Params& p) -> std::string {
    for (const auto& [name, range] : {std::pair{"training", p.training}, {"test", p.test}})
      if (range[0] < 0 || range[1] <= range[0])
        return fmt::format("{} [{}, {}] holds no boxes; give the first and one past the last", name, range[0],
                           range[1]);
    if (!p.test_boxes && p.training[0] < p.test[1] && p.test[0] < p.training[1])
      return "training and test share boxes; evaluate on others than those of the fit";
    return p.training[1] - p.training[0] < 5 ? "training has fewer than 5 boxes; give more" : "";
  });
}

void InferCosmology::examine(Check& check) {
  check.will_write({"scores.csv", {Origin::stage, "infer_cosmology"}});
  check.will_write({"cosmologies.csv", {Origin::stage, "infer_cosmology"}});
  check.context().log.info(fmt::format("infer_cosmology: {} boxes by fits to {} others and {} networks",
                                       params_.test[1] - params_.test[0], params_.training[1] - params_.training[0],
                                       params_.models.size()));
  check.require_written_by("boxes", params_.boxes, {{Origin::stage, "structure_boxes"}});
  if (apart()) check.require_written_by("test_boxes", *params_.test_boxes, {{Origin::stage, "structure_boxes"}});
  check.require_written_by("models", params_.models, {{Origin::network}});
}

Table InferCosmology::truth_of(const BoxFile& file, const BoxFile& judged) const {
  if (file.shape().cells != judged.shape().cells || file.wave_numbers() != judged.wave_numbers())
    throw KeyError("infer_cosmology.test_boxes.cells", "test_boxes",
                   fmt::format("test_boxes: boxes of '{}' have {} cells along an edge or another length than those of "
                               "'{}' ({} cells); make both with the same box and particles",
                               test_file(), judged.shape().cells, params_.boxes, file.shape().cells));
  Table out(static_cast<std::size_t>(params_.test[1] - params_.test[0]));
  const auto found = table_of(judged, "parameters", params_.test);
  for (const auto& v : file.varied()) {
    const auto at = std::ranges::find(judged.varied(), v.name, &Varied::name) - judged.varied().begin();
    if (at == std::ssize(judged.varied()))
      throw KeyError("infer_cosmology.test_boxes.vary", "test_boxes",
                     fmt::format("test_boxes: {} does not vary in '{}', but in '{}'; make boxes in which it does",
                                 v.name, test_file(), params_.boxes));
    for (std::size_t r = 0; r < out.size(); ++r)
      out[r].push_back(2.0 * (found[r][at] - v.low) / (v.high - v.low) - 1.0);
  }
  return out;
}

std::vector<InferCosmology::Row> InferCosmology::baselines(const BoxFile& file, const BoxFile& judged,
                                                           const Table& known) const {
  auto training = log_power(file, params_.training), test = log_power(judged, params_.test);
  const auto boxes = static_cast<double>(known.size());
  std::vector<double> mean(known[0].size(), 0.0);
  for (const auto& row : known)
    for (std::size_t t = 0; t < mean.size(); ++t) mean[t] += row[t] / boxes;
  std::vector<Row> out{{"mean", Table(test.size(), mean)}};
  out.push_back({"power + ridge", answers(Ridge(training, known), test)});
  add_moments(training, file, params_.training[0]);
  add_moments(test, judged, params_.test[0]);
  const std::size_t columns = static_cast<std::size_t>(file.shape().bins) + moments_of_cells;
  out.push_back({"power and moments + ridge",
                 answers(Ridge(first_columns(training, columns), known), first_columns(test, columns))});
  out.push_back({"moments at scales + ridge", answers(Ridge(training, known), test)});
  return out;
}

/// Collective: batches are assigned to ranks round-robin.
InferCosmology::Row InferCosmology::network(const std::string& model, std::int64_t targets, Context& context) {
  auto loaded = train::load_artifact(model, context);
  const auto outputs = loaded.network->outputs();
  if (outputs.size() != 1 || outputs[0].shape != std::vector<std::int64_t>{targets})
    throw KeyError("infer_cosmology.models.type", "models",
                   fmt::format("models: '{}' holds a {}, which does not give {} values of a box; train a cosmoflow",
                               model, loaded.info.type, targets));
  train::Hdf5Dataset data({{test_file()}, {{"counts", "", {}}, {"power", "", {}}, {"target", "", {}}}, {}, false},
                          context);
  data.open(context);
  train::require_fields(loaded, model, data);
  const std::int64_t count = params_.test[1] - params_.test[0], ranks = context.comm.size();
  std::vector<double> all(count * targets, 0.0);
  for (std::int64_t from = context.comm.rank() * params_.batch; from < count; from += ranks * params_.batch) {
    std::vector<std::int64_t> ids(std::min(params_.batch, count - from));
    std::iota(ids.begin(), ids.end(), params_.test[0] + from);
    TensorRef to = io::tensor_of(all.data() + from * targets, {std::ssize(ids), targets});
    to.is_const = false;
    const auto samples = data.read(ids);
    loaded.network->infer(samples, loaded.weights.views(), std::span<const TensorRef>(&to, 1));
  }
  context.comm.sum(all);
  Row out{std::filesystem::path(model).parent_path().filename().string(), {}};
  for (std::int64_t r = 0; r < count; ++r)
    out.found.emplace_back(all.begin() + r * targets, all.begin() + (r + 1) * targets);
  for (const auto& c : loaded.network->citations()) citations_.push_back(c);
  return out;
}

void InferCosmology::write(const std::vector<Row>& rows, const Table& truth, const BoxFile& file, Context& context) {
  std::string head = fmt::format("{:<26}", "mean absolute error");
  std::vector<io::Column> columns{{"box", "", "index in the file"}}, scores;
  std::vector<std::vector<double>> values(1), errors;
  const auto column = [&](const Table& table, std::size_t t) {
    std::vector<double> out;
    const auto& v = file.varied()[t];
    for (const auto& row : table) out.push_back(v.low + 0.5 * (row[t] + 1.0) * (v.high - v.low));
    return out;
  };
  for (std::int64_t box = params_.test[0]; box < params_.test[1]; ++box) values[0].push_back(static_cast<double>(box));
  for (std::size_t t = 0; t < file.varied().size(); ++t) {
    const auto& name = file.varied()[t].name;
    head += fmt::format("{:>12}", name);
    columns.push_back({name, "", "of the box"});
    values.push_back(column(truth, t));
    for (const auto& row : rows) {
      columns.push_back({name + " (" + row.name + ")", "", "found"});
      values.push_back(column(row.found, t));
    }
  }
  results_.clear();
  lines_.assign(1, head);
  for (const auto& row : rows) {
    const auto error = mean_absolute_errors(row.found, truth);
    std::string line = fmt::format("{:<26}", row.name);
    for (std::size_t t = 0; t < error.size(); ++t) {
      line += fmt::format("{:>12.4f}", error[t]);
      const auto& name = file.varied()[t].name;
      results_.push_back(in_table(fmt::format("error_{}_{}", key_of(name), key_of(row.name)),
                                  fmt::format("mean absolute error of {}: {}", name, row.name), error[t]));
    }
    lines_.push_back(line);
    scores.push_back({row.name, "", "mean absolute error of each target in turn"});
    errors.push_back(error);
  }
  io::on_root(context.comm, [&] {
    const std::filesystem::path folder(context.run_directory);
    io::write_csv((folder / "cosmologies.csv").string(), columns, values);
    io::write_csv((folder / "scores.csv").string(), scores, errors);
  });
}

Task::Outcome InferCosmology::run(Context& context) {
  citations_.clear();
  std::optional<BoxFile> file, judged;
  const auto require = [](const char* name, const std::array<std::int64_t, 2>& range, const BoxFile& of,
                          const std::string& path) {
    if (range[1] > of.done())
      throw KeyError("infer_cosmology.range", name,
                     fmt::format("{} requests boxes up to {}, but '{}' has {}; make more, or request fewer", name,
                                 range[1] - 1, path, of.done()));
  };
  Table truth;
  io::on_every_rank(context.comm, [&] {
    file.emplace(params_.boxes);
    judged.emplace(test_file());
    require("training", params_.training, *file, params_.boxes);
    require("test", params_.test, *judged, test_file());
    truth = truth_of(*file, *judged);
  });
  auto rows = baselines(*file, *judged, table_of(*file, "target", params_.training));
  for (const auto& model : params_.models) rows.push_back(network(model, std::ssize(file->varied()), context));
  write(rows, truth, *file, context);
  return Outcome::done;
}

}  // namespace cambium::cosmo
