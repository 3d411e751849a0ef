#include "plugins/pretrain/tasks/embed.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "core/io/hdf5/atomic_file.hpp"
#include "core/io/hdf5/labels.hpp"
#include "core/io/provenance.hpp"
#include "core/parallel/agree.hpp"
#include "core/plugin/check.hpp"
#include "core/plugin/registry.hpp"
#include "plugins/pretrain/features/encode.hpp"
#include "plugins/pretrain/features/table.hpp"

namespace cambium::pretrain {

void Embed::Params::describe(deck::Describe<Params>& d) {
  d("model", &Params::model, "model file of a field_encoder").example("\"{run}/train/model.h5\"");
  d("dataset", &Params::dataset, "samples that become vectors");
  d("batch", &Params::batch, "samples encoded at a time").at_least(1).def(64);
}

void Embed::examine(Check& check) {
  check.will_write({"vectors.h5", {Origin::stage, "embed"}});
  if (!check.stage().tried) return;
  Context& context = check.context();
  context.registry->make<train::Dataset>(params_.dataset, context);
  context.log.info(fmt::format("vectors of data set {} by {}", params_.dataset.type, params_.model));
  check.require_written_by("model", params_.model, {{Origin::network}});
}

namespace {

void write_matrix(io::File& file, const std::string& name, const Matrix& matrix, const std::string& columns,
                  const std::string& meaning) {
  if (matrix.empty()) return;
  if (!file.exists(columns)) io::write_dimension(file, columns, matrix.columns);
  io::labelled(file.write(name, io::tensor_of(matrix.values.data(), {matrix.rows, matrix.columns})), "", meaning);
  file.attach_scales(name, {"sample", columns});
}

template <class T>
void write_column(io::File& file, const std::string& name, const std::vector<T>& values, const std::string& meaning) {
  if (values.empty()) return;
  io::labelled(file.write(name, values), "", meaning);
  file.attach_scales(name, {"sample"});
}

/// Effective dimension (participation ratio): (sum of variances)^2 / sum of their squares, over components.
double directions_used(const Matrix& vectors) {
  const Matrix x = minus(vectors, column_means(vectors));
  const Matrix c = product_of_transposed(x, x);
  double trace = 0.0, squares = 0.0;
  for (std::int64_t k = 0; k < c.rows; ++k) trace += c(k, k);
  for (const double value : c.values) squares += value * value;
  return squares > 0.0 ? trace * trace / squares : 0.0;
}

}  // namespace

Task::Outcome Embed::run(Context& context) {
  const auto data = context.registry->make<train::Dataset>(params_.dataset, context);
  data->open(context);
  LoadedEncoder encoder(params_.model, context);
  const Table table = read_table(*data);
  auto vectors = encoder.vectors_of(*data, params_.batch);
  if (std::ranges::all_of(vectors.partner.values, [](double x) { return x == 0.0; }))
    vectors.partner = {};  // there are none
  io::on_root(context.comm, [&] {
    const auto path = (std::filesystem::path(context.run_directory) / "vectors.h5").string();
    io::write_h5_atomically(path, [&](io::File& file) {
      io::write_provenance(file, io::provenance_of(context));
      io::follow_cf(file);
      io::write_dimension(file, "sample", table.rows());
      write_matrix(file, "vector", vectors.field, "component", "unit vector of the field");
      write_matrix(file, "partner", vectors.partner, "component", "unit vector of its positive");
      write_matrix(file, "parameters", table.parameters, "parameter", "parameters of the run");
      write_column(file, "simulation", table.simulation, "index of the run");
      write_column(file, "moment", table.moment, "index of the snapshot");
      write_column(file, "time", table.time, "time of the snapshot");
      write_column(file, "label", table.label, "class");
    });
  });
  const double directions = directions_used(vectors.field);
  lines_ = {fmt::format("{} vectors of {} components, which spread over {:.1f} directions", vectors.field.rows,
                        vectors.field.columns, directions)};
  results_ = {in_table("vectors", "vectors", static_cast<double>(vectors.field.rows)),
              in_table("components", "components of a vector", static_cast<double>(vectors.field.columns)),
              in_table("directions", "directions that the vectors spread over", directions)};
  citations_ = encoder.citations();
  for (const auto& citation : data->citations()) citations_.push_back(citation);
  work_ = {table.rows(), "sample"};
  return Outcome::done;
}

}  // namespace cambium::pretrain
