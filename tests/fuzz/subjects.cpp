// Subjects of core: decks, checkpoints and tables of a training, models, machine files.
#include "tests/fuzz/subjects.hpp"

#include <algorithm>
#include <fstream>
#include <stdexcept>

#include "core/base/timing.hpp"
#include "core/io/csv.hpp"
#include "core/io/hdf5/h5.hpp"
#include "core/io/hdf5/h5_recode.hpp"
#include "core/plugin/registry.hpp"
#include "core/train/weights/artifact.hpp"
#include "plugins/plugin_list.hpp"

namespace fuzz {

namespace fs = std::filesystem;

int command(std::vector<std::string> words) {
  words.insert(words.begin(), "cambium");
  std::vector<char*> pointers;
  for (auto& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  return cambium::command_line(static_cast<int>(words.size()), pointers.data(), cambium::register_everything);
}

fs::path folder_with(const Places& places, const std::string& name, const fs::path& file) {
  const fs::path folder = places.made / name;
  fs::create_directories(folder);
  fs::copy_file(file, folder / file.filename(), fs::copy_options::overwrite_existing);
  return folder;
}

void restarted_subjects(const Places& places, const std::string& name, const std::string& deck,
                        const std::vector<std::string>& files, std::vector<Subject>& out, int weight) {
  const fs::path folder = places.made / name;
  if (!fs::exists(folder)) {
    fs::create_directories(folder);
    std::ofstream(folder / "deck.yaml") << deck;
    const fs::path before = fs::current_path();
    fs::current_path(folder);
    const int code = command({"run", "deck.yaml", "run.directory=out"});
    fs::current_path(before);
    if (code != 0) throw std::runtime_error("the deck of the subject " + name + " ends with " + std::to_string(code));
    fs::remove(folder / "out" / "stages_done.txt");
  }
  for (const auto& file : files) {
    if (!fs::exists(folder / "out" / file))
      throw std::runtime_error("the run of the subject " + name + " made no " + file);
    const auto suffix = fs::path(file).extension();
    out.push_back({"restart:" + name + "/" + file, suffix == ".h5" ? Subject::Form::h5 : Subject::Form::text, folder,
                   "out/" + file,
                   [] {
                     return command({"restart", "out"});
                   },
                   weight});
  }
}

/// What a folder holds, in the same order on every machine.
static std::vector<fs::path> sorted(const fs::path& folder) {
  std::vector<fs::path> out;
  for (const auto& entry : fs::directory_iterator(folder)) out.push_back(entry.path());
  std::sort(out.begin(), out.end());
  return out;
}

/// Every deck that ships, beside the files of its folder; damaged and checked.
static void decks(const Places& places, std::vector<Subject>& out) {
  for (const auto& part : sorted(places.source / "inputs"))
    for (const auto& path : sorted(part)) {
      if (path.extension() != ".yaml") continue;
      const std::string stem = part.filename().string() + "_" + path.stem().string();
      const fs::path folder = folder_with(places, "deck_" + stem, path);
      for (const auto& beside : sorted(part))
        if (beside.extension() != ".yaml" && !fs::exists(folder / beside.filename()))
          fs::create_symlink(beside, folder / beside.filename());
      const std::string file = path.filename().string();
      out.push_back({"deck:" + stem, Subject::Form::text, folder, file,
                     [file] {
                       return command({"check", file, "--test-size"});
                     },
                     6});
    }
}

/// A context of this process alone.
struct Alone {
  cambium::Comm comm;
  cambium::Log log;
  cambium::Timing timing;
  cambium::Registry registry;
  cambium::Context context{comm, log, timing};
  Alone() {
    cambium::register_everything(registry);
    context.registry = &registry;
  }
};

static int load_model() {
  Alone alone;
  cambium::train::load_artifact("model.h5", alone.context);
  return 0;
}

static int resume_table() {
  cambium::io::CsvFile("thermo.csv", {{"time", "ps", ""}, {"energy", "eV", ""}}, 40);
  return 0;
}

static void tables(const Places& places, std::vector<Subject>& out) {
  const fs::path folder = places.made / "table";
  fs::create_directories(folder);
  std::ofstream file(folder / "thermo.csv");
  file << "step,time [ps],energy [eV]\n";
  for (int k = 0; k < 60; ++k) file << k << "," << 0.001 * k << "," << -3.5 + 1.0 / (k + 1) << "\n";
  out.push_back({"table", Subject::Form::text, folder, "thermo.csv", resume_table, 40});
}

static void machines(const Places& places, std::vector<Subject>& out) {
  const std::string deck =
      "run: {name: p}\nstages:\n  - train: {network: {type: transformer, layers: 2, width: 16, heads: 2}, dataset: "
      "{type: synthetic_grammar, samples: 20, length: 9}, batch: 4, steps: 2, learning_rate: {type: constant, start: "
      "1e-3}}\n";
  for (const auto& path : sorted(places.source / "machines")) {
    if (path.extension() != ".yaml") continue;
    const std::string file = path.filename().string();
    const fs::path folder = folder_with(places, "machine_" + path.stem().string(), path);
    std::ofstream(folder / "deck.yaml") << deck;
    out.push_back({"machine:" + file, Subject::Form::text, folder, file,
                   [file] {
                     return command({"plan", "deck.yaml", "--machine", file, "--ranks", "8"});
                   },
                   2});
  }
}

/// A file of others that is a data set, and a compressed one. What HDF5 itself ends on is met by the process that opens
/// such a file first.
static void arrays(const Places& places, std::vector<Subject>& out) {
  const fs::path folder = places.made / "arrays";
  const auto name = [&](const char* file) { return (folder / file).string(); };
  if (!fs::exists(folder)) {
    fs::create_directories(folder);
    std::ofstream(folder / "deck.yaml") << R"(
run: {name: d}
stages:
  - train:
      network: {type: mlp, layers: [4], input: x, target: z}
      dataset: {type: hdf5, files: [d.h5], fields: [{name: x}, {name: z}], scan: true}
      batch: 8
      steps: 2
      learning_rate: {type: constant, start: 1e-3}
)";
    std::vector<float> values;
    for (int k = 0; k < 40 * 60; ++k) values.push_back(static_cast<float>(k % 60) / 60.0f);
    auto file = cambium::io::File::create(name("d.h5"));
    file.write("x", cambium::io::tensor_of(values.data(), {40, 60}));
    file.write("z", cambium::io::tensor_of(values.data(), {40, 1}));
    file.close();
    cambium::io::Compression compress;
    compress.relative = 1e-3;
    cambium::io::compress_file(name("d.h5"), name("packed.h5"), compress);
  }
  out.push_back({"arrays:dataset", Subject::Form::h5, folder, "d.h5",
                 [] {
                   return command({"run", "deck.yaml", "run.directory=out"});
                 },
                 20});
  out.push_back({"arrays:compressed", Subject::Form::h5, folder, "packed.h5",
                 [] {
                   return command({"decompress", "packed.h5", "out.h5"});
                 },
                 20});
}

void core_subjects(const Places& places, std::vector<Subject>& out) {
  decks(places, out);
  tables(places, out);
  machines(places, out);
  arrays(places, out);
  const std::string train = R"(
run: {name: t}
stages:
  - train:
      network: {type: mlp, layers: [4, 3]}
      dataset: {type: expression, samples: 40, box: {x: [-1, 1]}, target: {z: sin(3*x)}}
      hold_out: 0.2
      batch: 8
      steps: 4
      learning_rate: {type: constant, start: 1e-3}
      validate: {every: 2}
      checkpoint: {every: 2}
      log: 1
)";
  restarted_subjects(places, "train", train, {"train/restart.4.h5", "train/training.csv", "train/validation.csv"}, out,
                     30);
  const fs::path model = folder_with(places, "model", places.made / "train/out/train/model.h5");
  out.push_back({"model", Subject::Form::h5, model, "model.h5", load_model, 80});
}

}  // namespace fuzz
