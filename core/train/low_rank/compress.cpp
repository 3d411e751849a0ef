#include "core/train/low_rank/compress.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "core/base/key_error.hpp"
#include "core/deck/about_key.hpp"
#include "core/io/hdf5/atomic_file.hpp"
#include "core/parallel/agree.hpp"
#include "core/plugin/check.hpp"
#include "core/plugin/registry.hpp"
#include "core/train/low_rank/comparison.hpp"

namespace cambium::train {

namespace fs = std::filesystem;

Compress::Compress(const Params& params, Context&) : params_(params) {}
Compress::~Compress() = default;

void Compress::report_plan(Context& context) const {
  context.registry->make<Dataset>(params_.dataset, context);
  if (params_.validation) context.registry->make<Dataset>(*params_.validation, context);
  context.log.info(fmt::format("model {} in {}", params_.model,
                               params_.budget ? fmt::format("{:g} of its time", *params_.budget)
                               : params_.latency
                                   ? fmt::format("{:g} ms", 1e3 * *params_.latency)
                                   : fmt::format("{:g} of its multiplications", *params_.multiplications)));
}

void Compress::examine(Check& check) {
  if (check.stage().tried) report_plan(check.context());
  check.require_written_by("model", params_.model, {{Origin::network}});
  const deck::Node& keys = check.stage().keys;
  check.reads(keys["model"]);
  check.reads(params_.dataset.node);
  const auto promise = check.written_before(params_.model);
  check.will_write({"model.h5", promise ? promise->by : Origin{Origin::network},
                    promise ? promise->holds : std::vector<std::string>{}});
  for (const auto& exported : check.models_beside(params_.model)) check.will_write(exported);
  for (const char* name : {"compress.csv", "compress.json"}) check.will_write({name, {Origin::stage, "compress"}});
  if (params_.fine_tune)
    for (const char* name : {"factors.h5", "training.csv", "training.h5"})
      check.will_write({name, {Origin::stage, "compress"}});
  if (check.waits(params_.model) || !check.small())
    return check.not_looked_at(fmt::format("the model: '{}' is still to be written", params_.model));
  // The error of factor_layers() names the key itself
  const auto model =
      deck::about_key("compress.model", "model", [&] { return load_artifact(params_.model, check.context()); });
  factor_layers(*model.network, model.info.type, params_.model);
  check.ask(model.network.get(), keys);
}

/// Evenly spaced samples of a data set.
static std::vector<SamplePtr> spread(Dataset& data, std::int64_t wanted, const LoadedModel& model,
                                     const std::string& path, Context& context) {
  data.open(context);
  if (data.size() == 0)
    throw KeyError("compress.dataset.empty", "dataset", "the data set is empty: there is nothing to choose ranks by");
  require_fields(model, path, data);
  std::vector<std::int64_t> ids;
  const std::int64_t count = std::min(wanted, data.size());
  for (std::int64_t k = 0; k < count; ++k) ids.push_back(k * data.size() / count);
  return data.read(ids);
}

Task::Outcome Compress::run(Context& context) {
  auto whole = load_artifact(params_.model, context);
  factor_layers(*whole.network, whole.info.type, params_.model);
  const auto data = context.registry->make<Dataset>(params_.dataset, context);
  Comparison::Samples samples;
  samples.chosen_by = spread(*data, params_.samples, whole, params_.model, context);
  samples.judged_by = samples.chosen_by;
  if (params_.validation)
    samples.judged_by = spread(*context.registry->make<Dataset>(*params_.validation, context), params_.samples, whole,
                               params_.model, context);
  samples.timed = samples.chosen_by;
  samples.timed.resize(std::min(samples.timed.size(), static_cast<std::size_t>(params_.batch)));
  citations_ = whole.network->citations();
  Comparison comparison(params_, whole, samples, *data, context);
  const auto table = comparison.run();
  results_ = table.results();
  lines_ = table.lines();
  folders_ = comparison.folders();
  exported_ = comparison.exported();
  work_ = comparison.work();
  if (!comparison.citations().empty()) citations_ = comparison.citations();
  const auto in = [&](const char* name) { return (fs::path(context.run_directory) / name).string(); };
  io::on_root(context.comm, [&] {
    table.write(in("compress.csv"));
    io::write_file_atomically(in("compress.json"), table.json());
  });
  if (table.problem.empty()) return table.stopped ? Outcome::stopped_early : Outcome::done;
  for (const auto& line : lines_) context.log.info(line);
  throw NumericalError(fmt::format("{}; '{}' has the best that was found: allow more, or train it on for longer",
                                   table.problem, in("model.h5")));
}

std::vector<std::string> Compress::files() const {
  std::vector<std::string> out{"model.h5", "compress.csv", "compress.json"};
  if (params_.fine_tune) out.insert(out.end(), {"factors.h5", "training.csv", "training.h5"});
  for (const auto& name : exported_)
    if (std::find(out.begin(), out.end(), name) == out.end()) out.push_back(name);
  out.insert(out.end(), folders_.begin(), folders_.end());
  return out;
}

}  // namespace cambium::train
