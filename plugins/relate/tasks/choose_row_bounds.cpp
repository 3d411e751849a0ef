#include "plugins/relate/tasks/choose_row_bounds.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "core/base/error.hpp"
#include "core/base/text.hpp"
#include "core/io/hdf5/atomic_file.hpp"
#include "core/parallel/agree.hpp"
#include "core/plugin/check.hpp"
#include "core/plugin/registry.hpp"
#include "plugins/relate/datasets/record_set.hpp"
#include "plugins/relate/tasks/bound_search.hpp"
#include "plugins/relate/tasks/model_predictions.hpp"
#include "plugins/relate/tasks/scores.hpp"

namespace cambium::relate {

void ChooseRowBounds::Params::describe(deck::Describe<Params>& d) {
  d("model", &Params::model, "model file of a stage train, whose tables are to have bounds")
      .example("\"{run}/train/model.h5\"");
  d("dataset", &Params::dataset, "held-out records, neither trained on nor tested with");
  d("tolerance", &Params::tolerance,
    "largest fall of the AUC of these records, of each table alone and of all together")
      .positive()
      .def(1e-3);
  d("smallest", &Params::least, "smallest error bound that is tried; doubled while the AUC allows it")
      .positive()
      .def(1e-3);
  d("largest", &Params::most, "largest error bound that is tried").positive().def(1.0);
  d.check([](const Params& p) {
    return p.most < p.least ? fmt::format("largest ({:g}) must be at least smallest ({:g})", p.most, p.least) : "";
  });
}

void ChooseRowBounds::examine(Check& check) {
  check.will_write({"row_bounds.csv", {Origin::stage, "choose_row_bounds"}});
  if (!check.stage().tried) return;
  Context& context = check.context();
  context.registry->make<train::Dataset>(params_.dataset, context);
  context.log.info(
      fmt::format("bounds of rows by table, for a fall of the held-out AUC below {:g}", params_.tolerance));
  check.require_written_by("model", std::vector<std::string>{params_.model}, {{Origin::network}});
}

std::vector<Citation> ChooseRowBounds::citations() const {
  return {{"feng2024", R"(@inproceedings{feng2024,
  author    = {Feng, Hao and others},
  title     = {Accelerating Communication in Deep Learning Recommendation Model Training with Dual-Level Adaptive Lossy
               Compression},
  booktitle = {SC24: International Conference for High Performance Computing, Networking, Storage and Analysis},
  year      = {2024},
  eprint    = {2407.04272}
})"}};
}

Task::Outcome ChooseRowBounds::run(Context& context) {
  results_.clear();
  lines_.clear();
  const auto data = context.registry->make<train::Dataset>(params_.dataset, context);
  data->open(context);
  TrainedModel model(params_.model, *data, context);
  const auto tables = model.tables();
  if (tables.empty()) throw InternalError("choose_row_bounds: a network of records without tables");
  const std::int64_t first[] = {0};
  const auto& answers = record_set_of(*data->read(first).front(), "choose_row_bounds").answers;
  std::int64_t evaluations = 0;
  const auto found = search_bounds(tables.size(), {params_.least, params_.most}, params_.tolerance,
                                   [&](std::span<const double> bounds) {
                                     model.round_rows({bounds.begin(), bounds.end()});
                                     ++evaluations;
                                     return area_under_curve(answers, said_of_all(model, *data, context), 0.5);
                                   });
  std::string csv = "table,bound,auc_fall\n", key;
  lines_.push_back(fmt::format("{:<24}{:>12}{:>16}", "table", "bound", "fall of AUC"));
  for (std::size_t t = 0; t < tables.size(); ++t) {
    const auto& name = tables[t].name;
    lines_.push_back(fmt::format("{:<24}{:>12.4g}{:>16.5f}", name, found.bound[t], found.fall[t]));
    csv += fmt::format("{},{},{}\n", name, number_text(found.bound[t]), number_text(found.fall[t]));
    // A table without a valid bound gets a thousandth of the smallest one tried: almost exact.
    const double bound = found.bound[t] > 0.0 ? found.bound[t] : 1e-3 * params_.least;
    key += fmt::format("{}{}: {:g}", key.empty() ? "" : ", ", name, bound);
  }
  lines_.push_back(fmt::format("AUC {:.5f} with exact rows, {:.5f} with all bounds", found.exact, found.together));
  lines_.push_back(fmt::format("tables: codec: bounds: {{{}}}", key));
  const auto [low, high] = std::minmax_element(found.bound.begin(), found.bound.end());
  results_.push_back({"auc_exact", "AUC with exact rows", found.exact, ""});
  results_.push_back({"auc_bounded", "AUC with all bounds", found.together, ""});
  results_.push_back({"smallest_bound", "smallest bound of a table", *low, ""});
  results_.push_back({"largest_bound", "largest bound of a table", *high, ""});
  io::on_root(context.comm, [&] {
    io::write_file_atomically((std::filesystem::path(context.run_directory) / "row_bounds.csv").string(), csv);
  });
  work_ = {evaluations * data->size(), "record"};
  return Outcome::done;
}

}  // namespace cambium::relate
