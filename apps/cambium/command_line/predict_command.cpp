#include "apps/cambium/command_line/predict_command.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <filesystem>

#include "core/base/error.hpp"
#include "core/parallel/agree.hpp"
#include "core/plugin/arguments.hpp"
#include "core/plugin/registry.hpp"
#include "core/train/run/apply_model.hpp"
#include "core/train/run/data_of_file.hpp"
#include "core/train/run/extrapolation.hpp"

namespace cambium::train {

namespace {

/// Value of --output: one file of either kind; if empty, both in this folder.
PredictionPaths paths_of(const std::string& output, const std::string& file, bool table) {
  const std::filesystem::path path(output);
  if (output.empty()) {
    const std::string stem = std::filesystem::path(file).stem().string() + ".predicted";
    return {stem + ".h5", table ? stem + ".csv" : ""};
  }
  if (path.extension() == ".csv") return {"", output};
  if (path.extension() == ".h5" || path.extension() == ".nc") return {output, ""};
  throw InputError(fmt::format("--output '{}': expected a name that ends in .h5, .nc or .csv", output));
}

void require_new(const PredictionPaths& paths, bool overwrite) {
  for (const auto& path : {paths.h5, paths.csv})
    if (!path.empty() && !overwrite && std::filesystem::exists(path))
      throw InputError(fmt::format("'{}' is there already; give another --output, or --overwrite", path));
}

int predict(const Registry& registry, std::vector<std::string> arguments, Context& context) {
  CLI::App app("Predictions of a trained model for the samples of a file", "cambium predict");
  std::string model_path, file, output;
  std::int64_t batch = 64;
  bool overwrite = false;
  app.add_option("model", model_path, "model file that a train stage wrote (model.h5)")->required();
  app.add_option("file", file, "samples: text table (.csv, .tsv, .txt), numpy arrays (.npz, .npy), HDF5 or netCDF-4")
      ->required();
  app.add_option("-o,--output", output, "file to write (.h5, .nc or .csv); default: FILE.predicted.h5 and .csv, here");
  app.add_option("--batch", batch, "samples predicted at a time")
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{1} << 40))
      ->capture_default_str();
  app.add_flag("--overwrite", overwrite, "replace files that are there");
  if (const auto code = answered(app, std::move(arguments), context.comm)) return *code;
  context.registry = &registry;
  AppliedModel model(model_path, context);
  const auto data = data_of_file(model, file, context);
  const auto outputs = model.outputs_of(data->fields());
  const auto paths = paths_of(output, file, numbers_of(outputs) <= most_columns);
  io::on_root(context.comm, [&] { require_new(paths, overwrite); });
  warn_of_ranges(model.loaded().info, *data, context.log);
  const auto summary = apply_model(model, *data, batch, paths, context);
  context.log.info(fmt::format("{} on {} samples:", model_path, summary.samples));
  for (const auto& line : summary.lines()) context.log.info(line);
  for (const auto& path : {paths.h5, paths.csv})
    if (!path.empty()) context.log.info(fmt::format("wrote {}", path));
  return static_cast<int>(ExitCode::done);
}

}  // namespace

Command predict_command(Registry& registry) {
  return {"core", "predict", "predictions of a trained model for the samples of a file",
          [&registry](std::vector<std::string> arguments, Context& context) {
            return predict(registry, std::move(arguments), context);
          }};
}

}  // namespace cambium::train
