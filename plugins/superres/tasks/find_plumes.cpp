#include "plugins/superres/tasks/find_plumes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <numeric>

#include "core/base/key_error.hpp"
#include "core/deck/resolve.hpp"
#include "core/io/csv.hpp"
#include "core/io/hdf5/h5.hpp"
#include "core/io/provenance.hpp"
#include "core/parallel/agree.hpp"
#include "core/plugin/check.hpp"
#include "core/plugin/registry.hpp"
#include "core/train/weights/artifact.hpp"
#include "plugins/superres/datasets/plumes.hpp"

namespace cambium::superres {

void FindPlumes::Params::describe(deck::Describe<Params>& d) {
  d("training", &Params::training, "data set plumes to which thresholds and regressions are fitted");
  d("test", &Params::test, "test set, of type plumes");
  d("models", &Params::models, "model files of networks, such as deepcam").def({});
  d("batch", &Params::batch, "batch size: images evaluated at a time").at_least(1).def(8);
}

void FindPlumes::examine(Check& check) {
  check.will_write({"scores.csv", {Origin::stage, "find_plumes"}});
  check.will_write({"plumes.h5", {Origin::stage, "find_plumes"}});
  if (!check.stage().tried) return;
  Context& context = check.context();
  for (const auto* data : {&params_.training, &params_.test}) context.registry->make<train::Dataset>(*data, context);
  context.log.info(
      fmt::format("find_plumes: a threshold, a logistic regression and {} networks", params_.models.size()));
  check.require_written_by("models", params_.models, {{Origin::network}});
  check.reads(params_.training.node);
  check.reads(params_.test.node);
}

std::shared_ptr<Plumes> FindPlumes::open(const deck::Choice<train::Dataset>& data, const char* key,
                                         Context& context) const {
  const std::shared_ptr<train::Dataset> made = context.registry->make<train::Dataset>(data, context);
  auto plumes = std::dynamic_pointer_cast<Plumes>(made);
  if (!plumes)
    throw KeyError("find_plumes.dataset.type", key,
                   fmt::format("{} is a data set {}; find_plumes evaluates images with classes, give a data set plumes",
                               key, data.type));
  plumes->open(context);
  if (plumes->image(0).temperature.empty())
    throw KeyError("find_plumes.dataset.fields", key,
                   fmt::format("{}: 'fields' lack b, by which thresholds and regressions go; add it", key));
  return plumes;
}

void FindPlumes::Row::add(std::span<const std::uint8_t> found, std::span<const std::uint8_t> truth, double images) {
  const auto one = overlaps(found, truth);
  for (std::size_t c = 0; c < one.size(); ++c) overlap[c] += one[c] / images;
}

std::vector<FindPlumes::Row> FindPlumes::baselines(const Plumes& training, const Plumes& test) const {
  std::vector<PlumeImage> known;
  for (std::int64_t id = 0; id < training.size(); ++id) known.push_back(training.image(id));
  const ThresholdBaseline threshold(known);
  const LogisticBaseline logistic(known);
  std::vector<Row> out{{"all background"}, {"threshold"}, {"logistic regression"}};
  const auto images = static_cast<double>(test.size());
  for (std::int64_t id = 0; id < test.size(); ++id) {
    const auto image = test.image(id);
    const std::vector<std::vector<std::uint8_t>> found{std::vector<std::uint8_t>(image.classes.size(), 0),
                                                       threshold(image), logistic(image)};
    for (std::size_t k = 0; k < out.size(); ++k) {
      out[k].add(found[k], image.classes, images);
      if (id == 0) out[k].first = found[k];
    }
  }
  return out;
}

/// Collective: batches are assigned round-robin to ranks.
FindPlumes::Row FindPlumes::network(const std::string& model, Plumes& test, Context& context) {
  auto loaded = train::load_artifact(model, context);
  const auto truth = test.image(0);
  const std::vector<std::int64_t> shape{truth.nx, truth.nz};
  const auto outputs = loaded.network->outputs();
  if (outputs.size() != 1 || outputs[0].name != "class" || outputs[0].shape != shape)
    throw KeyError("find_plumes.models.type", "models",
                   fmt::format("models: '{}' holds a {}, which does not give classes of {} x {} points; train a "
                               "deepcam on images of that size",
                               model, loaded.info.type, truth.nx, truth.nz));
  train::require_fields(loaded, model, test);
  const auto keys = deck::resolved(
      params_.test.node, context.registry->find(train::Dataset::kind, params_.test.type)->schema, *context.registry);
  if (const auto words = train::met_before(loaded.info, model, keys); !words.empty()) context.log.warn(words);
  const std::int64_t points = truth.nx * truth.nz, count = test.size(), ranks = context.comm.size();
  std::vector<double> all(count * points, 0.0);
  for (std::int64_t from = context.comm.rank() * params_.batch; from < count; from += ranks * params_.batch) {
    std::vector<std::int64_t> ids(std::min(params_.batch, count - from));
    std::iota(ids.begin(), ids.end(), from);
    TensorRef to = io::tensor_of(all.data() + from * points, {std::ssize(ids), truth.nx, truth.nz});
    to.is_const = false;
    loaded.network->infer(test.read(ids), loaded.weights.views(), std::span<const TensorRef>(&to, 1));
  }
  context.comm.sum(all);
  Row out{std::filesystem::path(model).parent_path().filename().string()};
  for (std::int64_t id = 0; id < count; ++id) {
    const std::vector<std::uint8_t> found(all.begin() + id * points, all.begin() + (id + 1) * points);
    out.add(found, test.image(id).classes, static_cast<double>(count));
    if (id == 0) out.first = found;
  }
  for (const auto& c : loaded.network->citations()) citations_.push_back(c);
  return out;
}

void FindPlumes::write(const std::vector<Row>& rows, const Plumes& test, Context& context) {
  results_.clear();
  lines_.assign(1, fmt::format("{:<26}{:>10}{:>12}{:>10}{:>10}", "intersection over union", "mean", "background",
                               "warm", "cold"));
  std::vector<io::Column> columns;
  std::vector<std::vector<double>> scores;
  for (const auto& row : rows) {
    double mean = 0.0;
    for (const double o : row.overlap) mean += o / plume_classes;
    lines_.push_back(fmt::format("{:<26}{:>10.4f}{:>12.4f}{:>10.4f}{:>10.4f}", row.name, mean, row.overlap[0],
                                 row.overlap[1], row.overlap[2]));
    results_.push_back(in_table("overlap_" + key_of(row.name), "intersection over union: " + row.name, mean));
    columns.push_back({row.name, "", "intersection over union: mean over the classes, then of each class"});
    scores.push_back({mean, row.overlap[0], row.overlap[1], row.overlap[2]});
  }
  io::on_root(context.comm, [&] {
    const std::filesystem::path folder(context.run_directory);
    io::write_csv((folder / "scores.csv").string(), columns, scores);
    auto file = io::File::create((folder / "plumes.h5").string());
    io::write_provenance(file, io::provenance_of(context));
    const auto image = test.image(0);
    file.write("/b", io::tensor_of(image.temperature.data(), {image.nx, image.nz}));
    file.write("/truth", io::tensor_of(image.classes.data(), {image.nx, image.nz}));
    for (const auto& row : rows) file.write("/" + row.name, io::tensor_of(row.first.data(), {image.nx, image.nz}));
  });
}

Task::Outcome FindPlumes::run(Context& context) {
  citations_.clear();
  const auto training = open(params_.training, "training", context), test = open(params_.test, "test", context);
  if (training->image(0).nz != test->image(0).nz)
    throw KeyError("find_plumes.test.points", "test",
                   fmt::format("training has {} points along z, test {}; use files of one grid", training->image(0).nz,
                               test->image(0).nz));
  images_ = test->size();
  auto rows = baselines(*training, *test);
  for (const auto& model : params_.models) rows.push_back(network(model, *test, context));
  for (const auto& c : test->citations()) citations_.push_back(c);
  write(rows, *test, context);
  return Outcome::done;
}

}  // namespace cambium::superres
