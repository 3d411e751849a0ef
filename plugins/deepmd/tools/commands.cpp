#include <CLI/CLI.hpp>
#include <functional>

#include "core/base/error.hpp"
#include "core/plugin/arguments.hpp"
#include "plugins/deepmd/tools/tools.hpp"

namespace cambium::deepmd {

namespace {

/// Parses the tool's own arguments, prints its help or a parse error, or runs it.
int run_tool(CLI::App& app, std::vector<std::string> arguments, Context& context, const std::function<void()>& action) {
  if (const auto code = answered(app, std::move(arguments), context.comm)) return *code;
  action();
  return static_cast<int>(ExitCode::done);
}

void print(const std::string& text, Context& context) {
  std::size_t from = 0;
  for (std::size_t end; (end = text.find('\n', from)) != std::string::npos; from = end + 1)
    context.log.info(text.substr(from, end - from));
}

/// Options common to all tools that evaluate a model.
void add_common(CLI::App& app, ToolOptions& options) {
  app.add_option("model", options.model, "model file (.dp, .yaml or .pb)")->required();
  const std::map<std::string, EnginePrecision> names = {{"float64", EnginePrecision::float64},
                                                        {"mixed", EnginePrecision::mixed}};
  app.add_option("--precision", options.precision, "float64 or mixed")->transform(CLI::CheckedTransformer(names));
  app.add_option("--compress", options.compress, "tolerance of embedding tables")->check(CLI::PositiveNumber);
  app.add_option("--fparam", options.fparam, "frame parameters, where the data have none");
  app.add_option("--aparam", options.aparam, "atomic parameters, the same for every atom, where the data have none");
}

/// What files of LAMMPS do not say.
void add_lammps(CLI::App& app, LammpsKeys& keys) {
  app.add_option("--species", keys.species, "species of the types 1, 2, ... of a dump or data file of LAMMPS");
  app.add_option("--units", keys.units, "style of units of a file of LAMMPS; left out: the file's, else metal");
}

int show(std::vector<std::string> arguments, Context& context) {
  CLI::App app("What a model file holds", "cambium deepmd show");
  std::string model;
  app.add_option("model", model, "model file (.dp, .yaml or .pb)")->required();
  return run_tool(app, std::move(arguments), context, [&] { print(show_model(model), context); });
}

int eval(std::vector<std::string> arguments, Context& context) {
  CLI::App app("Energy, forces and pressure of structures", "cambium deepmd eval");
  EvalOptions options;
  add_common(app, options);
  app.add_option("structure", options.structure,
                 "extended XYZ, POSCAR or gen file, dump or data file of LAMMPS, or a system of DeePMD-kit (folder, "
                 "FILE.hdf5#/GROUP)")
      ->required();
  app.add_option("--frame", options.frame, "frame of the file, from 0; negative from the end");
  add_lammps(app, options.lammps);
  app.add_option("--output", options.output, "extended XYZ file to write, with forces");
  return run_tool(app, std::move(arguments), context, [&] { print(evaluate_files(options, context.comm), context); });
}

int compress(std::vector<std::string> arguments, Context& context) {
  CLI::App app("Tabulates a model's embedding networks", "cambium deepmd compress");
  CompressOptions options;
  app.add_option("model", options.model, "model file (.dp, .yaml or .pb)")->required();
  app.add_option("output", options.output, "file to write (.dp or .yaml)")->required();
  app.add_option("--tolerance", options.tolerance, "largest error of a channel or its slope")
      ->capture_default_str()
      ->check(CLI::PositiveNumber);
  app.add_option("--r-min", options.r_min, "smallest distance expected (Å)")->check(CLI::PositiveNumber);
  return run_tool(app, std::move(arguments), context, [&] {
    if (context.comm.root()) print(compress_model(options), context);
  });
}

int test(std::vector<std::string> arguments, Context& context) {
  CLI::App app("Errors of a model on labelled systems and frames", "cambium deepmd test");
  TestOptions options;
  add_common(app, options);
  app.add_option("systems", options.systems,
                 "systems of DeePMD-kit (folders, FILE.hdf5#/GROUP), extended XYZ files with labels, dumps of LAMMPS "
                 "with forces")
      ->required();
  app.add_option("--frames", options.most_frames, "maximum number of frames of each system");
  app.add_option("--parity", options.parity, "folder for tables of reference and prediction (CSV, HDF5)");
  app.add_option("--energy", options.labels.energy, "key of the XYZ files' energies")->capture_default_str();
  app.add_option("--force", options.labels.force, "columns of forces in the XYZ files")->capture_default_str();
  app.add_option("--virial", options.labels.virial, "key of virials in the XYZ files")->capture_default_str();
  app.add_option("--stress", options.labels.stress, "their key of stresses, as ASE writes them")->capture_default_str();
  add_lammps(app, options.lammps);
  return run_tool(app, std::move(arguments), context, [&] { print(test_model(options, context.comm).text, context); });
}

int convert(std::vector<std::string> arguments, Context& context) {
  CLI::App app("A deck for a training input of DeePMD-kit", "cambium deepmd convert-input");
  ConvertOptions options;
  app.add_option("input", options.input, "input.json of DeePMD-kit")->required();
  app.add_option("output", options.output, "deck to write; printed where it is left out");
  return run_tool(app, std::move(arguments), context, [&] {
    if (context.comm.root()) print(convert_input(options), context);
  });
}

int neighbours(std::vector<std::string> arguments, Context& context) {
  CLI::App app("Smallest distance and most neighbours in data", "cambium deepmd neighbor-stat");
  NeighbourOptions options;
  app.add_option("-s,--system", options.systems, "systems of DeePMD-kit, or files as for eval")->required();
  add_lammps(app, options.lammps);
  app.add_option("-r,--rcut", options.rcut, "cut-off radius (Å)")->capture_default_str()->check(CLI::PositiveNumber);
  app.add_option("-t,--type-map", options.type_map, "species in the order of sel; left out: as they come");
  return run_tool(app, std::move(arguments), context, [&] {
    if (context.comm.root()) print(neighbour_statistics(options), context);
  });
}

int deviation(std::vector<std::string> arguments, Context& context) {
  CLI::App app("Model deviation of several models on the frames of a system", "cambium deepmd model-devi");
  DeviationOptions options;
  app.add_option("-m,--models", options.models, "model files (.dp, .yaml or .pb), two or more")->required();
  app.add_option("-s,--system", options.system, "system of DeePMD-kit, or file as for eval")->required();
  add_lammps(app, options.lammps);
  app.add_option("-o,--output", options.output, "table to write")->capture_default_str();
  return run_tool(app, std::move(arguments), context, [&] {
    if (context.comm.root()) print(write_model_deviation(options), context);
  });
}

}  // namespace

std::vector<Command> model_commands() {
  return {{"deepmd", "show", "what a model file holds", show},
          {"deepmd", "eval", "energy, forces and pressure of structures", eval},
          {"deepmd", "compress", "tabulate a model's embedding networks to a tolerance", compress},
          {"deepmd", "test", "errors of a model on labelled data (deepmd/npy, extended XYZ), and parity tables", test},
          {"deepmd", "convert-input", "a deck for a training input of DeePMD-kit (input.json)", convert},
          {"deepmd", "neighbor-stat", "smallest distance and most neighbours in data, for sel", neighbours},
          {"deepmd", "model-devi", "model deviation of several models on the frames of a system", deviation}};
}

}  // namespace cambium::deepmd
